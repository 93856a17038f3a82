"""Find the sources of operators, and write YAML for those that they, or a loaded library, register."""

from __future__ import annotations

import glob
import hashlib
import os
import posixpath
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from opgen.data import templates_dir
from opgen.diagnostics import Diagnostics, Edit, Severity, Source, until_too_many
from opgen.edits import apply_edits, encode_like
from opgen.emit.common.base import GeneratedFile, group_by
from opgen.emit.imported import build_imported, build_kernels_header, build_snippets
from opgen.importing.common.registrations import (
    FakeKernel,
    Problems,
    Reading,
    Registration,
)
from opgen.importing.cpp.constants import Constants
from opgen.importing.cpp.functions import Functions
from opgen.importing.cpp.grammar import Grammar
from opgen.importing.cpp.macros import read_macros
from opgen.importing.cpp.reader import CppReader, find_classes
from opgen.importing.cpp.text import CppText, read_cpp
from opgen.importing.entries.callables import Callables, Inference
from opgen.importing.entries.merge import (
    CustomClass,
    Entry,
    find_custom_classes,
    find_traced_by_python,
    leave_out,
    merge,
    report_fakes,
    write_rows,
)
from opgen.importing.entries.source_edits import edit_sources
from opgen.importing.library import read_libraries
from opgen.importing.python.module import NotPython, PythonModule, read_python
from opgen.importing.python.reader import read_module
from opgen.pipeline import checking
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.loading import read_bytes
from opgen.templating.render import Renderer

_CPP = (
    *(".cpp", ".cc", ".cxx", ".c++", ".cu", ".cuh", ".mm", ".hip", ".sycl"),
    *(".h", ".hpp", ".hh", ".hxx", ".h++", ".inl", ".inc", ".ipp"),
)
_PYTHON = (".py", ".pyi")
# Folders that do not contain a project's own sources.
_NO_SOURCES = frozenset({".git", ".hg", "__pycache__", "node_modules", ".venv", "venv"})


def _is_python(path: str) -> bool:
    return path.endswith(_PYTHON)


def find_sources(arguments: Iterable[str], problems: Problems) -> list[str]:
    """Return the paths of the sources, each once, in the order of the arguments.

    An argument is a file, a folder or a pattern; the sources of a folder or pattern are sorted. One without any source
    is an error.
    """
    paths: dict[str, None] = {}
    for argument in arguments:
        found: list[str] = []
        if os.path.isdir(argument):
            for top, folders, names in os.walk(argument):
                folders[:] = sorted(set(folders) - _NO_SOURCES)
                found += (os.path.join(top, name) for name in sorted(names))
        elif glob.has_magic(argument) and not os.path.lexists(argument):
            found = sorted(glob.glob(argument, recursive=True))
        else:
            # A file that is an argument may have any extension.
            paths[argument] = None
            continue
        sources = [p for p in found if p.endswith((*_CPP, *_PYTHON)) and os.path.isfile(p)]
        paths.update(dict.fromkeys(sources))
        if not sources:
            message = f"there is no source at {argument}"
            hint = "pass a file, a folder, or a pattern such as 'csrc/**/*.cpp'"
            problems.diagnostics.error("E1164", message, None, hint=hint)
    return list(paths)


# A generated file of PyTorch has 1.5 MB.
_MOST_BYTES = 2_000_000
_MOST_LABELS = 3
# A C++ file with statements of Jinja.
_TEMPLATE = re.compile(
    rb"^[ \t]*\{%-?\s*(?:if|for|set|macro|include|import|from|raw|block)\b", re.MULTILINE
)
# A Python file without any of these words registers nothing.
_REGISTERS = re.compile(
    r"torch\._?library|torch import [^\n]*\blibrary\b|custom_op|triton_op|\bLibrary\b|\.(?:define|impl)\(|\bregister_\w+\(\s*[\"']"
)


class Imports(Struct, frozen=True):
    """The sources or libraries to import, and the options.

    `output` is a file, or a folder if it ends in a slash; if it is empty, the result is one text with an empty path. With
    `edits`, the result also has edits of the sources.
    """

    sources: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    kernels_as_they_are: bool = False
    output: str = ""
    edits: bool = False


class Imported(Struct, frozen=True):
    """The text of each file to write by path, and the numbers of schemas, rows of kernels and files that were read.

    `found` are the numbers of schemas, rows, and kernels that are no rows, of each source that has any, by path. `edited`
    are the contents of each source that edits change, before and after.
    """

    texts: Mapping[str, str]
    schemas: int
    rows: int
    files: int
    found: Mapping[str, tuple[int, int, int]]
    edited: Mapping[Path, tuple[bytes, bytes]] = field(default_factory=dict)


class _Found(Struct):
    """Registrations in the order of the files, and the C++ texts by the identity of their Source.

    `classes` are the full names of custom classes in schemas, by their unqualified names in C++. Libraries have no `cpp`.
    """

    registrations: Sequence[Registration]
    files: int = 0
    functions: Functions | None = None
    texts: Mapping[int, CppText] = field(default_factory=dict)
    classes: Mapping[str, str] = field(default_factory=dict)
    fakes: Sequence[FakeKernel] = ()
    cpp: CppReader | None = None


class Collected(Struct, frozen=True):
    """The operators in order, the custom classes that their schemas name, and what they were found in.

    `traced_by_python` are the names of the operators whose fake kernels stay in Python.
    """

    entries: Sequence[Entry]
    classes: Mapping[str, CustomClass]
    found: _Found
    traced_by_python: Collection[str]


@until_too_many(lambda: None)
def import_operators(imports: Imports, diagnostics: Diagnostics) -> Imported | None:
    """Return the YAML of all registered operators; None if there are errors, which `diagnostics` then holds."""
    collected = collect_entries(imports, diagnostics)
    if collected is None:
        return None
    problems = Problems(diagnostics)
    if imports.sources:
        _leave_out_refused(collected, problems)
    found, edits = collected.found, list[Edit]()
    if imports.edits and found.cpp is not None:
        edits = edit_sources(found.cpp.opened, found.cpp.statements, collected.entries, problems)
    written = [entry for entry in collected.entries if not entry.left_out]
    rows = sum(1 for entry in written for row in entry.rows.values() if row.written)
    texts = _render(collected, imports.output)
    edited = _edited(edits, diagnostics)
    return Imported(texts, len(written), rows, found.files, _by_source(written), edited)


_ENTRY = re.compile(r"^- func: ", re.MULTILINE)


def _leave_out_refused(collected: Collected, problems: Problems) -> None:
    """Leave out entries with errors, and report them: what is written, `opgen lint --target torch` accepts."""
    # No other files are beside it.
    path = Path(os.devnull, "imported.yaml")
    while True:
        text = _render(collected, "")[""]
        diagnostics = Diagnostics()
        content = text.encode("utf-8", "replace")
        inputs = Inputs(yaml=(path,), target="torch", overlay={path: content})
        checking.inspect(inputs, diagnostics, unsupported=True)
        starts = [match.start() for match in _ENTRY.finditer(text)]
        written = [entry for entry in collected.entries if not entry.left_out]
        errors = (item for item in diagnostics if item.severity is Severity.error and item.span)
        refused = {bisect_right(starts, item.span.start): item for item in errors if item.span}
        refused.pop(0, None)
        for number, item in refused.items():
            leave_out(written[number - 1], item.message, problems, item.hint)
        if not refused:
            return


def _edited(edits: Sequence[Edit], diagnostics: Diagnostics) -> Mapping[Path, tuple[bytes, bytes]]:
    """Return the contents of each source that `edits` change, before and after. Report sources that are not UTF-8."""
    found = {}
    for source, own in group_by(edits, lambda edit: edit.span.source).items():
        before = read_bytes(Path(source.path), diagnostics) or b""
        if encode_like(source.text, before) == before:
            after = encode_like(apply_edits(source.text, own)[0], before)
            found[Path(source.path)] = before, after
        else:
            message = f"{source.path} is not edited: it is not UTF-8"
            Problems(diagnostics).warn("W1175", message, None)
    return found


def _by_source(entries: Sequence[Entry]) -> Mapping[str, tuple[int, int, int]]:
    schemas, rows, left = counters = Counter[str](), Counter[str](), Counter[str]()
    for entry in entries:
        kernels = ((row.kernel.span, rows if row.written else left) for row in entry.rows.values())
        for span, counter in ((entry.span, schemas), *kernels):
            counter.update(() if span is None else (span.source.path,))
    paths = sorted(set().union(*counters))
    return {path: (schemas[path], rows[path], left[path]) for path in paths}


def collect_entries(imports: Imports, diagnostics: Diagnostics) -> Collected | None:
    """Collect all registered operators; return None if there are errors."""
    problems = Problems(diagnostics)
    if imports.libraries:
        asked = read_libraries(imports.libraries, imports.namespaces, problems)
        found = _Found(asked or [])
    else:
        found = _read_sources(imports, diagnostics, problems)
    if diagnostics.has_errors:
        return None
    entries = merge(found.registrations, problems)
    if not entries:
        what = "libraries" if imports.libraries else "sources"
        problems.diagnostics.error("E1161", f"the {what} define no operator", None)
        return None
    folder = posixpath.dirname(imports.output)
    texts = tuple(found.texts.values())
    classes = find_custom_classes(entries, found.classes, texts, folder, problems)
    callables = None
    if found.functions is not None:
        callables = Callables(found.functions, found.texts, folder, problems, imports.edits)
    write_rows(entries, callables, problems, as_they_are=imports.kernels_as_they_are)
    if diagnostics.has_errors:
        return None
    report_fakes({entry.name: entry for entry in entries}, found.fakes, problems)
    traced_by_python = find_traced_by_python(entries, found.fakes)
    return Collected(entries, classes, found, traced_by_python)


def _read_sources(imports: Imports, diagnostics: Diagnostics, problems: Problems) -> _Found:
    sources = _sources(imports.sources, diagnostics, problems)
    texts = {id(source): read_cpp(source) for source in sources if not _is_python(source.path)}
    modules: dict[int, PythonModule] = {}
    for source in sources:
        if _is_python(source.path) and _REGISTERS.search(source.text) is not None:
            try:
                modules[id(source)] = read_python(source)
            except NotPython as error:
                message = f"{source.path} is not read: {error}"
                problems.warn("W1175", message, error.span)
    macros = read_macros(texts.values(), imports.defines)
    grammar = Grammar()
    constants = Constants(tuple(texts.values()), macros, grammar)
    namespace = next(iter(imports.namespaces), None)
    reading = Reading(problems)
    cpp = CppReader(tuple(texts.values()), constants, namespace, reading)
    for source in sources:
        if id(source) in texts:
            cpp.read(texts[id(source)])
        elif id(source) in modules:
            read_module(modules[id(source)], tuple(modules.values()), namespace, reading)
    cpp.finish()
    if not (reading.registrations or reading.unknown_namespaces):
        cpp.read_pybind11()
    # One error for each macro that only the build defines, with the places that use it.
    for name, (first, *others) in reading.unknown_namespaces.items():
        labels = [(span, "and here") for span in others[:_MOST_LABELS]]
        message = f"the namespace is not known: {name}"
        hint = "--namespace NAME" if " " in name else f"-D {name}=NAME, or --namespace NAME"
        problems.diagnostics.error("E1160", message, first, hint=hint, labels=labels)
    functions = cpp.functions
    classes = {**find_classes(texts.values()), **reading.classes}
    inference = Inference(functions, texts, classes, problems)
    registrations = list(inference.expand(reading.registrations))
    return _Found(registrations, len(sources), functions, texts, classes, reading.fakes, cpp)


def _sources(given: Sequence[str], diagnostics: Diagnostics, problems: Problems) -> list[Source]:
    """Read the sources. Bytes that are not UTF-8, such as names in comments, are replaced."""
    sources = []
    for path in find_sources(given, problems):
        content = read_bytes(Path(path), diagnostics)
        if content is not None and len(content) > _MOST_BYTES:
            message = f"'{path}' has more than {_MOST_BYTES // 1_000_000} MB and is not read"
            problems.warn("W1175", message, None)
        elif content is not None and not _is_python(path) and _TEMPLATE.search(content) is not None:
            message = f"'{path}' is a template, and is not read"
            problems.warn("W1175", message, None, hint="pass the files that are made from it")
        elif content is not None:
            digest = hashlib.sha256(content).hexdigest()
            sources.append(Source(path, content.decode("utf-8-sig", "replace"), digest))
    return sources


def _render(collected: Collected, output: str) -> Mapping[str, str]:
    """Render one YAML file, or one for each namespace if the output is a folder, each with the header that it includes."""
    groups = {output: collected.entries}
    if output.endswith("/"):
        by_namespace = group_by(collected.entries, lambda entry: entry.namespace)
        groups = {f"{output}{name}.yaml": own for name, own in by_namespace.items()}
    files = [file for path, own in groups.items() for file in _files(path, own, collected)]
    files += build_snippets(posixpath.dirname(output), collected.entries)
    return Renderer(templates_dir() / "text").render_all(files)


def _files(path: str, entries: Sequence[Entry], collected: Collected) -> list[GeneratedFile]:
    folder, name = posixpath.split(path)
    header_name = f"{posixpath.splitext(name)[0]}_kernels.h"
    header = build_kernels_header(posixpath.join(folder, header_name), name, entries)
    cpp = collected.found.cpp
    fragments = frozenset() if cpp is None else cpp.fragments()
    yaml = build_imported(
        path,
        entries,
        collected.classes,
        "" if header is None else header_name,
        collected.traced_by_python,
        is_fragment=any(entry.namespace in fragments for entry in entries if not entry.left_out),
    )
    return [yaml] if header is None else [header, yaml]
