"""Describe an operator or a diagnostic code: the output of `opgen explain`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from opgen.autograd.derivative import (
    DifferentiabilityInfo,
    DifferentiableFunction,
    SavedAttribute,
)
from opgen.autograd.kernels import AutogradKernel, autograd_kernel, differentiable_outputs
from opgen.cpp.cpp_types import TypeSpelling, spell
from opgen.diagnostics import Code
from opgen.emit.common.base import GeneratedFile, generated
from opgen.emit.common.callables import callable_expression
from opgen.emit.common.context import Context
from opgen.emit.kernels.headers import meta_roots
from opgen.emit.kernels.stubs import missing_functions
from opgen.emit.torch.autograd import AutogradRow, find_autograd_row
from opgen.emit.torch.functionalize import find_functionalized, find_twin_rows
from opgen.model.derivatives import DEFAULT_KEY, TextPlace
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.registry import OutlessGroup, StructuredGroup
from opgen.resolve.computed_table import PYTHON_REASON, Cell, computed_table, explained_table
from opgen.resolve.dispatch_tables import RegistrationKind
from opgen.targets.base import FileKind

_AUTOGRAD = {
    "opgen::autograd_of_out": "there is no gradient through an out argument: tensors that require one are rejected",
    "opgen::autograd_of_written": "no formula: computing a gradient through its results or written arguments is an error",
}
_NO_FORMULA = "no formula: computing a gradient through it is an error"
_DECOMPOSES = "decomposes into the hidden {0} while it is traced, which writes the same arguments and returns the new tensors"


# A row of the dispatch table: a key, what is called for it, which is "nothing" if PyTorch acts itself, and the reason.
_Cell: TypeAlias = tuple[str, str, str]


def _others(context: Context, f: NativeFunction) -> Iterator[_Cell]:
    """Yield the functions registered for `f` and keys that its dispatch table does not name."""
    files = context.target.plan.kinds
    if f.manual_kernel_registration:
        return
    if FileKind.REGISTER_AUTOGRAD in files:
        row = find_autograd_row(context, f)
        if row is not None:
            yield from _autograd(f, row)
    if FileKind.REGISTER_FUNCTIONALIZE in files:
        yield from _functionalize(context, f)


def _autograd(f: NativeFunction, row: AutogradRow) -> Iterator[_Cell]:
    if row.kernel:
        function = row.kernel.function
        reason = _AUTOGRAD.get(function.removesuffix("_uncounted"), _NO_FORMULA)
        yield "Autograd", function, reason
    if row.tracking:
        what = "views" if f.is_view_op else "writes"
        reason = _NO_FORMULA if row.refusal else f"reports its {what} to autograd"
        yield "ADInplaceOrView", row.tracking.function, reason


def _functionalize(context: Context, f: NativeFunction) -> Iterator[_Cell]:
    found = find_functionalized(context, f)
    if found is not None:
        function, sibling = found
        yield "Functionalize", function, f"replaced by {sibling.func.name}, which {_does(f)}"
        return
    twins, rows = find_twin_rows(context, f) if f.is_library else ((), ())
    for key, function in rows:
        if key == "CompositeImplicitAutograd":
            reason = _DECOMPOSES.format(twins[0].func.name)
        elif len(rows) > 1:
            reason = "returns new tensors, which replace those that it would write"
        else:
            reason = f"replaced by the hidden {twins[0].func.name}, which {_does(f)}"
        yield key, function, reason
    is_own = f.find_kernel(DispatchKey.Functionalize) is not None
    if (
        f.is_library
        and f.func.is_mutable
        and not (rows or is_own or f.has_composite_implicit_autograd_kernel)
    ):
        reason = "PyTorch itself replaces operators that write tensors and return only new tensors"
        yield "Functionalize", "nothing", reason


def _does(f: NativeFunction) -> str:
    return "copies" if f.is_view_op else "returns the values that would be written"


# A word, and what it stands for.
_Row: TypeAlias = tuple[str, str]

_KERNELS = {
    AutogradKernel.formula: "a kernel that records the node",
    AutogradKernel.derived: "a kernel that records nothing: no output has a gradient",
    AutogradKernel.not_implemented: "nothing: there is no formula",
    None: "nothing: its gradients are those of the operators that it calls",
}


def _gradient_lines(context: Context, f: NativeFunction) -> tuple[str, ...]:
    """Return the lines about `f`; none if the library has no formulas."""
    if not context.gradients:
        return ()
    fn = _gradients_of(context, f)
    rows: list[_Row | str] = [("autograd", _kernel(context, fn))]
    for key in sorted(fn.infos, key=lambda key: (key != DEFAULT_KEY, key)):
        if key != DEFAULT_KEY:
            rows.append(f"for {key}")
        rows += _gradient_rows(fn, key, context.target.cpp.spelling)
    width = max(10, *(len(row[0]) for row in rows if not isinstance(row, str))) + 1
    return tuple(
        row if isinstance(row, str) else f"{row[0]:<{width}}{row[1]}".rstrip() for row in rows
    )


def _gradients_of(context: Context, f: NativeFunction) -> DifferentiableFunction:
    return next(fn for fn in context.gradients if fn.func.full_name == f.full_name)


def _kernel(context: Context, fn: DifferentiableFunction) -> str:
    kernel = autograd_kernel(fn)
    is_error = FileKind.REGISTER_AUTOGRAD in context.target.plan.kinds
    if kernel is AutogradKernel.not_implemented and is_error:
        return "an error in the backward pass: there is no formula"
    return _KERNELS[kernel]


def _gradient_rows(fn: DifferentiableFunction, key: str, spelling: TypeSpelling) -> Iterator[_Row]:
    info, f = fn.infos[key], fn.func
    if info.op is not None:
        yield "node", info.op
    if info.func is not f:
        yield "formulas", f"those of {info.func.full_name}"
    for derivative in info.derivatives:
        names = ", ".join(derivative.var_names)
        yield from _formula(names, derivative.original_formula.text, derivative.place)
    yield from _without_gradient(info)
    yield from _saved(info, info.all_saved_inputs, spelling)
    yield from _saved(info, info.all_saved_outputs, spelling)
    outputs = differentiable_outputs(fn, key)
    if info.has_derivatives and len(outputs) < len(f.func.returns):
        condition = info.output_differentiability_condition
        shown = ", ".join(outputs) or "none"
        yield "outputs", f"with a gradient: {shown}"
        if condition is not None:
            yield "", f"if {condition.text}"
    for tangent in fn.forward[key]:
        names = ", ".join(tangent.var_names)
        yield from _formula(f"{names}_t", tangent.formula.text, tangent.place)
    if not fn.forward[key] and info.has_derivatives:
        yield "forward", "no formula: a tangent of an argument is an error"


def _formula(names: str, formula: str, place: TextPlace) -> Iterator[_Row]:
    span = place.span
    where = f"{span.source.path}:{span.source.location(span.start).line}"
    yield names, f"{' '.join(formula.split())}  ({where})"


def _without_gradient(info: DifferentiabilityInfo) -> Iterator[_Row]:
    """Yield the arguments without a gradient, and why they have none."""
    if not info.has_derivatives:
        return
    wanted = {b.name for b in info.args_with_derivatives}
    for argument in info.func.func.arguments.flat_all:
        if argument.name in wanted:
            continue
        if argument.name in info.non_differentiable_arg_names:
            yield argument.name, "no gradient: it is marked non_differentiable"
        elif argument.type.is_tensor_like():
            yield argument.name, "no gradient: there is no formula"
        else:
            yield argument.name, f"no gradient: its type is {argument.type}"


def _saved(
    info: DifferentiabilityInfo, saved: Iterable[SavedAttribute], spelling: TypeSpelling
) -> Iterator[_Row]:
    for attribute in saved:
        readers = [
            name
            for d in info.derivatives
            if any(s.name == attribute.name for s in (*d.saved_inputs, *d.saved_outputs))
            for name in d.var_names
        ]
        value = "" if attribute.expr == attribute.name else f" = {attribute.expr}"
        why = f"for the gradient of {', '.join(dict.fromkeys(readers))}"
        yield "saves", f"{spell(attribute.type, spelling)} {attribute.name}{value}, {why}"


def build_explanation(context: Context, f: NativeFunction) -> GeneratedFile:
    """Return everything that follows from the entry of `f`."""
    span = f.spans.entry
    rows = _rows(context, f, explained_table(context.registry, f))
    width = max((len(key) for key, *_ in rows), default=0)
    # The operators whose kernels serve `f`: itself, and its structured group.
    structured = context.registry.structured_group_of(f)
    owners = {f.full_name}
    if structured is not None:
        owners |= {structured.functional.full_name, structured.primary.full_name}
    has_twins = FileKind.REGISTER_TWINS in context.target.plan.kinds and f.is_library
    suffixes = ["", "_ops", "_native", *(["_meta"] if f.root_name in meta_roots(context) else [])]
    return generated(
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
        cells=tuple((key.ljust(width), *rest) for key, *rest in rows),
        blank=" " * width,
        # What replaces it where nothing may be written.
        hidden=tuple(str(t.func) for t in find_twin_rows(context, f)[0]) if has_twins else (),
        gradients=_gradient_lines(context, f),
        signatures=tuple(_signatures(context, f)),
        to_write=tuple(m.to_write for m in missing_functions(context) if m.operator in owners)
        or (_NOTHING_TO_WRITE,),
        headers=tuple(context.library.header(f"ops/{f.root_name}{s}.h") for s in suffixes),
    )


_NOTHING_TO_WRITE = "nothing: all functions that it calls exist or are generated"


def build_summary(context: Context, f: NativeFunction) -> GeneratedFile:
    """Return the kind, group, dispatch table and signatures of `f`."""
    facts = [" ".join(line.split()) for line in _group_lines(context, f)]
    if f.tags:
        facts.append(f"tags {', '.join(sorted(f.tags))}")
    return generated(
        path="",
        template="operator.md.j2",
        name=f.full_name,
        schema=str(f.func),
        doc=_documentation(f, ""),
        kind=_kind(f),
        facts=tuple(facts),
        cells=tuple(_rows(context, f, computed_table(context.registry, f))),
        gradients=_gradient_lines(context, f),
        signatures=tuple(_signatures(context, f)),
    )


def build_code_page(code: Code) -> GeneratedFile:
    """Build the page of a diagnostic code: its meaning, and an example before and after the fix."""
    return generated(
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


def _rows(context: Context, f: NativeFunction, cells: Iterable[Cell]) -> list[_Cell]:
    """Return the dispatch table, and the other registrations of the target."""
    others = tuple(_others(context, f))
    taken = {key for key, *_ in others}
    rows: list[_Cell] = []
    node = None
    if f.full_name in context.recorded:
        node = _gradients_of(context, f).infos[DEFAULT_KEY].op
    for cell in cells:
        # One row for all keys of autograd.
        is_autograd = cell.registration is None and cell.key.name.startswith("Autograd")
        if is_autograd and node is not None:
            rows.append((cell.key.name, f"a kernel that records {node}", "it has formulas"))
        elif is_autograd and f.full_name in context.without_gradient:
            reason = "its formulas declare that it has no gradient"
            rows.append((cell.key.name, "a kernel that records nothing", reason))
        elif not (is_autograd and "Autograd" in taken):
            rows.append((cell.key.name, _called(context, cell), cell.reason))
    return [*rows, *others]


def _called(context: Context, cell: Cell) -> str:
    row = cell.registration
    if cell.reason == PYTHON_REASON:
        return "a Python function"
    if row is None or row.kind is RegistrationKind.fallthrough:
        return "nothing"
    return callable_expression(context, row)


def _signatures(context: Context, f: NativeFunction) -> Iterator[str]:
    spelling = context.target.cpp.spelling
    for variant in (v for v in Variant if v in f.variants):
        is_method = variant is Variant.method
        for signature in context.spell.cpp_signatures(f, method=is_method):
            text = signature.decl(spelling, scope="Tensor::" if is_method else "")
            yield f"{text} const" if is_method else text
