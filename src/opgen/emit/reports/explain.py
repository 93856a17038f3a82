"""Describe an operator or a diagnostic code: the output of `opgen explain`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from opgen.diagnostics.codes import Code
from opgen.emit.common.base import GeneratedFile, Record
from opgen.emit.common.callables import callable_expression
from opgen.emit.common.context import Context
from opgen.emit.kernels.headers import meta_roots
from opgen.emit.kernels.stubs import missing_functions
from opgen.emit.reports.gradients import gradient_lines, node_of
from opgen.emit.torch.rows import OtherRegistration, hidden_operators, other_registrations
from opgen.model.native_function import NativeFunction
from opgen.model.registry import OutlessGroup, StructuredGroup
from opgen.resolve.computed_table import PYTHON_REASON, Cell, computed_table, explained_table
from opgen.resolve.dispatch_tables import RegistrationKind


class TableCell(Record, frozen=True):
    """A row of the dispatch table; `blank` is as wide as `key`."""

    key: str
    blank: str
    target: str
    reason: str


class ExplanationFile(GeneratedFile, frozen=True):
    """`doc` are the lines of the author's documentation, after a blank one."""

    name: str
    schema: str
    doc: tuple[str, ...]
    kind: str
    variants: str
    tags: str
    group: tuple[str, ...]
    place: str
    cells: tuple[TableCell, ...]
    hidden: tuple[str, ...]
    gradients: tuple[str, ...]
    signatures: tuple[str, ...]
    to_write: tuple[str, ...]
    headers: tuple[str, ...]


class SummaryFile(GeneratedFile, frozen=True):
    """An operator for the hover of an editor. `doc` are the lines of its documentation, after a blank one."""

    name: str
    schema: str
    doc: tuple[str, ...]
    kind: str
    facts: tuple[str, ...]
    cells: tuple[TableCell, ...]
    gradients: tuple[str, ...]
    signatures: tuple[str, ...]


class CodePage(GeneratedFile, frozen=True):
    code: str
    title: str
    explanation: str
    failing: tuple[str, ...]
    fixed: tuple[str, ...]
    scope: str


def build_explanation(context: Context, f: NativeFunction) -> GeneratedFile:
    """Return everything that follows from the entry of `f`."""
    span = f.spans.entry
    rows = _rows(context, f, explained_table(context.registry, f))
    width = max((len(row.key) for row in rows), default=0)
    return ExplanationFile(
        path="",
        template="operator.txt.j2",
        name=f.full_name,
        schema=str(f.func),
        doc=_documentation(f, "  "),
        kind=_kind(f),
        variants=", ".join(sorted(v.name for v in f.variants)),
        tags=", ".join(sorted(f.tags)) or "none",
        group=tuple(_group_lines(context, f)),
        place=f"{span.source.path}:{span.source.location(span.start).line}",
        cells=tuple(_cell(row, width) for row in rows),
        hidden=hidden_operators(context, f),
        gradients=gradient_lines(context, f),
        signatures=tuple(_signatures(context, f)),
        to_write=tuple(_to_write(context, f)) or (_NOTHING_TO_WRITE,),
        headers=tuple(_headers(context, f)),
    )


_NOTHING_TO_WRITE = "nothing: all functions that it calls exist or are generated"


def _to_write(context: Context, f: NativeFunction) -> Iterator[str]:
    owners = _kernel_owners(context, f)
    return (m.to_write for m in missing_functions(context) if m.operator in owners)


def build_summary(context: Context, f: NativeFunction) -> GeneratedFile:
    """Return the kind, group, dispatch table and signatures of `f`."""
    facts = [" ".join(line.split()) for line in _group_lines(context, f)]
    if f.tags:
        facts.append(f"tags {', '.join(sorted(f.tags))}")
    return SummaryFile(
        path="",
        template="operator.md.j2",
        name=f.full_name,
        schema=str(f.func),
        doc=_documentation(f, ""),
        kind=_kind(f),
        facts=tuple(facts),
        cells=tuple(_cell(r, 0) for r in _rows(context, f, computed_table(context.registry, f))),
        gradients=gradient_lines(context, f),
        signatures=tuple(_signatures(context, f)),
    )


def build_code_page(code: Code) -> CodePage:
    """Build the page of a diagnostic code: its meaning, and an example before and after the fix."""
    return CodePage(
        path="",
        template="code.txt.j2",
        code=code.code,
        title=code.title,
        explanation="\n\n".join(textwrap.fill(p, 92) for p in code.explanation.split("\n\n")),
        failing=() if code.example is None else _lines(code.example.failing),
        fixed=() if code.example is None else _lines(code.example.fixed),
        scope=code.scope,
    )


def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.encode("utf-8", "replace").decode().splitlines())


def _documentation(f: NativeFunction, margin: str) -> tuple[str, ...]:
    if f.doc is None:
        return ()
    return ("", *(f"{margin}{line}" if line else "" for line in f.doc.split("\n")))


def _kind(f: NativeFunction) -> str:
    parts = [f.func.kind().name]
    if "generated" in f.tags:
        parts.append("generated")
    if f.is_view_op:
        parts.append("a view")
    return ", ".join(parts)


def _group_lines(context: Context, f: NativeFunction) -> Iterator[str]:
    group = context.registry.structured_group_of(f) or context.registry.group_of(f)
    if group is not None:
        members = ", ".join(str(member.func.name) for member in group.functions())
        yield f"group      {members}{_structured(group)}"
    views = context.registry.view_group_of(f)
    if views is not None:
        members = ", ".join(str(member.func.name) for member in views.functions())
        yield f"views      {members}"


def _structured(group: StructuredGroup) -> str:
    if not isinstance(group, OutlessGroup):
        return " (structured)" if group.structured else ""
    makes = "views" if group.all_views else "views and new tensors" if group.has_views else ""
    return f" (structured without an out variant: meta makes {makes or 'new tensors'})"


def _rows(context: Context, f: NativeFunction, cells: Iterable[Cell]) -> list[OtherRegistration]:
    """Return the dispatch table, and the other registrations of the target."""
    others = other_registrations(context, f)
    taken = {row.key for row in others}
    rows, node = [], node_of(context, f)
    for cell in cells:
        # One row for all keys of autograd.
        is_autograd = cell.registration is None and cell.key.name.startswith("Autograd")
        if is_autograd and node is not None:
            rows.append(
                OtherRegistration(cell.key.name, f"a kernel that records {node}", "it has formulas")
            )
        elif is_autograd and f.full_name in context.without_gradient:
            reason = "its formulas declare that it has no gradient"
            rows.append(OtherRegistration(cell.key.name, "a kernel that records nothing", reason))
        elif not (is_autograd and "Autograd" in taken):
            rows.append(OtherRegistration(cell.key.name, _called(context, cell), cell.reason))
    return [*rows, *others]


def _called(context: Context, cell: Cell) -> str:
    row = cell.registration
    if cell.reason == PYTHON_REASON:
        return "a Python function"
    if row is None or row.kind is RegistrationKind.fallthrough:
        return "nothing"
    return callable_expression(context, row)


def _cell(row: OtherRegistration, width: int) -> TableCell:
    return TableCell(row.key.ljust(width), " " * width, row.function, row.reason)


def _signatures(context: Context, f: NativeFunction) -> Iterator[str]:
    spelling = context.target.cpp.spelling
    for method in (False, True):
        wanted = "method" if method else "function"
        if wanted not in {v.name for v in f.variants}:
            continue
        for signature in context.spell.cpp_signatures(f, method=method):
            if method:
                yield f"{signature.decl(spelling, scope='Tensor::')} const"
            else:
                yield signature.decl(spelling)


def _kernel_owners(context: Context, f: NativeFunction) -> frozenset[str]:
    """Return the operators whose kernels serve `f`: itself, and its structured group."""
    group = context.registry.structured_group_of(f)
    if group is None:
        return frozenset({f.full_name})
    return frozenset({f.full_name, group.functional.full_name, group.primary.full_name})


def _headers(context: Context, f: NativeFunction) -> Iterator[str]:
    root = f.root_name
    suffixes = ["", "_ops", "_native"]
    suffixes += ["_meta"] if root in meta_roots(context) else []
    yield from (context.library.header(f"ops/{root}{suffix}.h") for suffix in suffixes)
