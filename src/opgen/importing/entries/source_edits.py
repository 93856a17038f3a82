"""Edit the sources of imported operators: what the YAML registers leaves them, and snippets are included."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from opgen.diagnostics import Edit, Span
from opgen.importing.common.registrations import Definition, KernelKind, Problems, Registration
from opgen.importing.cpp.constants import Call
from opgen.importing.cpp.macros import DEF
from opgen.importing.cpp.reader import Block, Statement
from opgen.importing.cpp.text import CppText, Directive
from opgen.importing.entries.merge import Entry, leave_out

# A call, what it registers, and which parts of that the YAML has: schemas and kernels.
_Call = tuple[Call | None, Sequence[Registration], Sequence[bool]]
# Kernels that `m.impl` takes as they are written; the others may be options of `torch::RegisterOperators`.
_NAMED = (KernelKind.function, KernelKind.unnamed)
_STAYS = "it stays as it is"
_DEFINES = re.compile(r"(\w*\s*(?:\.|->)\s*)def\b")
# It says something of the operators that the same block defines.
_PYTHON_MODULE = re.compile(r"\w+\s*\.\s*(?:set_python_module|impl_abstract_pystub)\s*\([^()]*\)")
_VARIABLE = re.compile(r"\w*")
_SEMICOLON = re.compile(r"\s*;")
_COMMENTS = re.compile(r"(?:[ \t]*(?://[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)[ \t]*\r?\n)+")
_LINE_END = re.compile(r"[ \t]*(?:\r?\n|\Z)")


def edit_sources(
    opened: Iterable[Block],
    statements: Iterable[Statement],
    entries: Sequence[Entry],
    problems: Problems,
) -> list[Edit]:
    """Return the edits after which the sources register only what the entries do not.

    A block of which nothing remains goes as a whole, and one that defines operators becomes a fragment, since the
    generated code has the library. Operators whose registrations cannot be edited stay by hand as a whole: their entries
    are left out, and reported.
    """
    for entry in entries:
        if entry.left_out:
            continue
        if entry.span.source.path.endswith((".py", ".pyi")):
            leave_out(entry, "Python defines it", problems, _STAYS)
        elif entry.others or any(row.others for row in entry.rows.values()):
            leave_out(entry, "its registrations differ by #if", problems, _STAYS)
    edits = _of_statements(list(_merged(statements)), entries, problems)
    written = [entry for entry in entries if not entry.left_out]
    namespaces = {entry.namespace for entry in written}
    for block in opened:
        own = edits.setdefault(block.text, [])
        head = block.head
        if head is not None and _is_empty(block, own):
            start = _with_comments(block.text, head.start)
            own.append(Edit(block.text.span(start, block.end + 1), ""))
        elif head is not None and block.kind == DEF and block.namespace in namespaces:
            stable = "STABLE_" if "STABLE" in head.text else ""
            arguments = f"{block.namespace}, {block.variable}"
            own.append(Edit(head, f"{stable}TORCH_LIBRARY_FRAGMENT({arguments})"))
    kept = [edit for text, own in edits.items() for edit in _without_empty_lines(text, own)]
    return [*kept, *_snippets(written)]


def _merged(statements: Iterable[Statement]) -> Iterable[Statement]:
    """Return each statement once: that of a function that registers is read for each library with which it is called."""
    found: dict[tuple[CppText, int, int], Statement] = {}
    for one in statements:
        key = one.text, one.start, one.end
        first = found.setdefault(key, one)
        if first is not one:
            pairs = zip(first.registered, one.registered)
            both = [(call, [*made, *more]) for (call, made), (_, more) in pairs]
            found[key] = replace(first, registered=both)
    return found.values()


def _of_statements(
    statements: Sequence[Statement], entries: Sequence[Entry], problems: Problems
) -> dict[CppText, list[Edit]]:
    """Return the edits of all statements by source. Entries of a statement of which only a part could go are left out."""
    while True:
        written = {entry.name: entry for entry in entries if not entry.left_out}
        edits: dict[CppText, list[Edit]] = {}
        stays: dict[str, Entry] = {}
        for statement in statements:
            own = _of_statement(statement, written)
            if own is None:
                made = [one for _, some in statement.registered for one in some]
                names = (f"{one.namespace}::{one.name}" for one in made)
                stays |= {name: written[name] for name in names if name in written}
            else:
                edits.setdefault(statement.text, []).extend(own)
        if not stays:
            return edits
        for entry in stays.values():
            leave_out(entry, "only a part of its registration can be edited", problems, _STAYS)


def _snippets(entries: Iterable[Entry]) -> Iterator[Edit]:
    """Yield an edit for each source with a snippet: its `#include`, at the end of the file or of the functions' `#if`."""
    called = (row.function for entry in entries for row in entry.rows.values())
    declared = (None if function is None else function.declaration for function in called)
    sources: dict[str, tuple[CppText, set[int]]] = {}
    for one in declared:
        if one is not None and one.text is not None:
            text = one.text
            around = text.branch_chain(one.start)
            end = around[0].end if around else len(text.source.text)
            sources.setdefault(one.snippet, (text, set()))[1].add(end)
    for snippet, (text, ends) in sources.items():
        written = text.source.text
        if f'"{snippet}"' not in written:
            end = ends.pop() if len(ends) == 1 else len(written)
            place = end if end == len(written) else written.rfind("\n", 0, end) + 1
            line_end = "\n" if written[place - 1 : place] not in ("\n", "") else ""
            yield Edit(text.span(place, place), f'{line_end}\n#include "{snippet}"\n')


def _of_statement(statement: Statement, written: Mapping[str, Entry]) -> list[Edit] | None:
    """Return the edits of a statement; None if there are none after which only what the entries lack remains."""
    text, start, end = statement.text, statement.start, statement.end
    calls = [
        (call, made, [_has(one, written) for one in made]) for call, made in statement.registered
    ]
    if not any(any(parts) for _, _, parts in calls):
        return []
    inside = [d for d in text.directives if start <= d.start < end]
    semicolon = _SEMICOLON.match(text.masked, end)
    if all(parts and all(parts) for _, _, parts in calls) and _is_balanced(inside):
        if semicolon is not None and _last_before(text, start) in "{};":
            end = semicolon.end()
        if statement.is_older:
            start = _with_comments(text, start)
        return [Edit(text.span(start, end), "")]
    if inside or statement.is_older:
        return (
            None if inside or semicolon is None else _of_older(text, start, semicolon.end(), calls)
        )
    some = [_of_call(text, *one) for one in calls]
    return None if None in some else [edit for own in some for edit in own or ()]


def _of_older(text: CppText, start: int, end: int, calls: Sequence[_Call]) -> list[Edit] | None:
    """Return the edit that leaves the kernels of `torch::RegisterOperators`; None if they are not known."""
    lines = ""
    for _, made, parts in calls:
        kernel = _kernel_alone(made, parts)
        is_known = all(r.kernel.kind in _NAMED for r in made if not isinstance(r, Definition))
        if not (parts and is_known) or (kernel is None and not all(parts)):
            return None
        if kernel is not None:
            namespace = made[0].namespace
            lines += f"TORCH_LIBRARY_FRAGMENT({namespace}, m) {{\n  m.{kernel};\n}}\n"
    return [Edit(text.span(start, end), lines.rstrip("\n"))]


def _of_call(
    text: CppText, call: Call | None, made: Sequence[Registration], parts: Sequence[bool]
) -> list[Edit] | None:
    """Return the edits of a call in a chain of which a part remains; None if there are none that do it."""
    if not any(parts):
        return []
    if call is None:
        return None
    start, end = call.span.start, call.span.end
    if all(parts):
        variable = _VARIABLE.match(text.masked, start)
        return [Edit(text.span(start if variable is None else variable.end(), end), "")]
    method, kernel = _DEFINES.match(text.masked, start), _kernel_alone(made, parts)
    if method is None or kernel is None:
        return None
    return [Edit(text.span(start, end), f"{method[1]}{kernel}")]


def _kernel_alone(made: Sequence[Registration], parts: Sequence[bool]) -> str | None:
    """Return the call that registers the kernel if the YAML has the schema alone; None if that is not what it has."""
    kernels = [one.kernel for one in made if not isinstance(one, Definition)]
    # In a macro, the kernel has no place of its own.
    if list(parts) != [True, False] or len(kernels) != 1 or kernels[0].span == made[0].span:
        return None
    return f'impl("{made[0].namespace}::{made[0].name}", {kernels[0].span.text})'


def _has(one: Registration, written: Mapping[str, Entry]) -> bool:
    """Return whether the YAML has a registration: a schema or a kernel."""
    entry = written.get(f"{one.namespace}::{one.name}")
    if isinstance(one, Definition):
        return entry is not None
    row = None if entry is None else entry.rows.get(one.key)
    return row is not None and bool(row.written)


def _is_empty(block: Block, edits: Iterable[Edit]) -> bool:
    """Return whether the edits leave nothing in a block but white space, comments and branches of `#if`."""
    text, start, end = block.text, block.start, block.end
    inside = [d for d in text.directives if start <= d.start < end]
    if not _is_balanced(inside) or any(d.word == "include" for d in inside):
        return False
    rest, position = "", start
    for edit in sorted(edits, key=lambda edit: edit.span.start):
        if start <= edit.span.start and edit.span.end <= end and position <= edit.span.start:
            rest += text.code[position : edit.span.start] + edit.replacement
            position = edit.span.end
    rest = _PYTHON_MODULE.sub("", rest + text.code[position:end])
    return position > start and not rest.strip(" \t\r\n;")


def _with_comments(text: CppText, start: int) -> int:
    """Return where the comments directly above a block begin, or its own start; comments that begin a file stay."""
    block, written = start, text.source.text
    line = written.rfind("\n", 0, start) + 1
    if written[line:start].strip():
        return start
    while line and not text.code[(above := written.rfind("\n", 0, line - 1) + 1) : line].strip():
        if above == 0:
            return block
        if not written[above:line].strip():
            break
        line = above
        if _COMMENTS.fullmatch(written[line:block].rstrip(" \t")):
            start = line
    return start


def _is_balanced(directives: Iterable[Directive]) -> bool:
    return not sum(d.word.startswith("if") - (d.word == "endif") for d in directives)


def _last_before(text: CppText, offset: int) -> str:
    """Return the last character before an offset that is not white space; `;` at the start of the file."""
    while offset and text.masked[offset - 1].isspace():
        offset -= 1
    return text.masked[offset - 1] if offset else ";"


def _without_empty_lines(text: CppText, edits: Iterable[Edit]) -> list[Edit]:
    """Join removals that are next to each other; remove the lines that they leave empty, and one of two blank lines."""
    written, joined = text.source.text, list[Edit]()
    for edit in sorted(edits, key=lambda edit: edit.span.start):
        last = joined[-1] if joined else edit
        between = written[last.span.end : edit.span.start]
        if not last.replacement and not edit.replacement and not between.strip() and joined:
            joined[-1] = Edit(text.span(last.span.start, max(last.span.end, edit.span.end)), "")
        else:
            joined.append(edit)
    return [edit if edit.replacement else _with_lines(text, edit.span) for edit in joined]


def _with_lines(text: CppText, removed: Span) -> Edit:
    written, start, end = text.source.text, removed.start, removed.end
    line = start
    while line and written[line - 1] in " \t":
        line -= 1
    after = _LINE_END.match(written, end)
    if (line == 0 or written[line - 1] == "\n") and after is not None:
        start, end = line, after.end()
        if written.endswith("\n\n", 0, start) and (end == len(written) or written[end] == "\n"):
            start -= 1
    return Edit(text.span(start, end), "")
