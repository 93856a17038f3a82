"""Collect the sources of an author's kernels, and report those that are not compiled, and kernels that are not called."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from opgen.diagnostics import Diagnostics, Source, counted
from opgen.diagnostics.suggestions import Vocabulary, shorten
from opgen.emit.common.context import Context
from opgen.emit.kernels.stubs import known_definitions
from opgen.io.codes import E0905, W0918, W0919, W0921
from opgen.io.manifest import MANIFEST, read_manifest
from opgen.pipeline.kernel_definitions import Definition, find_compiled_definitions
from opgen.pipeline.reading import find_cpp_text

# The folder of a generated tree that `opgen build` compiles in.
BUILD_FOLDER = "cmake-build"
# Endings of C++ and CUDA sources, which an author may expect to be compiled.
_SOURCES = frozenset({".cpp", ".cc", ".cxx", ".c++", ".C", ".c", ".cu", ".mm"})
# The most names that a message lists.
_MOST_NAMES = 6


def find_sources(
    paths: Iterable[Path], suffixes: Sequence[str], output: Path, diagnostics: Diagnostics
) -> list[Path]:
    """Return every kernel source in `paths`, absolute and sorted within each folder.

    That is every file with one of `suffixes` in a folder or below it, and every file that is named itself, without the
    sources of generated trees, such as the one in `output`. Reports E0905 for a path that does not exist, W0918 for a
    folder without sources, and W0919 for a tree.
    """
    trees = _Trees(output.resolve())
    sources: list[Path] = []
    for path in paths:
        if path.is_dir():
            sources += _sources_in(path, suffixes, trees, diagnostics)
        elif not path.is_file():
            hint = f"name a *{suffixes[0]} file or a folder"
            diagnostics.error(E0905, f"{path} does not exist", None, hint=hint)
        elif (tree := trees.find(path.resolve())) is not None:
            message = (
                f"{path} is left out: it is in {shown_path(tree)}, a tree that opgen generated"
            )
            diagnostics.warning(W0919, message, None, hint="name your own sources")
        else:
            sources.append(path.resolve())
    return list(dict.fromkeys(sources))


def _sources_in(
    folder: Path, suffixes: Sequence[str], trees: _Trees, diagnostics: Diagnostics
) -> list[Path]:
    every = [file for file in _files(folder.resolve()) if file.suffix in _SOURCES.union(suffixes)]
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
        diagnostics.warning(W0919, message, None, hint="keep generated files out of the folder")
    found = [file for file in own if file.suffix in suffixes]
    if not found:
        wanted = " or ".join(f"*{suffix}" for suffix in suffixes)
        others = [f"{shown_path(file)} is not compiled: it is not a {wanted}" for file in own]
        diagnostics.warning(
            W0918,
            f"{folder} has no {wanted}, so every kernel is a stub",
            None,
            notes=others[:_MOST_NAMES],
            hint=(
                "name a file that has another ending"
                if others
                else f"put your kernels into {folder}"
            ),
        )
    return found


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


def shown_path(path: Path) -> str:
    """Return a path as an author writes it: from the current folder, if it is below that."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


class _Trees:
    """Finds out which files are part of a generated tree; reads each manifest once."""

    def __init__(self, output: Path) -> None:
        self._output = output
        self._files: dict[Path, frozenset[str] | None] = {}

    def find(self, file: Path) -> Path | None:
        """Return the folder of the tree that `file`, an absolute path, belongs to; None if it is an author's file."""
        for folder in file.parents:
            generated = self._generated(folder)
            if generated is None:
                continue
            inside = file.relative_to(folder).as_posix()
            if inside in generated or inside.startswith(f"{BUILD_FOLDER}/"):
                return folder
        return None

    def _generated(self, folder: Path) -> frozenset[str] | None:
        """Return the files that opgen wrote to a folder; None if it is not a generated tree."""
        if folder not in self._files:
            found: frozenset[str] | None = None
            if os.path.lexists(folder / MANIFEST):
                # A manifest that cannot be read is reported when the tree is written.
                manifest = read_manifest(folder, Diagnostics())
                found = frozenset() if manifest is None else manifest.paths
            elif folder == self._output:
                found = frozenset()
            self._files[folder] = found
        return self._files[folder]


def report_unnamed_kernels(
    sources: Iterable[Path], context: Context, diagnostics: Diagnostics
) -> None:
    """Report W0921 for every definition of a kernel that no entry names."""
    known = dict.fromkeys(known_definitions(context))
    kinds = {
        is_meta: _Names([text for text in known if ("META" in text) is is_meta])
        for is_meta in (False, True)
    }
    for path in sources:
        source = _read(path)
        for definition in () if source is None else find_compiled_definitions(source):
            if definition.text not in known:
                _report(definition, kinds[definition.is_meta], diagnostics)


class _Names:
    """The names in macros, such as `add, Tensor` in `OPGEN_META_FUNC2(add, Tensor)`."""

    def __init__(self, macros: Sequence[str]) -> None:
        self.macro_of = {text[text.index("(") + 1 : -1]: text for text in reversed(macros)}
        self.known = Vocabulary(reversed(self.macro_of))


def _report(definition: Definition, names: _Names, diagnostics: Diagnostics) -> None:
    wanted = definition.text[len(definition.macro) + 1 : -1]
    what = "meta function" if definition.is_meta else "kernel"
    message = f"no entry names the {what} '{shorten(wanted)}'"
    notes: list[str] = []
    near = names.known.nearest(wanted)
    if wanted in names.macro_of:
        message = f"'{shorten(wanted)}' is not defined by {definition.macro}"
        hint = f"write {names.macro_of[wanted]}"
    elif near is not None:
        macro = names.macro_of[near]
        hint = f"did you mean '{near if macro.startswith(f'{definition.macro}(') else macro}'?"
    else:
        hint = "name it in the YAML, or correct the name"
        every = names.known.names
        more = f" and {len(every) - _MOST_NAMES} more" if len(every) > _MOST_NAMES else ""
        if every:
            notes = [f"this library has {', '.join(every[:_MOST_NAMES])}{more}"]
    diagnostics.warning(W0921, message, definition.span, hint=hint, notes=notes)


def _read(path: Path) -> Source | None:
    text = find_cpp_text(path)
    return None if text is None else Source(shown_path(path), text)
