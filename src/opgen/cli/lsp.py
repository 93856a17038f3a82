"""`opgen lsp`: the language server, if what it needs is installed."""

from __future__ import annotations

import gc
import importlib
import importlib.util

import click


@click.command()
def lsp() -> None:
    """Serve an editor over stdin and stdout: problems while typing, hover, completion, fixes."""
    if importlib.util.find_spec("pygls") is None:
        click.echo("opgen lsp needs pygls: pip install 'opgen[lsp]'", err=True)
        raise SystemExit(1)
    # A server lives long, unlike the other commands. What analyses make has no cycles, and what
    # requests leave behind is little: a collection now and then is enough.
    gc.set_threshold(100_000, 20, 20)
    gc.enable()
    # Imported here because pygls takes longer to load than most commands to run.
    importlib.import_module("opgen.lsp.server").serve()
