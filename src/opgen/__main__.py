"""`python -m opgen`: the command."""

from opgen.cli.main import main

main(prog_name="opgen")
