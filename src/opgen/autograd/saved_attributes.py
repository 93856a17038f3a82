"""Replace what a backward formula reads of arguments and outputs by fields, which the node saves.

Source of the patterns: torchgen, see docs/reference/torchgen-differences.md. An attribute such as `self.sym_sizes()` is
saved in place of the tensor, which may then be freed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache

from msgspec import Struct

from opgen.autograd.derivative import SavedAttribute
from opgen.autograd.formula_text import uses, with_name
from opgen.cpp.type_values import (
    BOOL,
    INT,
    SYM_INT,
    SYM_INT_ARRAY_REF,
    TENSOR_OPTIONS,
    Base,
    CType,
    Optional,
    Vector,
)

_SCALAR_TYPE = Base("ScalarType")
_STRING = Base("string_view")
# Saves the sizes and options of a tensor, and makes zeros like it.
_TYPE_AND_SIZE = Base("TypeAndSize")


def _same(name: str, text: str) -> str:
    return text


class _Attribute(Struct, frozen=True, cache_hash=True):
    """An expression that is saved as a field. `{}` in `pattern` is the name of an argument or output.

    `suffix` is added to that name, and may refer to the group `index` of the pattern. `expr` returns the expression that is
    saved, from the name and the text that the pattern finds; `result` replaces it in the formula.
    """

    pattern: str
    suffix: str
    type: CType
    expr: Callable[[str, str], str] = _same
    result: str = "{}"


def _optional_sizes(name: str, text: str) -> str:
    return f"{name}.has_value() ? std::optional<c10::SymIntArrayRef>({name}->sym_sizes()) : std::nullopt"


_ATTRIBUTES = (
    _Attribute(r"{}\.sym_sizes\(\)", "_sym_sizes", SYM_INT_ARRAY_REF),
    _Attribute(
        r"{}->sym_sizes\(\)", "_sym_sizes_opt", Optional(SYM_INT_ARRAY_REF), _optional_sizes
    ),
    _Attribute(
        r"{}\.sym_blocksize\(\)",
        "_self_sym_blocksize_opt",
        Optional(SYM_INT_ARRAY_REF),
        lambda name, _: f"at::sparse_csr::getSymIntBlockSize({name})",
    ),
    _Attribute(r"{}\.options\(\)", "_options", TENSOR_OPTIONS),
    _Attribute(r"zeros_like\({}\)", "_info", _TYPE_AND_SIZE, lambda name, _: name, "{}.zeros()"),
    _Attribute(r"{}\.sym_size\((?P<index>-?\w+)\)", "_sym_argsize_{}", SYM_INT),
    _Attribute(r"{}\.numel\(\)", "_numel", INT),
    _Attribute(r"{}\.sym_numel\(\)", "_sym_numel", SYM_INT),
    _Attribute(r"to_args_sizes\({}\)", "_args_sizes", Vector(Vector(INT))),
    _Attribute(r"to_args_sizes_symint\({}\)", "_args_sizes_symint", Vector(Vector(SYM_INT))),
    _Attribute(r"to_args_scalartypes\({}\)", "_args_scalartypes", Vector(_SCALAR_TYPE)),
    _Attribute(r"TensorGeometry\({}\)", "_geometry", Base("TensorGeometry")),
    _Attribute(r"{}\.scalar_type\(\)", "_scalar_type", _SCALAR_TYPE),
    _Attribute(r"{}\.dim\(\)", "_dim", INT),
    _Attribute(
        r"{}\.sym_strides\(\)",
        "_sym_strides",
        SYM_INT_ARRAY_REF,
        lambda name, _: f'strides_or_error({name}, "{name}")',
    ),
    _Attribute(r"{}\.layout\(\)", "_layout", Base("Layout")),
    _Attribute(r"{}\.is_conj\(\)", "_conjugate", BOOL),
)

# Saving strides may fail, so it must not happen for a tensor whose gradient is not requested.
_STRIDES = re.compile(r"(?<!\w)(\w+)\.sym_strides\(\)")


# The text that each attribute begins or ends with, without which its pattern finds nothing.
_MARKS = tuple(
    attribute.pattern.replace("{}", "").partition("(?P<")[0].replace("\\", "").rstrip("()")
    for attribute in _ATTRIBUTES
)


@cache
def _pattern(attribute: _Attribute) -> re.Pattern[str]:
    """Return the pattern for all names: to compile one for each takes longer than to skip what it finds."""
    return re.compile(r"(?<!\w)" + attribute.pattern.replace("{}", r"(?P<name>\w+)"))


def strides_read(formula: str) -> Iterable[re.Match[str]]:
    """Yield each `x.sym_strides()`; group 1 is `x`."""
    return _STRIDES.finditer(formula)


def save_variables(
    formula: str, variables: Iterable[tuple[str, CType]]
) -> tuple[str, tuple[SavedAttribute, ...]]:
    """Replace what a formula reads of `variables` by fields; return the formula and the fields.

    `variables` are pairs of a name and its C++ type.
    """
    saved: list[SavedAttribute] = []
    attributes = [each for mark, each in zip(_MARKS, _ATTRIBUTES) if mark in formula]
    for name, ctype in variables:
        if name not in formula:
            continue
        for attribute in attributes:
            formula = _pattern(attribute).sub(_saver(name, attribute, saved), formula)
        if ctype == Optional(_STRING):
            # The node saves a string.
            view = f"std::optional<std::string_view>({name}.value())"
            formula = with_name(formula, name, f"{name}.has_value() ? {view} : std::nullopt")
        if uses(formula, name):
            saved.append(SavedAttribute(name, ctype, name))
    return formula, tuple(saved)


def _saver(
    name: str, attribute: _Attribute, saved: list[SavedAttribute]
) -> Callable[[re.Match[str]], str]:
    def save(match: re.Match[str]) -> str:
        if match["name"] != name:
            return match[0]
        index = match["index"].replace("-", "minus_") if "index" in match.re.groupindex else ""
        field = name + attribute.suffix.format(index)
        saved.append(SavedAttribute(field, attribute.type, attribute.expr(name, match[0])))
        return attribute.result.format(field)

    return save
