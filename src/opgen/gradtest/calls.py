"""Operators as functions of the tensors in a call, and calls under torch.compile, whose values are those without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from opgen.gradtest.backends import Function, Program, Tensors

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
        values, others = by_position(positional, given)
        results = operator(*values, **others)
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
    """Return what a function returns for a value, or for each one of a list."""
    return [f(v) for v in value] if isinstance(value, list | tuple) else f(value)


def by_position(names: Sequence[str], given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments that are passed by position, up to the first of `names` that is not given, and the others."""
    leading: list[Any] = []
    # torch.compile traces this.
    for name in names:
        if name not in given:
            break
        leading.append(given[name])
    return leading, {n: v for n, v in given.items() if n not in names[: len(leading)]}


def check_compiled(
    gradient: Gradient,
    tensors: Tensors,
    call: Mapping[str, Any],
    chosen: Sequence[Place],
    *,
    every: bool,
    dynamic: bool,
) -> None:
    """Throw Different if a program with the call has other values under torch.compile, or NotCompiled.

    The tensors at `chosen` have a gradient. With `every`, check all programs that differ in how they use the tensors. With
    `dynamic`, sizes are symbols.
    """
    returns, names = gradient.schema.returns, gradient.schema.arguments.mutable_arg_names
    clone = tensors.clone
    f = function_of(gradient, tensors, call, chosen)

    def leaves() -> list[Any]:
        return [tensors.leaf(clone(at(call, place))) for place in chosen]

    def plain() -> Program:
        inputs = leaves()
        return Program(_used(f), inputs, inputs)

    def written() -> Program:
        """The operator writes inputs of the program, and the tensors of the call that have no gradient."""
        made = leaves()
        fresh = {
            k: each(lambda v: clone(v) if tensors.is_tensor(v) else v, v) if k in names else v
            for k, v in call.items()
        }
        inputs = [clone(v) if name in names else v for (name, _), v in zip(chosen, made)]
        given = dict(zip(chosen, inputs))
        used = [
            given.get(place, value)
            for name in names
            for place, value in places_in(name, fresh.get(name))
            if tensors.is_tensor(value)
        ]
        writes = function_of(gradient, tensors, fresh, chosen, copies=False)
        return Program(_used(writes), inputs, made, used)

    def written_view() -> Program:
        """The view is written, which its base shows."""

        def program(*inputs: Any) -> tuple[Any, ...]:
            bases = tuple(clone(value) for value in inputs)
            for view in f(*bases):
                view.mul_(2)
            return bases

        inputs = leaves()
        return Program(program, inputs, inputs)

    programs: list[Callable[[], Program]] = [plain]
    if names:
        programs = [written, plain]
    elif gradient.views and len(returns) == 1 and not returns[0].type.is_list_like():
        programs = [plain, written_view]
    for make in programs if every else programs[:1]:
        tensors.check_compiled(make, dynamic=dynamic)


def _used(f: Function) -> Function:
    """Return a function whose results are those of `f`, and what the program computes from them."""

    def program(*inputs: Any) -> tuple[Any, ...]:
        results = f(*inputs)
        return (*results, *(value * 2 for value in results))

    return program


def places_in(name: str, value: Any) -> list[tuple[Place, Any]]:
    """Return the value of an argument with its place; the values of a list one by one."""
    if isinstance(value, list):
        return [((name, i), one) for i, one in enumerate(value)]
    return [((name, None), value)]
