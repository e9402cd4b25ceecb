"""`python -m gadc` runs the `gadc` command."""

from gadc.cli import main

main()
