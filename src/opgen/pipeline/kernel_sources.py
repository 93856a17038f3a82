"""Collect the sources of an author's kernels; report those not compiled, and kernels not called or not declared."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from opgen.diagnostics import Diagnostics, Source, Span, counted
from opgen.diagnostics.suggestions import Vocabulary, shorten
from opgen.emit.common.context import Context
from opgen.emit.kernels.stubs import KnownDefinition, known_definitions
from opgen.importing.cpp.text import read_cpp
from opgen.io.manifest import MANIFEST, read_manifest
from opgen.pipeline.author_headers import find_cpp_text, follow_includes
from opgen.pipeline.inputs import Inputs

_DEFINITION = re.compile(
    r"^[ \t]*(OPGEN_(?:KERNEL2?|IMPL_FUNC|UFUNC|(?:PRECOMPUTE_)?META_FUNC2?))"
    r"[ \t]*\([ \t\r\n]*(\w+)(?:[ \t\r\n]*,[ \t\r\n]*(\w+))?[ \t\r\n]*\)",
    re.MULTILINE,
)


class Definition(Struct, frozen=True):
    """The definition of a kernel or a meta function: the macro and its one or two arguments, and their place."""

    macro: str
    argument: str
    overload: str
    span: Span

    @property
    def is_meta(self) -> bool:
        return "META" in self.macro

    @property
    def name(self) -> str:
        """The name of a kernel as in a dispatch table, or of a meta function as in a schema: `add.Tensor`."""
        return (
            f"{self.argument}.{self.overload}" if self.is_meta and self.overload else self.argument
        )

    @property
    def text(self) -> str:
        """The macro with its arguments."""
        arguments = f"{self.argument}, {self.overload}" if self.overload else self.argument
        return f"{self.macro}({arguments})"


def find_definitions(source: Source) -> Iterator[Definition]:
    """Yield what looks like a definition, in order, also in comments."""
    if "OPGEN_" not in source.text:
        return
    for match in _DEFINITION.finditer(source.text):
        span = Span(source, match.start(2), match.end(3) if match[3] else match.end(2))
        yield Definition(match[1], match[2], match[3] or "", span)


# The folder of a generated tree that `opgen build` compiles in.
BUILD_FOLDER = "cmake-build"
# Endings of C++ and CUDA sources, which an author may expect to be compiled.
_SOURCES = frozenset({".cpp", ".cc", ".cxx", ".c++", ".C", ".c", ".cu", ".mm"})
# The most names that a message lists.
_MOST_NAMES = 6
# Folders of headers that include none of an author's library.
_NOT_THE_AUTHORS = frozenset(
    {"opgen", "ATen", "c10", "torch", "caffe2", "pybind11", "cuda", "thrust", "cub", "sys", "bits"}
)


def find_sources(
    paths: Iterable[Path], suffixes: Sequence[str], output: Path | None, diagnostics: Diagnostics
) -> list[Path]:
    """Return every kernel source in `paths`, absolute and sorted within each folder.

    That is every file with one of `suffixes` in a folder or below it, and every file that is named itself, without the
    sources of generated trees, such as the one in `output`, if there is one. Reports E0905 for a path that does not exist or is no source, W0918 for a
    folder without sources, and W0919 for a tree.
    """
    trees = _Trees(None if output is None else output.resolve())
    sources: list[Path] = []
    for path in paths:
        if path.is_dir():
            sources += _sources_in(path, suffixes, trees, diagnostics)
        elif not path.is_file() or path.suffix not in _SOURCES.union(suffixes):
            problem = "is not a kernel source" if path.is_file() else "does not exist"
            hint = f"name a *{suffixes[0]} file or a folder"
            diagnostics.error("E0905", f"{path} {problem}", None, hint=hint)
        elif (tree := trees.find(path.resolve())) is not None:
            message = (
                f"{path} is left out: it is in {shown_path(tree)}, a tree that opgen generated"
            )
            diagnostics.warning("W0919", message, None, hint="name your own sources")
        else:
            sources.append(path.resolve())
    return list(dict.fromkeys(sources))


def find_folders(paths: Iterable[Path], hint: str, diagnostics: Diagnostics) -> list[Path]:
    """Return the folders, absolute. Reports E0905, with `hint`, for each path that is not a folder."""
    paths = tuple(paths)
    for path in paths:
        if not path.is_dir():
            diagnostics.error("E0905", f"{path} is not a folder", None, hint=hint)
    return [path.resolve() for path in paths]


def _sources_in(
    folder: Path, suffixes: Sequence[str], trees: _Trees, diagnostics: Diagnostics
) -> list[Path]:
    files = (file for file in sorted(folder.resolve().rglob("*")) if file.is_file())
    every = [file for file in files if file.suffix in _SOURCES.union(suffixes)]
    by_tree: dict[Path, int] = {}
    own: list[Path] = []
    for file in every:
        tree = trees.find(file)
        if tree is None:
            own.append(file)
        elif file.suffix in suffixes:
            by_tree[tree] = by_tree.get(tree, 0) + 1
    for tree, number in by_tree.items():
        message = (
            f"{folder} holds {shown_path(tree)}, a tree that opgen generated: its"
            f" {counted(number, 'source is', 'sources are')} left out"
        )
        diagnostics.warning("W0919", message, None, hint="keep generated files out of the folder")
    found = [file for file in own if file.suffix in suffixes]
    if not found:
        wanted = " or ".join(f"*{suffix}" for suffix in suffixes)
        others = [f"{shown_path(file)} is not compiled: it is not a {wanted}" for file in own]
        message = f"{folder} has no {wanted}, so every kernel is a stub"
        hint = (
            "name a file that has another ending" if others else f"put your kernels into {folder}"
        )
        diagnostics.warning("W0918", message, None, notes=others[:_MOST_NAMES], hint=hint)
    return found


def shown_path(path: Path) -> str:
    """Return a path as an author writes it: from the current folder, if it is below that."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


class _Trees:
    """Finds out which files are part of a generated tree; reads each manifest once."""

    def __init__(self, output: Path | None) -> None:
        self._output = output
        self._files: dict[Path, frozenset[str] | None] = {}

    def find(self, file: Path) -> Path | None:
        """Return the folder of the tree that `file`, an absolute path, belongs to; None if it is an author's file."""
        for folder in file.parents:
            if folder not in self._files:
                found: frozenset[str] | None = None
                if os.path.lexists(folder / MANIFEST):
                    # A manifest that cannot be read is reported when the tree is written.
                    manifest = read_manifest(folder, Diagnostics())
                    found = frozenset() if manifest is None else manifest.paths
                elif folder == self._output:
                    found = frozenset()
                self._files[folder] = found
            generated = self._files[folder]
            if generated is None:
                continue
            inside = file.relative_to(folder).as_posix()
            if inside in generated or inside.startswith(f"{BUILD_FOLDER}/"):
                return folder
        return None


def report_kernels(
    sources: Sequence[Path],
    headers: Sequence[Path],
    context: Context,
    inputs: Inputs,
    diagnostics: Diagnostics,
) -> None:
    """Report W0921 for every definition of a kernel that no entry names, and W0922 for one whose header is not included.

    `headers` are the folders of the author's headers, besides those of the sources and of the YAML.
    """
    beside = (path.resolve().parent for path in (*sources, *inputs.yaml))
    folders = tuple(dict.fromkeys((*headers, *beside)))
    known: dict[str, KnownDefinition] = {}
    for each in known_definitions(context):
        known.setdefault(each.text, each)
    kinds = {
        is_meta: _Names([each for each in known.values() if ("META" in each.text) is is_meta])
        for is_meta in (False, True)
    }
    own = f"{context.library.name}/"
    for path in sources:
        text = find_cpp_text(path)
        source = Source(shown_path(path), text or "")
        definitions = tuple(find_definitions(source))
        if not definitions:
            continue
        forgotten: dict[str, list[Definition]] = {}
        included = _included(source, path, folders, own)
        read = read_cpp(source)
        for definition in definitions:
            start = definition.span.start
            if not read.masked[start].strip() or read.is_dead(start):
                continue  # No compiler sees it, whatever the conditions of an `#if` are.
            found = known.get(definition.text)
            if found is None:
                _report(definition, kinds[definition.is_meta], diagnostics)
            elif included is not None and included.isdisjoint(found.headers):
                forgotten.setdefault(found.header, []).append(definition)
        for header, lacking in forgotten.items():
            first = lacking[0]
            what = "meta function" if first.is_meta else "kernel"
            more = f" and {counted(len(lacking) - 1, 'other')}" if len(lacking) > 1 else ""
            message = (
                f"the header that declares the {what} '{shorten(first.name)}'{more} is not included"
            )
            diagnostics.warning("W0922", message, first.span, hint=f"add '#include <{header}>'")


def _included(
    source: Source, path: Path, folders: Sequence[Path], own: str
) -> frozenset[str] | None:
    """Return the generated headers that a source includes, also through the author's headers.

    None if that is unknown: a header is not found, and may include them.
    """
    found = follow_includes(source.text, path.parent, folders)
    for include in found or ():
        top, slash, _ = include.name.partition("/")
        is_known = include.name.startswith(own) or top in _NOT_THE_AUTHORS
        if not is_known and (include.quoted or slash):
            return None  # It may be one of the author's.
    return None if found is None else frozenset(include.name for include in found)


class _Names:
    """The names in macros, such as `add, Tensor` in `OPGEN_META_FUNC2(add, Tensor)`."""

    def __init__(self, definitions: Sequence[KnownDefinition]) -> None:
        self.definition_of = {
            each.text[each.text.index("(") + 1 : -1]: each for each in reversed(definitions)
        }
        self.known = Vocabulary(reversed(self.definition_of))


def _report(definition: Definition, names: _Names, diagnostics: Diagnostics) -> None:
    wanted = definition.text[len(definition.macro) + 1 : -1]
    what = "meta function" if definition.is_meta else "kernel"
    message = f"no entry names the {what} '{shorten(wanted)}'"
    notes: list[str] = []
    near = names.known.nearest(wanted)
    meant = names.definition_of.get(wanted)
    if meant is not None:
        message = f"'{shorten(wanted)}' is not defined by {definition.macro}"
        hint = f"write {meant.text}"
    elif near is not None:
        meant = names.definition_of[near]
        hint = f"did you mean '{near if meant.text.startswith(f'{definition.macro}(') else meant.text}'?"
    else:
        hint = "name it in the YAML, or correct the name"
        every = names.known.names
        more = f" and {len(every) - _MOST_NAMES} more" if len(every) > _MOST_NAMES else ""
        if every:
            notes = [f"this library has {', '.join(every[:_MOST_NAMES])}{more}"]
    if meant is not None:
        notes.append(f"<{meant.header}> declares it")
    diagnostics.warning("W0921", message, definition.span, hint=hint, notes=notes)
