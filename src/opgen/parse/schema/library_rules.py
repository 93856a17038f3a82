"""Check PyTorch's rules about schemas of libraries, and assign roles (self, tensor options, out) to arguments.

PyTorch's runtime parser has no roles: an operator of any name may write any argument. An operator with the form of
torchgen's out or in-place variant is treated as one. Any other operator that writes arguments is `mutable`.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from opgen.model.function_schema import (
    AUGMENTED_ASSIGNMENT_NAMES,
    TENSOR,
    TENSOR_LIST,
    Argument,
    Arguments,
    BaseOperatorName,
    Return,
    may_alias,
)
from opgen.model.types import ListType, OptionalType, TupleType
from opgen.parse.schema.roles import arguments_in_roles, option_starts
from opgen.parse.schema.text import SchemaText

# The suffix of the functional form of an operator that writes its arguments.
_FUNCTIONAL = "_functional"


def check_order(positional: Sequence[tuple[Argument, int, int]], at: SchemaText) -> None:
    """Report an argument without a default after one that has a default, unless it is a list."""
    default: tuple[int, int] | None = None
    for argument, start, end in positional:
        if argument.default is not None:
            default = (start, end)
        elif default is not None and not isinstance(argument.type, ListType):
            message = f"'{argument.name}' has no default, but an argument before it has one"
            hint = "give it a default, or put it first, or after '*'"
            labels = [(*default, "has a default")]
            at.report("E0326", message, start, end, labels=labels, hint=hint)


def check_returns(returns: Sequence[Return], start: int, end: int, at: SchemaText) -> None:
    """Report a single tuple: PyTorch infers one return for each element of the tuple that a kernel returns."""
    if len(returns) == 1 and isinstance(returns[0].type, TupleType):
        message = "PyTorch's registry takes no kernel that returns one tuple"
        hint = None
        if at.text[start] == "(":
            hint = f"write '{at.text[start:end]}' for several returns"
        at.report("E0325", message, start, end, hint=hint)


def _are_optional(keyword: Sequence[Argument]) -> bool:
    """Return whether the first tensor options, if there are any, are all optional, as in a TensorOptions."""
    start = next(iter(option_starts(keyword)), len(keyword))
    return all(isinstance(a.type, OptionalType) for a in keyword[start : start + 4])


def _distinct(arguments: Sequence[Argument]) -> tuple[Argument, ...]:
    """Rename arguments so that all names differ: PyTorch's parser accepts two of one name."""
    names = {a.name for a in arguments}
    if len(names) == len(arguments):
        return tuple(arguments)
    seen: set[str] = set()
    renamed = []
    for a in arguments:
        if a.name in seen:
            number = next(i for i in range(1, len(arguments) + 1) if f"{a.name}_{i}" not in names)
            names.add(f"{a.name}_{number}")
            renamed.append(replace(a, name=f"{a.name}_{number}", written=a.name))
        else:
            renamed.append(a)
        seen.add(a.name)
    return tuple(renamed)


def in_roles(
    positional: Sequence[Argument], keyword: Sequence[Argument], returns: Sequence[Return]
) -> Arguments:
    """Assign a role to each argument. There are out arguments only if the operator is an out variant."""
    named = _distinct((*positional, *keyword))
    positional, keyword = named[: len(positional)], named[len(positional) :]
    outs = _out_count(keyword, returns)
    plain = keyword[: len(keyword) - outs]
    has_options = not outs and "options" not in {a.name for a in named} and _are_optional(plain)
    return arguments_in_roles(positional, keyword, outs, has_options=has_options)


def _out_count(keyword: Sequence[Argument], returns: Sequence[Return]) -> int:
    """Count the out arguments, which are the last keyword arguments; 0 if the operator is not an out variant.

    In an out variant, either all of them are tensors, and the operator returns exactly these in order; or some are
    lists, and it returns nothing.
    """
    outs: list[Argument] = []
    for a in reversed(keyword):
        if not a.is_write or a.type not in (TENSOR, TENSOR_LIST) or a.default is not None:
            break
        outs.insert(0, a)
    if any(a.is_write for a in keyword[: len(keyword) - len(outs)]) or option_starts(keyword):
        return 0
    if any(a.type != TENSOR for a in outs):
        return 0 if returns else len(outs)
    if len(outs) != len(returns):
        return 0
    same = (may_alias(a.annotation, r.annotation) for a, r in zip(outs, returns))
    return len(outs) if all(same) else 0


def base_name(text: str, arguments: Arguments, returns: Sequence[Return]) -> BaseOperatorName:
    """Parse the base name `text` of an operator.

    A prefix or suffix such as `_` or `__i...__` is a mark only if the arguments and returns agree with it.
    """
    dunder = text[2:-2] if len(text) > 4 and text.startswith("__") and text.endswith("__") else ""
    is_inplace = _is_inplace(arguments, returns)
    if dunder and "__" not in dunder:
        if is_inplace and dunder[:1] == "i" and dunder[1:] in AUGMENTED_ASSIGNMENT_NAMES:
            return BaseOperatorName(dunder[1:], inplace=True, dunder_method=True)
        if not is_inplace and dunder[:1] != "i":
            return BaseOperatorName(dunder, inplace=False, dunder_method=True)
        return BaseOperatorName(text, inplace=False, dunder_method=False)
    if is_inplace and text.endswith("_") and text.strip("_"):
        return BaseOperatorName(text[:-1], inplace=True, dunder_method=False)
    writes = any(a.is_write for a in arguments.flat_all)
    if text.endswith(_FUNCTIONAL) and text != _FUNCTIONAL and not writes:
        base = text[: -len(_FUNCTIONAL)]
        return BaseOperatorName(base, inplace=False, dunder_method=False, functional_overload=True)
    return BaseOperatorName(text, inplace=False, dunder_method=False)


def _is_inplace(arguments: Arguments, returns: Sequence[Return]) -> bool:
    """Return whether the operator writes only self, and returns only self, or nothing if self is a list."""
    if arguments.self_arg is None:
        return False
    target = arguments.self_arg.argument
    if not target.is_write or sum(a.is_write for a in arguments.flat_all) > 1:
        return False
    if target.type == TENSOR:
        return len(returns) == 1 and may_alias(target.annotation, returns[0].annotation)
    return target.type == TENSOR_LIST and not returns
