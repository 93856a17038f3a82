"""Functions, methods and operators of Python as a stub declares them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from keyword import iskeyword

from opgen.python.overloads import PythonFunction
from opgen.python.signatures import PythonArgument, PythonSignature
from opgen.views.python_calls import PythonCalls

# The methods behind Python's operators, as runtime/python/src/number.cpp finds them, and what Python
# calls each, with the number on the right and on the left.
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
    "add_": ("__iadd__", ""),
    "sub_": ("__isub__", ""),
    "mul_": ("__imul__", ""),
    "div_": ("__itruediv__", ""),
    "bitwise_and_": ("__iand__", ""),
    "bitwise_or_": ("__ior__", ""),
    "bitwise_xor_": ("__ixor__", ""),
    "lt": ("__lt__", ""),
    "le": ("__le__", ""),
    "eq": ("__eq__", ""),
    "ne": ("__ne__", ""),
    "gt": ("__gt__", ""),
    "ge": ("__ge__", ""),
}
_UNARY = {"neg": "__neg__", "abs": "__abs__", "bitwise_not": "__invert__"}
# Every object has these, and they return a bool there.
_OBJECTS_OWN = ("__eq__", "__ne__")
_NUMBER = "_Number"


def function_declarations(f: PythonFunction, calls: PythonCalls) -> Iterator[str]:
    """`def add(…): …`, of each overload; nothing for a name that is a keyword of Python."""
    if iskeyword(f.name):
        return
    texts = list(_overloads(f, calls))
    if len(texts) == 1:
        yield texts[0]
        return
    yield from (f"@overload\n{text}" for text in texts)


def _overloads(f: PythonFunction, calls: PythonCalls) -> Iterator[str]:
    """All ways to call `f`, but for those that an overload tried before takes every call of."""
    before: list[PythonSignature] = []
    for o in f.overloads:
        signature = calls.signature(o, method=f.method)
        if any(_takes_all_of(one, signature, calls) for one in before):
            continue
        before.append(signature)
        yield signature.signature_str_pyi(calls.spellings)
        vararg = signature.signature_str_pyi_vararg(calls.spellings)
        if vararg is not None:
            yield vararg


def _takes_all_of(one: PythonSignature, other: PythonSignature, calls: PythonCalls) -> bool:
    """Whether every call of `other` fits `one`, as far as names and annotations tell."""
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
    """What may be passed for `a`."""
    return set((a.annotation or calls.spellings.python.taken(a.type)).split(" | "))


def dunder_declarations(methods: Iterable[PythonFunction], calls: PythonCalls) -> Iterator[str]:
    """`def __add__(self, other: Tensor, /) -> Tensor: ...`, of the methods behind Python's operators."""
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
    # pow(a, b, c) is no call of a tensor, and yet the slot is one of three.
    modulus = ", mod: None = None" if name in ("__pow__", "__rpow__") else ""
    return f"def {name}(self, other: {operand}{modulus}, /) -> Tensor: ..."


def _operands(f: PythonFunction, calls: PythonCalls) -> tuple[str, ...]:
    """What may stand on the right of an operator: a method's only argument that has to be given."""
    found: set[str] = set()
    for o in f.overloads:
        signature = calls.signature(o, method=True)
        required = [a for a in signature.arguments() if a.default is None]
        if len(required) == 1 and required == list(signature.input_args[:1]):
            found.update(_words(required[0], calls))
    return tuple(word for word in ("Tensor", _NUMBER) if word in found)
