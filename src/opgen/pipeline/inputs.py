"""What is to be read, and how: the options that all commands share.

Nothing of opgen is imported for it: a run that has nothing to do needs these and no more.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from opgen.dataclasses import dataclass, field, replace

if TYPE_CHECKING:
    from opgen.reading import Overlay

# No run reads more bytes of a file: it reports that there are too many.
MOST = 30_000_000


@dataclass(frozen=True, slots=True)
class Inputs:
    """What is to be read, and how: the options common to all commands."""

    yaml: tuple[Path, ...]
    tags: Path | None = None
    target: str = "runtime"
    backends: tuple[str, ...] = ()
    ignore_keys: tuple[str, ...] = ()
    extends: Path | None = None
    name: str | None = None
    select: tuple[Path, ...] = ()
    backend_yaml: Path | None = None
    impl_path: Path | None = None
    # Refuse opgen's extensions of the language, and hold every operator to torchgen's rules.
    strict_torchgen: bool = False
    # That of operators without one, in files that do not say it.
    namespace: str | None = None
    # Not an option: what is read instead of these files.
    overlay: Overlay = field(default_factory=dict)


def input_files(inputs: Inputs) -> tuple[Path, ...]:
    """Every file that a run with these inputs reads, but for opgen's own."""
    tags = tags_path(inputs)
    given = (inputs.extends, *inputs.select, inputs.backend_yaml, inputs.impl_path)
    return tuple(p for p in (*inputs.yaml, tags, *given) if p is not None)


def schema_files(inputs: Inputs) -> tuple[Path, ...]:
    """The files that people write for opgen, of those that a run with these inputs reads."""
    given = (*inputs.yaml, tags_path(inputs), *inputs.select, inputs.backend_yaml)
    return tuple(dict.fromkeys(p for p in given if p is not None))


def tags_path(inputs: Inputs) -> Path | None:
    if inputs.tags is not None:
        return inputs.tags
    return next((p for y in inputs.yaml if os.path.isfile(p := y.parent / "tags.yaml")), None)


def with_contents(inputs: Inputs) -> Inputs:
    """`inputs` with the bytes of their files, each read once. What cannot be read is left to later reports."""
    contents = dict(inputs.overlay)
    for path in input_files(inputs):
        if path not in contents:
            with contextlib.suppress(OSError), open(path, "rb") as file:
                contents[path] = file.read(MOST + 1)
    return replace(inputs, overlay=contents)
