"""`python -m converter` is the `campaigns` command."""

from converter.cli.main import main

main()
