"""Say whether a build can begin, which kernel does not compile, and what the library lacks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from opgen.autograd.derivative import AuthorFunction
from opgen.diagnostics import Diagnostics, Source, counted
from opgen.emit.common.base import group_by
from opgen.emit.common.context import Context
from opgen.emit.common.kernel_set import AuthorKernel
from opgen.emit.cpp.register import OPTIONAL_DEVICES, describe_omission
from opgen.emit.kernels.stubs import (
    kept_functions,
    missing_functions,
    place_of,
    skeleton_reason,
)
from opgen.importing.cpp.text import read_cpp
from opgen.pipeline.author_headers import find_cpp_text
from opgen.pipeline.inputs import Inputs, command_words, options_of
from opgen.pipeline.kernel_sources import find_definitions, shown_path
from opgen.resolve.dispatch_tables import RegistrationKind
from opgen.targets import TARGETS
from opgen.targets.base import report_required_package


def check_required_package(inputs: Inputs, diagnostics: Diagnostics) -> None:
    """Report if nothing can be compiled for the target with this Python.

    If the environment has Package_DIR (Torch_DIR), CMake uses the package in that folder, and checks it itself.
    """
    required = TARGETS[inputs.target].required_package
    if required is not None and not os.environ.get(f"{required.package.capitalize()}_DIR"):
        report_required_package(required, sys.executable, diagnostics)


# `FAILED: [code=1] kernels.o`, and the command in the next line.
_FAILED = re.compile(r"^FAILED: .*\n.*\n", re.MULTILINE)
_STOPPED = re.compile(r"^ninja: build stopped: .*\n", re.MULTILINE)
_ERROR = re.compile(r"^(?P<path>[^\n:]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: ", re.MULTILINE)
# A place in a generated source of registrations, and a function that such a source registers.
_REGISTERED_AT = re.compile(r"^(?P<path>[^\n:]*Register\w+\.cpp):(?P<line>\d+):", re.MULTILINE)
_REGISTERED = re.compile(r"&(::[\w:]+)[,>]")
# What GNU's linkers and LLVM's print of a function that no object defines, and of where it is used.
_UNDEFINED = re.compile(
    r"(?:undefined reference to [`'\"]|undefined symbol: )(?P<text>(?P<name>[\w:]+)[^\n]*?\))['\"]?$",
    re.MULTILINE,
)
# And of one that several objects define.
_DUPLICATE = re.compile(
    r"(?:multiple definition of [`']|duplicate symbol: )(?P<text>(?P<name>[\w:]+)[^\n]*?\))(?:'|$)",
    re.MULTILINE,
)
_OF_LINKER = re.compile(
    r"^.*(?:in function [`']|undefined (?:reference|symbol)|>>> |"
    r"ld returned 1 exit status|linker command failed).*\n",
    re.MULTILINE,
)


def explain_failure(
    output: str,
    sources: Sequence[Path],
    entries: Mapping[str, str],
    existing: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return what Ninja printed, without commands, after a line for each kernel of `sources` that has an error.

    `entries` are the operators by the macros of their kernels, as `OPGEN_KERNEL(k)`, `existing` the places of rows by the
    names of their functions, as `a.yaml:3:10` by `::ns::f`.
    """
    messages = _STOPPED.sub("", _FAILED.sub("", output))
    undefined = {u["text"]: existing.get(f"::{u['name']}") for u in _UNDEFINED.finditer(messages)}
    if undefined and all(undefined.values()):
        messages = _OF_LINKER.sub("", messages)
    duplicate = {d["text"]: existing.get(f"::{d['name']}") for d in _DUPLICATE.finditer(messages)}
    own = {str(source): source for source in sources}
    found = dict.fromkeys(
        (source, _kernel_at(source, int(error["line"])))
        for error in _ERROR.finditer(messages)
        if (source := own.get(error["path"])) is not None
    )
    lines: dict[str, None] = {}
    missing = (
        "no source defines",
        "pass the file that does to --kernels; its types must be those of the header",
    )
    twice = (
        "several sources define",
        "a library has one of them: give each a name of its own, and a row of its own",
    )
    for functions, (what, hint) in ((undefined, missing), (duplicate, twice)):
        for text, place in functions.items():
            if place:
                lines[f"error: {place}: {what} '{text}'\n  = help: {hint}\n"] = None
    for at in _REGISTERED_AT.finditer(messages):
        until = _read_lines(Path(at["path"]))[: int(at["line"])]
        for name in _REGISTERED.findall("".join(until[-3:]))[-1:]:
            if name in existing:
                lines[f"error: {existing[name]}: '{name}' does not compile as its kernel\n"] = None
    for source, kernel in found:
        of = f" of {entries[kernel]}" if kernel in entries else ""
        what = f"{kernel}{of}" if kernel else "it"
        lines[f"error: {shown_path(source)}: {what} does not compile\n"] = None
    return "".join(lines or ["error: the library does not compile\n"]) + messages


def _kernel_at(source: Path, line: int) -> str:
    """Return the macro that begins the definition with this line, as `OPGEN_KERNEL(k)`; empty if none does."""
    lines = _read_lines(source)
    text = "".join(lines)
    start, end = (sum(map(len, lines[:n])) for n in (line - 1, line))
    before = [d for d in find_definitions(Source(str(source), text)) if d.span.start < end]
    if not before or "\n}" in text[before[-1].span.start : start]:
        return ""  # The line is in a function after the kernel.
    return before[-1].text


def _read_lines(source: Path) -> list[str]:
    """Return the lines of a file; none if it cannot be read."""
    try:
        return source.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    except OSError:
        return []


def sections_of_functions(library: Path) -> Mapping[str, Sequence[str]]:
    """Return the sections that the overloads of each function are in, by its qualified name.

    In a stripped file, only the functions that other libraries can see are left. Raises ValueError if nm cannot read the
    file, and OSError if there is no nm.
    """
    sections: dict[str, str] = {}
    for tables in ((), ("--dynamic",)):
        command = ("nm", "--demangle", "--defined-only", "--format=sysv", *tables, library)
        found = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if found.returncode:
            raise ValueError(found.stderr.strip())
        rows = (line.rsplit("|", 6) for line in found.stdout.splitlines() if "|" in line)
        sections.update((name.strip(), section.strip()) for name, *_, section in rows)
    # Compilers split parts from functions: `f() [clone .cold]`.
    whole = [name for name in sections if "[clone" not in name]
    grouped = group_by(whole, lambda name: name.partition("(")[0])
    return {name: [sections[one] for one in names] for name, names in grouped.items()}


# The section of stubs, OPGEN_STUB of both targets.
_STUBS = "opgen_stubs"
# Part of the text in each body that `opgen stub` wrote.
_SKELETON = "opgen stub wrote"
_MOST_ROWS = 10
_MOST_OPERATORS = 5
# Options that `opgen stub` does not have.
_OF_TREES = frozenset({"--shards", "--python", "--frameworks"})


def describe_omissions(
    context: Context,
    inputs: Inputs,
    library: Path,
    left_out: Collection[str],
    sources: Iterable[Path] = (),
) -> Iterator[str]:
    """Yield what a library lacks, in lines, for an author who may believe that it is complete.

    `left_out` are kernel sources that were not compiled, because there is no CUDA. `sources` are all.
    """
    functions = context.registry.functions
    unselected = sum(1 for f in functions if not context.keeps(f))
    if unselected:
        yield f"--select leaves out {unselected} of {counted(len(functions), 'operator')}"
    for source in left_out:
        yield f"{shown_path(Path(source))} is left out: this PyTorch is built without CUDA"
    try:
        yield from _describe_rows(context, library)
        kernels = find_stubs(context, library)
        compiled = (path for path in sources if str(path) not in left_out)
        skeletons = find_skeletons(context, compiled)
        yield from describe_kernels(replace(kernels, skeletons=skeletons), context, inputs)
    except (OSError, ValueError) as error:
        yield f"which kernels are stubs is unknown: {error}"


def _describe_rows(context: Context, library: Path) -> Iterator[str]:
    """Yield a line for each device whose rows of existing functions are left out: nothing in the library names these."""
    content = library.read_bytes() if context.target.required_package else b""
    for key, rows in context.registered.items():
        names = (
            row.kernel.cpp_name
            for row in rows
            if row.kind is RegistrationKind.existing and row.kernel
        )
        parts = (re.findall(r"\w+", name.partition("<")[0]) for name in names)
        missing = [p for p in parts if "".join(f"{len(n)}{n}" for n in p).encode() not in content]
        if content and missing and key in OPTIONAL_DEVICES:
            yield describe_omission(len(missing), key)


class Kernels(Struct, frozen=True):
    """The state of a linked library's kernels.

    `stubs` are still stubs. `partly` has kernels of which only some overloads are stubs, each with the number of all
    overloads. `unknown` are kernels without a symbol, because the library is stripped. `of_formulas` are functions of
    formulas that are stubs, or that have a stub among the overloads that a formula may call. `skeletons` have the empty
    body that `opgen stub` wrote, with its place.
    """

    stubs: tuple[AuthorKernel, ...] = ()
    partly: tuple[tuple[AuthorKernel, int], ...] = ()
    unknown: tuple[AuthorKernel, ...] = ()
    of_formulas: tuple[AuthorFunction, ...] = ()
    skeletons: tuple[tuple[AuthorKernel, str], ...] = ()


def find_stubs(context: Context, library: Path) -> Kernels:
    """Return the kernels that are stubs in a linked library.

    If the author defined a kernel in any source, the linker has chosen that definition, else the stub. Stubs are in a
    section of their own, so the section of the kernel's symbol shows which one it chose. Raises as `sections_of_functions`.
    """
    sections = sections_of_functions(library)
    kept = (m for m in missing_functions(context) if m.kept)
    stubs: list[AuthorKernel] = []
    partly: list[tuple[AuthorKernel, int]] = []
    unknown: list[AuthorKernel] = []
    for function, overloads in group_by(kept, lambda m: f"{m.namespace}::{m.function}").items():
        linked = sections.get(function, ())
        number = linked.count(_STUBS)
        if not linked:
            unknown += overloads
        elif number == len(linked):
            stubs += overloads
        elif number:
            partly.append((overloads[0], number))
    of_formulas = {f.full_name: f for f in reversed(kept_functions(context))}
    left = [
        function
        for name, function in reversed(of_formulas.items())
        if _STUBS in sections.get(name, ())
    ]
    return Kernels(tuple(stubs), tuple(partly), tuple(unknown), of_formulas=tuple(left))


def find_skeletons(
    context: Context, sources: Iterable[Path]
) -> tuple[tuple[AuthorKernel, str], ...]:
    """Return the kernels whose bodies in `sources` are still those that `opgen stub` wrote, with their places."""
    functions = {f'"{skeleton_reason(m)}"': m for m in missing_functions(context) if m.kept}
    found: list[tuple[AuthorKernel, str]] = []
    for path in sources:
        text = find_cpp_text(path)
        if text is None or _SKELETON not in text:
            continue
        source = Source(shown_path(path), text)
        lexed = read_cpp(source)
        for reason, m in functions.items():
            at = lexed.code.find(reason)
            if at >= 0 and not lexed.is_dead(at):
                found.append((m, f"{source.path}:{source.location(at).line}"))
    return tuple(found)


def describe_kernels(kernels: Kernels, context: Context, inputs: Inputs) -> Iterator[str]:
    """Yield the lines that tell an author which kernels are missing, and how to write them."""
    unwritten = (*kernels.stubs, *(m for m, _ in kernels.partly))
    rows = [
        *((m.key.name, m.name, _place(m, context)) for m in kernels.stubs),
        *(
            (m.key.name, f"{m.name} ({number} of its overloads)", _place(m, context))
            for m, number in kernels.partly
        ),
        *((m.key.name, m.name, f"{place}: its body is empty") for m, place in kernels.skeletons),
    ]
    number = len(rows) + sum(more - 1 for _, more in kernels.partly)
    are = counted(number, "kernel is a stub", "kernels are stubs")
    yield from _table(f"{are}, which a call reports as missing:", rows)
    functions = kernels.of_formulas
    of = counted(
        len(functions), "function of formulas is a stub", "functions of formulas are stubs"
    )
    named = [(f.full_name, place_of(f)) for f in functions]
    yield from _table(f"{of}, which a gradient reports as missing:", named)
    if unwritten or functions:
        operators = (*(m.operator for m in unwritten), *(f.operator for f in functions))
        yield f"to see what to write: {_stub_command(operators, context, inputs)}"
    if kernels.unknown:
        names = counted(len(kernels.unknown), "kernel")
        yield f"whether {names} are stubs is unknown: the library is stripped"


def _table(head: str, rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield a line above the first rows, with columns of equal width, and how many more there are; none without rows."""
    if not rows:
        return
    yield head
    widths = [max(map(len, column)) for column in zip(*rows[:_MOST_ROWS])][:-1]
    for *row, last in rows[:_MOST_ROWS]:
        columns = (f"{text:{width}}" for text, width in zip(row, widths))
        yield f"  {' '.join((*columns, last))}".rstrip()
    if len(rows) > _MOST_ROWS:
        yield f"  and {len(rows) - _MOST_ROWS} more"


def _place(m: AuthorKernel, context: Context) -> str:
    """Return the place of the kernel's row in the YAML, or of the operator's name."""
    f = context.registry.find_function(m.operator)
    if f is None or m.within:
        return ""
    kernel = f.find_kernel(m.key)
    return (f.span if kernel is None or kernel.name != m.name else f.spans.kernel(m.key)).place


def _stub_command(operators: Iterable[str], context: Context, inputs: Inputs) -> str:
    """Return the command that prints the kernels and functions of these operators to fill in."""
    found = (context.registry.find_function(name) for name in dict.fromkeys(operators))
    roots = list(dict.fromkeys(f.root_name for f in found if f is not None))
    options = [option for option in options_of(inputs) if option[0] not in _OF_TREES]
    named = roots if len(roots) <= _MOST_OPERATORS else []
    return command_words("opgen", "stub", *inputs.yaml, *named, options=options)
