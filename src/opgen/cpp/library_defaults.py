"""Find defaults that C++ accepts but PyTorch does not: its parser rejects them, or calls that use them fail.

Source: `torch._C.parse_schema` of PyTorch 2.13, tried with defaults of every type, and calls of C++ kernels with them.
"""

from __future__ import annotations

import re

from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type

# The element types of lists that may have a default. PyTorch's parser treats an enumeration as an int.
_IN_LISTS = frozenset(
    (
        *(BaseTy.int, BaseTy.SymInt, BaseTy.DeviceIndex, BaseTy.bool, BaseTy.float, BaseTy.complex),
        *(BaseTy.ScalarType, BaseTy.Layout, BaseTy.MemoryFormat),
    )
)
# The names of devices are not a fixed list: backends add their own.
_DEVICE = re.compile(r"""["'][a-z_]+(:(0|[1-9][0-9]*))?["']""")
_WHOLE = re.compile(r"-?[0-9]+")
_WORD = re.compile(r"[A-Za-z_]\w*")


def find_rejected(default: str, type: Type) -> str | None:
    """Return what to write instead of `default`, which is valid for `type` in C++; None if PyTorch accepts it."""
    if default.startswith("+"):
        return f"a number has no '+': {default[1:]}"
    match type:
        case OptionalType(elem):
            return None if default == "None" else _find_rejected_optional(default, elem)
        case ListType(elem, _):
            return _find_rejected_list(default, elem)
        case BaseType(BaseTy.SymBool):
            return "PyTorch's parser accepts no default for a SymBool"
        case BaseType(BaseTy.Device) if not _DEVICE.fullmatch(default):
            return "write a device as in 'cpu' or 'cuda:1'"
        case _:
            return None


def _find_rejected_optional(default: str, elem: Type) -> str | None:
    """Return the same for the default of an optional, which PyTorch does not convert to its element's type."""
    match elem:
        case OptionalType(inner):
            return _find_rejected_optional(default, inner)
        case ListType():
            return f"'{elem}?' accepts only None"
        case BaseType(BaseTy.Device):
            return "'Device?' accepts only None"
        case BaseType(BaseTy.float) if _WHOLE.fullmatch(default):
            return f"PyTorch reads this as an int: write {default}.0"
        case BaseType(BaseTy.SymBool):
            return None
        case _:
            return find_rejected(default, elem)


def _find_rejected_list(default: str, elem: Type) -> str | None:
    if not isinstance(elem, BaseType) or elem.name not in _IN_LISTS:
        return f"PyTorch's parser accepts no default for a list of '{elem}'"
    if not default.startswith("["):
        if _WORD.fullmatch(default) and default not in ("True", "False"):
            return f"write a word in brackets: [{default}]"
        return find_rejected(default, elem)
    items = default[1:-1].split(",")
    return next((advice for item in items if (advice := find_rejected(item, elem))), None)
