"""`python -m localcluster`."""

from localcluster.cli import main

main()
