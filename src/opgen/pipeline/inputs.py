"""The files and options of a run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from opgen.io.manifest import MAX_MANIFEST_BYTES
from opgen.model.derivatives import DERIVATIVES_YAML
from opgen.pipeline.formula_headers import (
    FoundHeader,
    find_headers,
    named_headers,
    read_header,
)
from opgen.pipeline.installed import installed_include

# The largest file that any run reads; other kinds of files have lower limits.
MAX_BYTES = MAX_MANIFEST_BYTES

# The largest number of files that large sources are split into.
MAX_SHARDS = 64

# Where `opgen new` puts kernels, and the headers of formulas with them.
KERNELS_FOLDER = "kernels"

# Contents that are read instead of those of files: unsaved documents, and edits that are not written yet.
Overlay: TypeAlias = Mapping[Path, bytes]


class Options(Struct, frozen=True, kw_only=True):
    """The options whose values are the same on the command line, in the Python API and in the pipeline."""

    # "runtime", "torch" or "torch-stable".
    target: str = "runtime"
    # The name of the library. Default: the namespace of its operators.
    name: str | None = None
    # Apply torchgen's rules to every operator, and reject everything that torchgen does not know.
    strict_torchgen: bool = False
    # The namespace of operators that are written without one, in files that do not declare one.
    namespace: str | None = None
    # The number of source files that large sources are split into, 1 to MAX_SHARDS.
    shards: int = 1
    # Whether the library is a Python package, too.
    python: bool = False
    # For a target whose libraries serve many releases of PyTorch: the oldest; by default, the oldest that is possible.
    torch: str | None = None


class Inputs(Options, frozen=True):
    """The files that a run reads, and the options that its results depend on.

    `opgen.api.Inputs` explains the fields, and also takes other forms of paths and lists.
    """

    yaml: tuple[Path, ...]
    tags: Path | None = None
    derivatives: tuple[Path, ...] = ()
    include: tuple[Path, ...] = ()
    backends: tuple[str, ...] = ()
    ignore_keys: tuple[str, ...] = ()
    extends: Path | None = None
    select: tuple[Path, ...] = ()
    backend_yaml: Path | None = None
    impl_path: Path | None = None
    # Not an option: the file of the project's settings, if some of the values may be from there.
    project: Path | None = None
    # Not an option: contents that are read instead of these files.
    overlay: Overlay = field(default_factory=dict)


def split_names(names: str) -> tuple[str, ...]:
    """Split a list of names at its commas: "CPU, CUDA" has two."""
    return tuple(part.strip() for part in names.split(",") if part.strip())


def input_files(inputs: Inputs) -> tuple[Path, ...]:
    """Return every file that a run with these inputs reads, except opgen's own."""
    tags = tags_path(inputs)
    given = (inputs.extends, *inputs.select, inputs.backend_yaml, inputs.impl_path, inputs.project)
    given += (*derivatives_paths(inputs), *header_paths(inputs))
    return tuple(p for p in (*inputs.yaml, tags, *given) if p is not None)


def schema_files(inputs: Inputs) -> tuple[Path, ...]:
    """Return the schema files: those of a run's files that are written for opgen."""
    given = (*inputs.yaml, tags_path(inputs), *inputs.select, inputs.backend_yaml)
    given += derivatives_paths(inputs)
    return tuple(dict.fromkeys(p for p in given if p is not None))


def tags_path(inputs: Inputs) -> Path | None:
    """Return the file of tags: the given one, or tags.yaml in the folder of the first schema file that has one."""
    if inputs.tags is not None:
        return inputs.tags
    return next((p for y in inputs.yaml if os.path.isfile(p := y.parent / "tags.yaml")), None)


def derivatives_paths(inputs: Inputs) -> tuple[Path, ...]:
    """Return the files of formulas: the given ones, or each derivatives.yaml in the folder of a schema file."""
    if inputs.derivatives:
        return inputs.derivatives
    beside = dict.fromkeys(y.parent / DERIVATIVES_YAML for y in inputs.yaml)
    return tuple(path for path in beside if path in inputs.overlay or os.path.isfile(path))


def author_headers(inputs: Inputs, names: Iterable[str]) -> tuple[FoundHeader, ...]:
    """Return the headers of these names, and those that they include.

    They are beside the files, in the folder of kernels there, or in the given folders.
    """
    beside = [path.parent for path in (*derivatives_paths(inputs), *inputs.yaml)]
    kernels = (folder / KERNELS_FOLDER for folder in beside)
    folders = dict.fromkeys((*beside, *kernels, *inputs.include))
    return find_headers(names, folders, installed_include(inputs.target), inputs.overlay)


def header_paths(inputs: Inputs) -> tuple[Path, ...]:
    """Return the headers whose functions the files of formulas call."""
    texts = (read_header(path, inputs.overlay) for path in derivatives_paths(inputs))
    names = [name for text in texts if text is not None for name in named_headers(text)]
    return tuple(header.path for header in author_headers(inputs, names)) if names else ()


def folders_with_headers(inputs: Inputs) -> tuple[Path, ...]:
    """Return those of the given folders that have a header of formulas which is not beside the files."""
    if not inputs.include:
        return ()
    beside = header_paths(replace(inputs, include=()))
    found = set(header_paths(inputs)).difference(beside)
    # The innermost folder, if one is in another.
    folders = sorted(inputs.include, key=lambda f: len(f.parts), reverse=True)
    used = {next((f for f in folders if path.is_relative_to(f)), None) for path in found}
    return tuple(f for f in inputs.include if f in used)


def with_contents(inputs: Inputs) -> Inputs:
    """Return `inputs` with the bytes of their files, each read once.

    A file that cannot be read is left out; the stage that needs it reports it.
    """
    contents = dict(inputs.overlay)
    for path in input_files(inputs):
        if path not in contents:
            with contextlib.suppress(OSError), open(path, "rb") as file:
                contents[path] = file.read(MAX_BYTES + 1)
    return replace(inputs, overlay=contents)
