"""Operators as functions of the tensors in a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from opgen.gradtest.backends import Function, Tensors

if TYPE_CHECKING:
    from opgen.gradtest.gradient import Gradient

# Where a tensor is in the arguments of a call: the name, and the index in a list.
Place: TypeAlias = tuple[str, int | None]


def function_of(
    gradient: Gradient,
    tensors: Tensors,
    call: Mapping[str, Any],
    chosen: Sequence[Place],
    *,
    copies: bool = True,
) -> Function:
    """Return an operator as a function of the tensors at `chosen` in `call`. With `copies`, it writes only copies of them."""
    name = gradient.schema.name
    written = gradient.schema.arguments.mutable_arg_names
    positional = [a.name for a in gradient.schema.arguments.flat_positional]
    operator = tensors.operator(gradient.namespace, str(name.name), name.overload_name, positional)
    is_void = not gradient.schema.returns
    numbers = gradient.outputs

    def f(*inputs: Any) -> tuple[Any, ...]:
        given = {k: list(v) if isinstance(v, list) else v for k, v in call.items()}
        for (argument, index), value in zip(chosen, inputs):
            if index is None:
                given[argument] = value
            else:
                given[argument][index] = value
        for argument in written if copies else ():
            given[argument] = each(tensors.clone, given[argument])
        values = [given.pop(a) for a in _leading(positional, given)]
        results = operator(*values, **given)
        if is_void:
            results = tuple(values[positional.index(argument)] for argument in written)
        every = results if isinstance(results, tuple) else (results,)
        outputs = every if is_void else [every[i] for i in numbers]
        flat = [t for o in outputs for t in (o if isinstance(o, list | tuple) else (o,))]
        return tuple(t for t in flat if tensors.is_tensor(t) and tensors.is_differentiable(t))

    return f


def at(call: Mapping[str, Any], place: Place) -> Any:
    name, index = place
    return call[name] if index is None else call[name][index]


def each(f: Callable[[Any], Any], value: Any) -> Any:
    return [f(v) for v in value] if isinstance(value, list) else f(value)


def _leading(names: Sequence[str], given: Mapping[str, Any]) -> list[str]:
    """Return the names up to the first that is not given: the others are passed by name."""
    found = []
    for name in names:
        if name not in given:
            break
        found.append(name)
    return found
