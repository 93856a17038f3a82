"""Assign roles to the arguments of an operator: self, tensor options, out."""

from __future__ import annotations

from collections.abc import Sequence

from opgen.model.function_schema import (
    Argument,
    Arguments,
    SelfArgument,
    TensorOptionsArguments,
)
from opgen.model.types import BaseTy, BaseType, OptionalType

_OPTION_TYPES = (
    ("dtype", BaseTy.ScalarType),
    ("layout", BaseTy.Layout),
    ("device", BaseTy.Device),
    ("pin_memory", BaseTy.bool),
)


def arguments_in_roles(
    positional: Sequence[Argument],
    keyword: Sequence[Argument],
    outs: int,
    *,
    has_options: bool = True,
) -> Arguments:
    """Assign a role to each argument; the last `outs` keyword arguments are out arguments."""
    values = tuple(positional)
    plain, out = keyword[: len(keyword) - outs], keyword[len(keyword) - outs :]
    before, options, after = _split_options(plain) if has_options else (tuple(plain), None, ())
    self_at = next((i for i, a in enumerate(values) if a.name == "self"), None)
    return Arguments(
        pre_self_positional=values[:self_at] if self_at is not None else (),
        self_arg=None if self_at is None else SelfArgument(values[self_at]),
        post_self_positional=values[self_at + 1 :] if self_at is not None else values,
        pre_tensor_options_kwarg_only=before,
        tensor_options=options,
        post_tensor_options_kwarg_only=after,
        out=tuple(out),
    )


def option_starts(keyword: Sequence[Argument]) -> list[int]:
    """Return each index where four consecutive arguments become one TensorOptions in C++."""
    return [i for i in range(len(keyword) - 3) if _are_options(tuple(keyword[i : i + 4]))]


def _split_options(
    keyword: Sequence[Argument],
) -> tuple[tuple[Argument, ...], TensorOptionsArguments | None, tuple[Argument, ...]]:
    """Split keyword arguments: those before the tensor options, the options, and those after them."""
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
