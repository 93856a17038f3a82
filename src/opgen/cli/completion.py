"""Completion of commands, options and names in shells: `opgen completion SHELL`, and what completes arguments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from opgen import pipeline
from opgen.diagnostics import Diagnostics
from opgen.pipeline import Inputs

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes opgen's commands, options and names in a shell.

    bash: eval "$(opgen completion bash)" in ~/.bashrc. zsh: the same in ~/.zshrc, after compinit.
    fish: opgen completion fish > ~/.config/fish/completions/opgen.fish.
    """
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(context.find_root().command, {}, "opgen", "_OPGEN_COMPLETE").source())


def complete_operator(
    context: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Operators of the YAML that the command line names so far; none if it cannot be read."""
    return [CompletionItem(name) for name in _operators(context) if name.startswith(incomplete)]


def complete_explanation(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Diagnostic codes, with their titles, and operators."""
    codes = [
        CompletionItem(code.code, help=code.title)
        for code in pipeline.CODES.values()
        if incomplete and code.code.startswith(incomplete)
    ]
    return codes + complete_operator(context, parameter, incomplete)


def _operators(context: click.Context) -> Iterator[str]:
    yaml = tuple(Path(path) for path in context.params.get("yaml") or ("native_functions.yaml",))
    # Completion is no place for problems: they are left to the command itself.
    # Whichever namespace names without one are in, it is not what they are completed by.
    registry = pipeline.load(Inputs(yaml, namespace="mylib"), Diagnostics())
    if registry is not None:
        yield from sorted({str(f.func.name) for f in registry.functions})
