"""All operators of a library: the result of `resolve`, and what every later stage looks things up in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from opgen.dataclasses import dataclass, field
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import TENSOR, FunctionSchema, Return
from opgen.model.native_function import Kernel, NativeFunction


@dataclass(frozen=True, slots=True)
class NativeFunctionsGroup:
    """The variants of one operator. Its kernels are those of the out variant."""

    functional: NativeFunction
    out: NativeFunction
    inplace: NativeFunction | None = None
    mutable: NativeFunction | None = None

    @property
    def primary(self) -> NativeFunction:
        """The member whose kernels serve all of them."""
        return self.out

    @property
    def structured(self) -> bool:
        return self.out.structured

    @property
    def root_name(self) -> str:
        return self.functional.root_name

    def functions(self) -> Iterator[NativeFunction]:
        """Functional, out, in-place, mutable: those that exist."""
        yield self.functional
        yield self.out
        if self.inplace is not None:
            yield self.inplace
        if self.mutable is not None:
            yield self.mutable

    def signature(self) -> FunctionSchema:
        return self.out.func.signature()


@dataclass(frozen=True, slots=True)
class OutlessGroup:
    """A structured operator that has no out variant, with its in-place form: opgen's extension.

    Its meta function makes the outputs: views of arguments, or new tensors that a kernel fills.
    """

    functional: NativeFunction
    inplace: NativeFunction | None = None

    @property
    def primary(self) -> NativeFunction:
        """The member whose kernels serve all of them."""
        return self.functional

    @property
    def structured(self) -> bool:
        return True

    @property
    def root_name(self) -> str:
        return self.functional.root_name

    @property
    def has_views(self) -> bool:
        """Whether any output shares the storage of an argument."""
        return any(r.annotation is not None for r in self.functional.func.returns)

    @property
    def all_views(self) -> bool:
        """Whether every output does, so that there is nothing for a kernel to fill."""
        return all(r.annotation is not None for r in self.functional.func.returns)

    def functions(self) -> Iterator[NativeFunction]:
        """Functional, in-place: those that exist."""
        yield self.functional
        if self.inplace is not None:
            yield self.inplace

    def bases(self) -> tuple[int, ...]:
        """For each output the position of the argument that it is a view of; -1 for a new tensor.

        Of what may be several arguments, or is none that can be viewed, nothing is known here: it is
        reported, and -1.
        """
        candidates = (self.base_candidates(r) for r in self.functional.func.returns)
        return tuple(found[0] if len(found) == 1 else -1 for found in candidates)

    def base_candidates(self, value: Return) -> tuple[int, ...]:
        """The positions of the Tensor arguments that `value` may be a view of."""
        if value.annotation is None:
            return ()
        letters = set(value.annotation.alias_set)
        return tuple(
            i
            for i, a in enumerate(self.functional.func.arguments.flat_all)
            if a.type == TENSOR
            and a.annotation is not None
            and not letters.isdisjoint(a.annotation.alias_set)
        )


# Operators that one meta function serves.
StructuredGroup: TypeAlias = NativeFunctionsGroup | OutlessGroup


@dataclass(frozen=True, slots=True)
class NativeFunctionsViewGroup:
    """A view operator with its in-place form and the operator that copies instead."""

    view: NativeFunction
    view_copy: NativeFunction | None = None
    view_inplace: NativeFunction | None = None

    @property
    def root_name(self) -> str:
        return self.view.root_name

    @property
    def composite(self) -> bool:
        return self.view.has_composite_implicit_autograd_kernel

    def functions(self, *, include_copy: bool = True) -> Iterator[NativeFunction]:
        """View, in-place, copy: those that exist."""
        yield self.view
        if self.view_inplace is not None:
            yield self.view_inplace
        if self.view_copy is not None and include_copy:
            yield self.view_copy


@dataclass(frozen=True, slots=True)
class Registry:
    """`functions` holds the written operators in the order of the files, then the generated ones.

    `dispatch_keys` are the keys in use, in the order of LIBRARY_DISPATCH_KEYS; `tags` the names of
    all tags that are declared.
    """

    functions: tuple[NativeFunction, ...]
    groups: tuple[NativeFunctionsGroup, ...]
    view_groups: tuple[NativeFunctionsViewGroup, ...]
    dispatch_keys: tuple[DispatchKey, ...]
    tags: tuple[str, ...] = ()
    outless_groups: tuple[OutlessGroup, ...] = ()
    _groups: Mapping[str, NativeFunctionsGroup] = field(init=False, repr=False, compare=False)
    _outless: Mapping[str, OutlessGroup] = field(init=False, repr=False, compare=False)
    _views: Mapping[str, NativeFunctionsViewGroup] = field(init=False, repr=False, compare=False)
    _functions: Mapping[str, NativeFunction] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        groups = {f.full_name: g for g in self.groups for f in g.functions()}
        outless = {f.full_name: g for g in self.outless_groups for f in g.functions()}
        views = {f.full_name: g for g in self.view_groups for f in g.functions()}
        object.__setattr__(self, "_groups", groups)
        object.__setattr__(self, "_outless", outless)
        object.__setattr__(self, "_views", views)
        object.__setattr__(self, "_functions", {f.full_name: f for f in self.functions})

    def find_function(self, full_name: str) -> NativeFunction | None:
        """The operator called `aten::add.Tensor`."""
        return self._functions.get(full_name)

    def group_of(self, f: NativeFunction) -> NativeFunctionsGroup | None:
        """The group that `f` is a member of, if it is in any."""
        return self._groups.get(f.full_name)

    def structured_group_of(self, f: NativeFunction) -> StructuredGroup | None:
        """The structured group that `f` is a member of, if it is in any."""
        group = self._groups.get(f.full_name)
        return group if group is not None and group.structured else self._outless.get(f.full_name)

    def structured_groups(self) -> Iterator[StructuredGroup]:
        """All of them: those with an out variant, then those without."""
        yield from (group for group in self.groups if group.structured)
        yield from self.outless_groups

    def view_group_of(self, f: NativeFunction) -> NativeFunctionsViewGroup | None:
        """The view group that `f` is a member of, if it is in any."""
        return self._views.get(f.full_name)

    def find_kernel(
        self, op: NativeFunction | NativeFunctionsGroup, key: DispatchKey
    ) -> Kernel | None:
        """The kernel that the entry names for `key`; a group's is that of its out variant."""
        f = op.out if isinstance(op, NativeFunctionsGroup) else op
        return f.find_kernel(key)

    def kernel(self, op: NativeFunction | NativeFunctionsGroup, key: DispatchKey) -> Kernel:
        """As find_kernel. Raises KeyError if there is none."""
        kernel = self.find_kernel(op, key)
        if kernel is None:
            raise KeyError(key)
        return kernel

    def dispatch_table(self, f: NativeFunction) -> tuple[tuple[DispatchKey, Kernel], ...]:
        """The kernels of `f` by key: its own, and those it has through its structured group."""
        group = self.structured_group_of(f)
        rows = dict(f.dispatch)
        if group is not None and f is not group.primary:
            rows |= {key: kernel for key, kernel in group.primary.dispatch if kernel.structured}
        return tuple((key, rows[key]) for key in self.dispatch_keys if key in rows)
