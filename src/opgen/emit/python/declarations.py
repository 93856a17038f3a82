"""Functions, methods and operators of Python as a stub declares them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from keyword import iskeyword

from opgen.emit.common.context import Context
from opgen.emit.python.calls import PythonCalls
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.python.layout import with_docstring
from opgen.python.overloads import PythonFunction, PythonOverload
from opgen.python.signatures import PythonArgument, PythonSignature

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


# The methods that implement Python's operators, as runtime/python/src/number.cpp finds them, with Python's names for
# a tensor on the left and on the right.
_BINARY = {
    "add": ("__add__", "__radd__"),
    "sub": ("__sub__", "__rsub__"),
    "mul": ("__mul__", "__rmul__"),
    "div": ("__truediv__", "__rtruediv__"),
    "floor_divide": ("__floordiv__", "__rfloordiv__"),
    "remainder": ("__mod__", "__rmod__"),
    "pow": ("__pow__", "__rpow__"),
    "matmul": ("__matmul__", ""),
    "bitwise_and": ("__and__", "__rand__"),
    "bitwise_or": ("__or__", "__ror__"),
    "bitwise_xor": ("__xor__", "__rxor__"),
    "bitwise_left_shift": ("__lshift__", "__rlshift__"),
    "bitwise_right_shift": ("__rshift__", "__rrshift__"),
    "add_": ("__iadd__", ""),
    "sub_": ("__isub__", ""),
    "mul_": ("__imul__", ""),
    "div_": ("__itruediv__", ""),
    "bitwise_and_": ("__iand__", ""),
    "bitwise_or_": ("__ior__", ""),
    "floor_divide_": ("__ifloordiv__", ""),
    "remainder_": ("__imod__", ""),
    "bitwise_xor_": ("__ixor__", ""),
    "bitwise_left_shift_": ("__ilshift__", ""),
    "bitwise_right_shift_": ("__irshift__", ""),
    "lt": ("__lt__", ""),
    "le": ("__le__", ""),
    "eq": ("__eq__", ""),
    "ne": ("__ne__", ""),
    "gt": ("__gt__", ""),
    "ge": ("__ge__", ""),
}
_UNARY = {"neg": "__neg__", "abs": "__abs__", "bitwise_not": "__invert__"}
# Class object has these, too, with bool as the return type.
_OBJECTS_OWN = ("__eq__", "__ne__")
_NUMBER = "_Number"


def function_declarations(f: PythonFunction, calls: PythonCalls) -> Iterator[str]:
    """Yield `def add(…): …` for each overload; nothing if the name is a Python keyword."""
    if iskeyword(f.name):
        return
    texts = list(_overloads(f, calls))
    if len(texts) == 1:
        yield texts[0]
        return
    yield from (f"@overload\n{text}" for text in texts)


def _overloads(f: PythonFunction, calls: PythonCalls) -> Iterator[str]:
    """Yield the declarations of the overloads of `f`, except those that are never reached because an earlier overload
    accepts all their calls.
    """
    before: list[PythonSignature] = []
    for o in f.overloads:
        signature = calls.signature(o, method=f.method)
        if any(_takes_all_of(one, signature, calls) for one in before):
            continue
        before.append(signature)
        doc = documentation(o)
        yield with_docstring(signature.signature_str_pyi(calls.spellings), doc)
        vararg = signature.signature_str_pyi_vararg(calls.spellings)
        if vararg is not None:
            yield with_docstring(vararg, doc)


def _takes_all_of(one: PythonSignature, other: PythonSignature, calls: PythonCalls) -> bool:
    """Return whether `one` accepts every call of `other`, judged by names and annotations."""
    positions = [a.name for a in one.input_args]
    if [a.name for a in other.input_args] != positions[: len(other.input_args)]:
        return False
    theirs = {a.name: a for a in other.arguments()}
    for a in one.arguments():
        given = theirs.pop(a.name, None)
        if a.default is None and (given is None or given.default is not None):
            return False
        if given is not None and not _words(given, calls) <= _words(a, calls):
            return False
    return not theirs


def _words(a: PythonArgument, calls: PythonCalls) -> set[str]:
    """Return the types that may be passed for `a`."""
    return set((a.annotation or calls.spellings.python.argument_annotation(a.type)).split(" | "))


def dunder_declarations(methods: Iterable[PythonFunction], calls: PythonCalls) -> Iterator[str]:
    """Yield `def __add__(self, other: Tensor, /) -> Tensor: ...`, for the methods that implement Python's operators."""
    by_name = {f.name: f for f in methods}
    for name, (dunder, reflected) in _BINARY.items():
        operands = _operands(by_name[name], calls) if name in by_name else ()
        if operands and dunder not in by_name:
            ignored = "  # type: ignore[override]" if dunder in _OBJECTS_OWN else ""
            yield _dunder(dunder, " | ".join(operands)) + ignored
        if reflected and "Tensor" in operands:
            yield _dunder(reflected, _NUMBER)
    for name, dunder in _UNARY.items():
        if name in by_name:
            yield f"def {dunder}(self) -> Tensor: ..."


def _dunder(name: str, operand: str) -> str:
    # pow(a, b, c) is not supported for tensors, but Python's slot takes three arguments.
    modulus = ", mod: None = None" if name in ("__pow__", "__rpow__") else ""
    return f"def {name}(self, other: {operand}{modulus}, /) -> Tensor: ..."


def _operands(f: PythonFunction, calls: PythonCalls) -> tuple[str, ...]:
    """Return the type of the right operand of a Python operator: the only required argument of the method."""
    found: set[str] = set()
    for o in f.overloads:
        signature = calls.signature(o, method=True)
        required = [a for a in signature.arguments() if a.default is None]
        if len(required) == 1 and required == list(signature.input_args[:1]):
            found.update(_words(required[0], calls))
    return tuple(word for word in ("Tensor", _NUMBER) if word in found)
