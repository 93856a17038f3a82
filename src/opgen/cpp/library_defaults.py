"""Defaults that C++ takes and PyTorch does not: its parser refuses them, or a call without the argument ends in an error.

Source: `torch._C.parse_schema` of PyTorch 2.13, asked for defaults of every type, and calls of C++ kernels with them.
"""

from __future__ import annotations

import re

from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type

# What lists with a default hold. An enumeration is an int to PyTorch's parser.
_IN_LISTS = frozenset(
    (
        *(BaseTy.int, BaseTy.SymInt, BaseTy.DeviceIndex, BaseTy.bool, BaseTy.float, BaseTy.complex),
        *(BaseTy.ScalarType, BaseTy.Layout, BaseTy.MemoryFormat),
    )
)
# A backend may give its device a name of its own.
_DEVICE = re.compile(r"""["'][a-z_]+(:(0|[1-9][0-9]*))?["']""")
_WHOLE = re.compile(r"-?[0-9]+")
_WORD = re.compile(r"[A-Za-z_]\w*")


def find_refused(default: str, type: Type) -> str | None:
    """What to write instead of `default`, which is one of `type` in C++; None if PyTorch takes it."""
    if default.startswith("+"):
        return f"a number has no '+': {default[1:]}"
    match type:
        case OptionalType(elem):
            return None if default == "None" else _find_refused_optional(default, elem)
        case ListType(elem, _):
            return _find_refused_list(default, elem)
        case BaseType(BaseTy.SymBool):
            return "PyTorch's parser takes no default of a SymBool"
        case BaseType(BaseTy.Device) if not _DEVICE.fullmatch(default):
            return "a device is written as in 'cpu' or 'cuda:1'"
        case _:
            return None


def _find_refused_optional(default: str, elem: Type) -> str | None:
    """PyTorch does not convert the default of an optional: kernels get the value as it is written."""
    match elem:
        case OptionalType(inner):
            return _find_refused_optional(default, inner)
        case ListType():
            return f"'{elem}?' takes None alone"
        case BaseType(BaseTy.Device):
            return "'Device?' takes None alone"
        case BaseType(BaseTy.float) if _WHOLE.fullmatch(default):
            return f"PyTorch takes this for an int: write {default}.0"
        case BaseType(BaseTy.SymBool):
            return None
        case _:
            return find_refused(default, elem)


def _find_refused_list(default: str, elem: Type) -> str | None:
    if not isinstance(elem, BaseType) or elem.name not in _IN_LISTS:
        return f"PyTorch's parser takes no default of a list of '{elem}'"
    if not default.startswith("["):
        if _WORD.fullmatch(default) and default not in ("True", "False"):
            return f"a word stands in brackets: [{default}]"
        return find_refused(default, elem)
    items = default[1:-1].split(",")
    return next((found for item in items if (found := find_refused(item, elem))), None)
