"""`opgen lsp`: run the language server, if pygls is installed."""

from __future__ import annotations

import gc
import importlib.util

import click

from opgen.cli.help import Command


@click.command(cls=Command, example="opgen lsp", fails="pygls is not installed", pages=("ci",))
def lsp() -> None:
    """Serve an editor: diagnostics, completion, fixes.

    The language server reads stdin and writes stdout; an editor starts it.
    """
    if importlib.util.find_spec("pygls") is None:
        click.echo("opgen lsp needs pygls: pip install 'pygls>=2.0'", err=True)
        raise SystemExit(1)
    # The server runs for long, unlike the other commands. Values of analyses have no cycles, and requests leave few, so
    # rare collections are enough.
    gc.set_threshold(100_000, 20, 20)
    gc.enable()
    # Imported here because pygls is optional.
    from opgen.lsp.server import serve  # noqa: PLC0415

    serve()
