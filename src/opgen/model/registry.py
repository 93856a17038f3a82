"""All operators of a library: the result of `resolve`, and what every later stage looks things up in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import FunctionSchema
from opgen.model.native_function import Kernel, NativeFunction


@dataclass(frozen=True, slots=True)
class NativeFunctionsGroup:
    """The variants of one operator. Its kernels are those of the out variant."""

    functional: NativeFunction
    out: NativeFunction
    inplace: NativeFunction | None = None
    mutable: NativeFunction | None = None

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

    `dispatch_keys` are the keys in use, in the order of SUPPORTED_DISPATCH_KEYS; `tags` the names of
    all tags that are declared.
    """

    functions: tuple[NativeFunction, ...]
    groups: tuple[NativeFunctionsGroup, ...]
    view_groups: tuple[NativeFunctionsViewGroup, ...]
    dispatch_keys: tuple[DispatchKey, ...]
    tags: tuple[str, ...] = ()
    _groups: Mapping[str, NativeFunctionsGroup] = field(init=False, repr=False, compare=False)
    _views: Mapping[str, NativeFunctionsViewGroup] = field(init=False, repr=False, compare=False)
    _functions: Mapping[str, NativeFunction] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        groups = {f.full_name: g for g in self.groups for f in g.functions()}
        views = {f.full_name: g for g in self.view_groups for f in g.functions()}
        object.__setattr__(self, "_groups", groups)
        object.__setattr__(self, "_views", views)
        object.__setattr__(self, "_functions", {f.full_name: f for f in self.functions})

    def find_function(self, full_name: str) -> NativeFunction | None:
        """The operator called `aten::add.Tensor`."""
        return self._functions.get(full_name)

    def group_of(self, f: NativeFunction) -> NativeFunctionsGroup | None:
        """The group that `f` is a member of, if it is in any."""
        return self._groups.get(f.full_name)

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
        group = self.group_of(f)
        rows = dict(f.dispatch)
        if group is not None and group.structured and f is not group.out:
            rows |= {key: kernel for key, kernel in group.out.dispatch if kernel.structured}
        return tuple((key, rows[key]) for key in self.dispatch_keys if key in rows)
