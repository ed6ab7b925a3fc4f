"""`python -m localslurm`."""

from localslurm.cli import main

main()
