"""Calls under torch.compile, whose results and first derivatives are those of the same calls without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from opgen.gradtest.backends import Function, Program, Tensors
from opgen.gradtest.calls import Place, at, each, function_of

if TYPE_CHECKING:
    from opgen.gradtest.gradient import Gradient


class CompiledCall(Struct):
    """One call, with a gradient for the tensors at `chosen`."""

    gradient: Gradient
    tensors: Tensors
    call: Mapping[str, Any]
    chosen: Sequence[Place]

    def check(self, *, every: bool, dynamic: bool) -> None:
        """Throw Different if a program with the call has other values under torch.compile, or NotCompiled.

        With `every`, check all programs that differ in how they use the tensors. With `dynamic`, sizes are symbols.
        """
        programs = self._programs()
        for make in programs if every else programs[:1]:
            self.tensors.check_compiled(make, dynamic=dynamic)

    def _leaves(self) -> list[Any]:
        return [self.tensors.leaf(self.tensors.clone(at(self.call, p))) for p in self.chosen]

    def _programs(self) -> list[Callable[[], Program]]:
        returns = self.gradient.schema.returns
        if self.gradient.schema.arguments.mutable_arg_names:
            return [self._written, self._plain]
        if self.gradient.views and len(returns) == 1 and not returns[0].type.is_list_like():
            return [self._plain, self._written_view]
        return [self._plain]

    def _plain(self) -> Program:
        leaves = self._leaves()
        f = function_of(self.gradient, self.tensors, self.call, self.chosen)
        return Program(_used(f), leaves, leaves)

    def _written(self) -> Program:
        """The operator writes inputs of the program, and the tensors of the call that have no gradient."""
        leaves = self._leaves()
        names = self.gradient.schema.arguments.mutable_arg_names
        fresh = {k: each(self._clone, v) if k in names else v for k, v in self.call.items()}
        inputs = [
            self.tensors.clone(leaf) if name in names else leaf
            for (name, _), leaf in zip(self.chosen, leaves)
        ]
        f = function_of(self.gradient, self.tensors, fresh, self.chosen, copies=False)
        given = dict(zip(self.chosen, inputs))
        written = [
            given.get(place, value)
            for name in names
            for place, value in _places_in(name, fresh.get(name))
            if self.tensors.is_tensor(value)
        ]
        return Program(_used(f), inputs, leaves, written)

    def _written_view(self) -> Program:
        """The view is written, which its base shows."""
        leaves = self._leaves()
        f = function_of(self.gradient, self.tensors, self.call, self.chosen)
        clone = self.tensors.clone

        def program(*inputs: Any) -> tuple[Any, ...]:
            bases = tuple(clone(value) for value in inputs)
            for view in f(*bases):
                view.mul_(2)
            return bases

        return Program(program, leaves, leaves)

    def _clone(self, value: Any) -> Any:
        return self.tensors.clone(value) if self.tensors.is_tensor(value) else value


def _used(f: Function) -> Function:
    """Return a function whose results are those of `f`, and what the program computes from them."""

    def program(*inputs: Any) -> tuple[Any, ...]:
        results = f(*inputs)
        return (*results, *(value * 2 for value in results))

    return program


def _places_in(name: str, value: Any) -> list[tuple[Place, Any]]:
    if isinstance(value, list):
        return [((name, i), one) for i, one in enumerate(value)]
    return [((name, None), value)]
