"""`opgen completion` and `opgen lsp`: complete words in shells, and run the language server."""

from __future__ import annotations

import gc
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from opgen.cli.help import Choice, command
from opgen.cli.options import DEFAULT_YAML, split_arguments
from opgen.diagnostics import Diagnostics, describe, known_codes
from opgen.diagnostics.properties import NAMES
from opgen.pipeline import loading
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.project import find_project

_SHELLS = ("bash", "zsh", "fish")


@command("completion")
@click.argument("shell", type=Choice(_SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script for completion in a shell."""
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(context.find_root().command, {}, "opgen", "_OPGEN_COMPLETE").source())


def complete_operator(
    context: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete operators of the YAML files on the command line; file names if it has none yet."""
    names = [CompletionItem(name) for name in _operators(context) if name.startswith(incomplete)]
    return names or [CompletionItem(incomplete, type="file")]


def complete_explanation(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete diagnostic codes, with their titles, and operators."""
    codes = [
        CompletionItem(code, help=describe(code).title)
        for code in (*known_codes(), *NAMES)
        if incomplete and code.startswith(incomplete)
    ]
    return codes or complete_operator(context, parameter, incomplete)


def _operators(context: click.Context) -> Iterator[str]:
    files, _ = split_arguments(context.params.get("given") or ())
    project = None if files else find_project(Path(), Diagnostics())
    yaml = files or (project.yaml if project is not None else ()) or (DEFAULT_YAML,)
    # The command itself reports problems. The default namespace does not matter, because completions do not contain it.
    registry = loading.load(Inputs(yaml, namespace="mylib"), Diagnostics())
    if registry is not None:
        yield from sorted({str(f.func.name) for f in registry.functions})


@command("lsp")
def lsp() -> None:
    """Serve an editor that has started this process."""
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
