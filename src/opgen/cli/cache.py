"""`opgen cache`: list and remove the parts of opgen that builds have compiled for later ones."""

from __future__ import annotations

from collections.abc import Sequence

import click

from opgen.cli.help import Choice, command
from opgen.diagnostics import counted
from opgen.io import build_cache

_ACTIONS = ("list", "path", "prune", "clear")
_LABELS = {
    "opgen_core": "core",
    "opgen_kernels": "kernels",
    "opgen_runtime": "runtime",
    "opgen_python": "Python part",
    "opgen_torch_stable": "torch-stable part",
    "opgen_new": "(unfinished)",
}


@command("cache")
@click.argument("action", type=Choice(_ACTIONS), default=_ACTIONS[0])
@click.option("--days", type=click.FloatRange(0), default=60)
def cache(action: str, days: float) -> None:
    """List or remove compiled parts that builds share."""
    folder = build_cache.cache_folder()
    if folder is None:
        raise click.ClickException("the cache is off: OPGEN_CACHE is off, or HOME is not set")
    if action == "path":
        click.echo(folder)
        return
    found = build_cache.entries(folder)
    if action == "list":
        for entry in found:
            used = "today" if entry.unused_days < 1 else f"{entry.unused_days:.0f} days ago"
            shown = f"{_LABELS[entry.part]:<12}  {_megabytes(entry.size):>9}"
            click.echo(f"{shown}  used {used:<12}  {entry.made_for}")
        click.echo(f"{folder}: {_counted(found)}, {_megabytes(sum(e.size for e in found))}")
        return
    wanted = found if action == "clear" else build_cache.unused(found, days)
    size = build_cache.remove(wanted)
    click.echo(f"{folder}: removed {_counted(wanted)}, {_megabytes(size)}")


def _counted(found: Sequence[build_cache.Entry]) -> str:
    return counted(len(found), "entry", "entries")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
