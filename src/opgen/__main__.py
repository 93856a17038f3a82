"""`python -m opgen` runs the command line."""

from opgen.cli.main import main

main(prog_name="opgen")
