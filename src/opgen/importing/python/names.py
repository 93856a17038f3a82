"""The names by which Python sources register: functions of torch.library, methods of a library, and helpers."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType

CUSTOM_OPS = frozenset({"custom_op", "triton_op"})
# Functions that register something in Python, with its description for messages.
FAKE, META_KERNEL = "a fake kernel", "a kernel for Meta"
IN_PYTHON: Mapping[str, str] = MappingProxyType(
    {
        "register_fake": FAKE,
        "_register_fake": FAKE,
        "impl_abstract": FAKE,
        "register_meta": FAKE,
        "register_kernel": "a kernel",
        "register_autograd": "a backward formula",
        "register_autocast": "an autocast rule",
        "register_vmap": "a rule for vmap",
        "register_torch_dispatch": "a rule for __torch_dispatch__",
    }
)
METHODS = frozenset({"define", "impl", "fallback", *IN_PYTHON})
HELPER = "direct_register_custom_op"
_ALL = METHODS | CUSTOM_OPS | {HELPER}


def may_register(node: ast.AST) -> bool:
    """Return whether a part of a module has one of the names."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name | ast.Attribute):
            name = one.id if isinstance(one, ast.Name) else one.attr
            if name in _ALL:
                return True
    return False
