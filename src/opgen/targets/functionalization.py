"""Report operators that cannot be functionalized, for targets that functionalize every operator.

Functionalization replaces operators that write their arguments, and views, by operators that return
new tensors. opgen does not generate functionalization (see
docs/reference/torchgen-differences.md), but the code that it generates for such a target must work with it.
"""

from __future__ import annotations

from opgen import data
from opgen.diagnostics import Diagnostics
from opgen.model.function_schema import TENSOR
from opgen.model.native_function import NativeFunction
from opgen.model.registry import NativeFunctionsViewGroup, Registry

_WRITES_ALONE = frozenset(row[0] for row in data.read_exempt("V166"))


def report_unfunctionalizable(registry: Registry, diagnostics: Diagnostics) -> None:
    """Report operators for which functionalization has no replacement."""
    for group in registry.view_groups:
        if not group.composite and not group.view.is_library:
            _check_view(group, diagnostics)
    grouped = {id(f) for g in registry.groups for f in g.functions()}
    grouped |= {id(f) for g in registry.view_groups for f in g.functions()}
    for f in registry.functions:
        if id(f) not in grouped and not f.is_library:
            _check_alone(f, diagnostics)


def _check_view(group: NativeFunctionsViewGroup, diagnostics: Diagnostics) -> None:
    if group.view_copy is None:
        message = f"nothing replaces the view '{group.view.func.name}'"
        diagnostics.error("E0752", message, group.view.span)
        return
    for f in (group.view, group.view_inplace):
        if f is not None and not _views_first_argument(f):
            message = f"'{f.func.name}' does not view its first argument alone"
            diagnostics.error("E0750", message, f.span)


def _views_first_argument(f: NativeFunction) -> bool:
    arguments = f.func.arguments.flat_non_out
    aliased = tuple(a for a in arguments if a.annotation is not None)
    return aliased == arguments[:1] and arguments[0].type == TENSOR


def _check_alone(f: NativeFunction, diagnostics: Diagnostics) -> None:
    names = (str(f.func.name), str(f.func.name.name))
    written = next((a for a in f.func.arguments.flat_all if a.is_write), None)
    if (
        written is None
        or f.has_composite_implicit_autograd_kernel
        or not _WRITES_ALONE.isdisjoint(names)
    ):
        return
    diagnostics.error(
        "E0751",
        f"'{f.func.name}' writes '{written.name}', and no functional variant replaces it",
        f.span,
        labels=[(f.argument_type_span(written.name), "written here")],
    )
