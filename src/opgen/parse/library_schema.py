"""Arguments and returns, as PyTorch's runtime parser reads them, into the roles that they play.

That parser knows no roles: any argument may be written, wherever it stands and whatever the operator is called. An operator
that looks like torchgen's out or in-place variant is taken for one. Any other that writes arguments is `mutable`.
"""

from __future__ import annotations

from collections.abc import Sequence

from opgen.dataclasses import replace
from opgen.model.function_schema import (
    AUGMENTED_ASSIGNMENT_NAMES,
    TENSOR,
    TENSOR_LIST,
    Argument,
    Arguments,
    BaseOperatorName,
    Return,
    SelfArgument,
    TensorOptionsArguments,
    may_alias,
)
from opgen.model.types import BaseTy, BaseType, OptionalType

_OPTION_TYPES = (
    ("dtype", BaseTy.ScalarType),
    ("layout", BaseTy.Layout),
    ("device", BaseTy.Device),
    ("pin_memory", BaseTy.bool),
)
# What the functional form of an operator that writes its arguments is called after it.
_FUNCTIONAL = "_functional"


def option_starts(keyword: Sequence[Argument]) -> list[int]:
    """Where four consecutive arguments are those that C++ gathers into one TensorOptions."""
    return [i for i in range(len(keyword) - 3) if _are_options(tuple(keyword[i : i + 4]))]


def split_options(
    keyword: Sequence[Argument],
) -> tuple[tuple[Argument, ...], TensorOptionsArguments | None, tuple[Argument, ...]]:
    """Keyword arguments before the tensor options, the options, and those after them."""
    starts = option_starts(keyword)
    if not starts:
        return tuple(keyword), None, ()
    first = starts[0]
    options = TensorOptionsArguments(*keyword[first : first + 4])
    return tuple(keyword[:first]), options, tuple(keyword[first + 4 :])


def _are_options(arguments: tuple[Argument, ...]) -> bool:
    return all(
        a.name == name and a.type in (BaseType(ty), OptionalType(BaseType(ty)))
        for a, (name, ty) in zip(arguments, _OPTION_TYPES)
    )


def _are_optional(keyword: Sequence[Argument]) -> bool:
    """Whether the first four options, if there are some, may each be left out: a TensorOptions has no others."""
    start = next(iter(option_starts(keyword)), len(keyword))
    return all(isinstance(a.type, OptionalType) for a in keyword[start : start + 4])


def distinct(arguments: Sequence[Argument]) -> tuple[Argument, ...]:
    """The arguments, each under a name of its own: PyTorch takes two of one name."""
    names = {a.name for a in arguments}
    if len(names) == len(arguments):
        return tuple(arguments)
    seen: set[str] = set()
    found = []
    for a in arguments:
        if a.name in seen:
            number = next(i for i in range(1, len(arguments) + 1) if f"{a.name}_{i}" not in names)
            names.add(f"{a.name}_{number}")
            found.append(replace(a, name=f"{a.name}_{number}", written=a.name))
        else:
            found.append(a)
        seen.add(a.name)
    return tuple(found)


def arguments_in_roles(
    positional: Sequence[Argument], keyword: Sequence[Argument], returns: Sequence[Return]
) -> Arguments:
    """The arguments of an operator, the out arguments apart if it is an out variant."""
    outs = _out_count(keyword, returns)
    kept, out = keyword[: len(keyword) - outs], keyword[len(keyword) - outs :]
    taken = {a.name for a in (*positional, *keyword)}
    gathers = not outs and "options" not in taken and _are_optional(kept)
    before, options, after = split_options(kept) if gathers else (tuple(kept), None, ())
    me = next((i for i, a in enumerate(positional) if a.name == "self"), None)
    return Arguments(
        pre_self_positional=tuple(positional[:me]) if me is not None else (),
        self_arg=None if me is None else SelfArgument(positional[me]),
        post_self_positional=tuple(positional[me + 1 :] if me is not None else positional),
        pre_tensor_options_kwarg_only=before,
        tensor_options=options,
        post_tensor_options_kwarg_only=after,
        out=tuple(out),
    )


def _out_count(keyword: Sequence[Argument], returns: Sequence[Return]) -> int:
    """How many of the last keyword arguments are out arguments; 0 if the operator is no out variant.

    Either all are tensors, each of which is returned, in order, and nothing else is. Or some are lists, and nothing is
    returned.
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
    """The name `text` of an operator with these arguments, with the marks that they bear out."""
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
    """Whether it writes its self, and nothing else, and returns nothing else."""
    me = None if arguments.self_arg is None else arguments.self_arg.argument
    if me is None or not me.is_write or sum(a.is_write for a in arguments.flat_all) > 1:
        return False
    if me.type == TENSOR:
        return len(returns) == 1 and may_alias(me.annotation, returns[0].annotation)
    return me.type == TENSOR_LIST and not returns
