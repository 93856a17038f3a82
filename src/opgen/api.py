"""What a program may call: files in, a registry, diagnostics or generated texts out. See docs/api.md.

Paths are strings or Path values, one or several; options are called as on the command line.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from opgen import pipeline
from opgen.diagnostics import Diagnostic, Diagnostics, OpgenError
from opgen.model.registry import Registry
from opgen.pipeline import Inputs
from opgen.targets import TARGETS
from opgen.writer import write

PathLike: TypeAlias = str | os.PathLike[str]


def load(
    paths: PathLike | Iterable[PathLike],
    *,
    tags: PathLike | None = None,
    target: str = "runtime",
    backends: str | Iterable[str] = (),
    ignore_keys: str | Iterable[str] = (),
    strict_torchgen: bool = False,
    namespace: str | None = None,
) -> Registry:
    """All operators of the files, with what follows from them. Raises OpgenError."""
    diagnostics = Diagnostics()
    inputs = _inputs(paths, tags, target, backends, ignore_keys, strict_torchgen, namespace)
    registry = pipeline.load(inputs, diagnostics)
    if registry is None:
        raise OpgenError(diagnostics.sorted())
    return registry


def lint(
    paths: PathLike | Iterable[PathLike],
    *,
    tags: PathLike | None = None,
    target: str = "runtime",
    backends: str | Iterable[str] = (),
    ignore_keys: str | Iterable[str] = (),
    strict_torchgen: bool = False,
    namespace: str | None = None,
    python: bool = False,
) -> tuple[Diagnostic, ...]:
    """Every problem of the files, sorted by position: what `opgen lint` prints. Raises nothing for them."""
    diagnostics = Diagnostics()
    inputs = _inputs(paths, tags, target, backends, ignore_keys, strict_torchgen, namespace)
    pipeline.inspect(inputs, diagnostics, python=python)
    return diagnostics.sorted()


def generate(
    paths: PathLike | Iterable[PathLike],
    output: PathLike | None = None,
    *,
    tags: PathLike | None = None,
    target: str = "runtime",
    backends: str | Iterable[str] = (),
    ignore_keys: str | Iterable[str] = (),
    strict_torchgen: bool = False,
    namespace: str | None = None,
    name: str | None = None,
    shards: int = 1,
    python: bool = False,
) -> Mapping[str, str]:
    """Path to text of every generated file; they are written into the folder `output`, if one is given.

    Raises OpgenError, with nothing written.
    """
    diagnostics = Diagnostics()
    inputs = _inputs(paths, tags, target, backends, ignore_keys, strict_torchgen, namespace, name)
    tree = pipeline.build_tree(inputs, diagnostics, shards=shards, python=python)
    if tree is not None and output is not None:
        write(tree, Path(output), diagnostics)
    if tree is None or diagnostics.has_errors:
        raise OpgenError(diagnostics.sorted())
    return tree.files


def _inputs(
    paths: PathLike | Iterable[PathLike],
    tags: PathLike | None,
    target: str,
    backends: str | Iterable[str],
    ignore_keys: str | Iterable[str],
    strict_torchgen: bool,
    namespace: str | None,
    name: str | None = None,
) -> Inputs:
    if target not in TARGETS:
        raise ValueError(f"there is no target '{target}'; there are {', '.join(TARGETS)}")
    return Inputs(
        yaml=(Path(paths),) if isinstance(paths, str | os.PathLike) else tuple(map(Path, paths)),
        tags=None if tags is None else Path(tags),
        target=target,
        backends=_names(backends),
        ignore_keys=_names(ignore_keys),
        name=name,
        strict_torchgen=strict_torchgen,
        namespace=namespace,
    )


def _names(given: str | Iterable[str]) -> tuple[str, ...]:
    """Names, or one text of them as on the command line: `CPU, CUDA`."""
    if not isinstance(given, str):
        return tuple(given)
    return tuple(part.strip() for part in given.split(",") if part.strip())
