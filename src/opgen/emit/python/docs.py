"""Write the text of `help()` for a Python function: documentation, schemas, variants, backends, tags, results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from opgen.emit.common.context import Context
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.python.overloads import PythonOverload

# Tags for compilers and tests, without information for callers.
_NOT_TOLD = frozenset(
    {
        "core",
        "cudagraph_unsafe",
        "flexible_layout",
        "generated",
        "inplace",
        "maybe_aliasing_or_mutating",
        "needs_contiguous_strides",
        "needs_exact_strides",
        "needs_fixed_stride_order",
        "out",
        "out_variant",
        "pointwise",
        "pt2_compliant_tag",
        "reduction",
    }
)


def documentation(o: PythonOverload) -> str | None:
    """Return the author's documentation of an overload: that of its operator, or else that of the out variant."""
    return o.base.doc or (None if o.out is None else o.out.doc)


class PythonDocs:
    """The facts of one library's operators."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def lines(self, o: PythonOverload) -> Iterator[str]:
        """Yield one line for each schema, with notes about the operator below it."""
        for f in filter(None, (o.base, o.out)):
            yield f"{f.namespace}::{self._context.spell.schema(f)}"
            yield f"    {'; '.join(self._facts(f))}"

    def _facts(self, f: NativeFunction) -> Iterator[str]:
        if f.func.is_out_fn():
            yield "called with out="
        else:
            yield " and ".join(sorted(v.name for v in f.variants))
        keys = self._backends.get(f.full_name)
        yield f"kernels for {', '.join(keys)}" if keys else "no kernel"
        result = _result(f)
        if result is not None:
            yield result
        tags = sorted(f.tags - _NOT_TOLD)
        if tags:
            yield f"tags {', '.join(tags)}"

    @cached_property
    def _backends(self) -> Mapping[str, list[str]]:
        """The dispatch keys that each operator has kernels for."""
        found: dict[str, list[str]] = {}
        for key, rows in self._context.registered.items():
            for row in rows if key is not DispatchKey.BackendSelect else ():
                found.setdefault(row.function.full_name, []).append(key.name)
        return found


def _result(f: NativeFunction) -> str | None:
    """Describe how results relate to arguments: which arguments are written or share memory."""
    if f.func.is_out_fn():
        return None
    if f.is_view_op:
        return "returns a view"
    written = f.func.arguments.mutable_arg_names
    return f"writes {', '.join(written)}" if written else None
