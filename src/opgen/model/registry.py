"""Hold all operators of a library and their groups: the result of `resolve`, which every later stage reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct

from opgen.diagnostics import Span
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import TENSOR, FunctionSchema, OperatorName, Return
from opgen.model.native_function import Kernel, NativeFunction


class InvalidEntry(Struct, frozen=True):
    """The parts of an entry with errors that could be read.

    `base` is the operator's name without the suffixes of variants. `name` is None if the overload is unknown, and
    `schema` if it has an error. `scope` is as in a NativeFunction.
    """

    span: Span
    base: str
    name: OperatorName | None = None
    schema: FunctionSchema | None = None
    scope: str = ""


class InvalidEntries(Struct, frozen=True, dict=True):
    """All entries with errors. `unknown` is whether the names of some are unknown."""

    entries: tuple[InvalidEntry, ...] = ()
    unknown: bool = False

    @cached_property
    def _by_base(self) -> Mapping[str, Sequence[InvalidEntry]]:
        by_base: dict[str, list[InvalidEntry]] = {}
        for entry in self.entries:
            by_base.setdefault(entry.base, []).append(entry)
        return by_base

    def may_define(self, name: OperatorName) -> bool:
        """Return whether an invalid entry may be the operator with this name."""
        entries = self._by_base.get(name.name.base, ())
        return self.unknown or any(e.name in (None, name) for e in entries)

    def may_have_base(self, *bases: str) -> bool:
        """Return whether an invalid entry may be an operator with one of these base names."""
        return self.unknown or any(base in self._by_base for base in bases)

    def may_be_variant_of(self, func: FunctionSchema) -> bool:
        """Return whether an invalid entry may be a variant of the same operator as `func`."""
        entries = self._by_base.get(func.name.name.base, ())
        return self.unknown or any(
            e.schema is None or e.schema.signature() == func.signature() for e in entries
        )


class NativeFunctionsGroup(Struct, frozen=True):
    """The variants of one operator. The group's kernels are those of the out variant."""

    functional: NativeFunction
    out: NativeFunction
    inplace: NativeFunction | None = None
    mutable: NativeFunction | None = None

    @property
    def primary(self) -> NativeFunction:
        """The member whose kernels serve all members."""
        return self.out

    @property
    def structured(self) -> bool:
        """Whether one meta function and the kernels of the out variant serve all members."""
        return self.out.structured

    @property
    def root_name(self) -> str:
        """`add` for the group of add.Tensor."""
        return self.functional.root_name

    def functions(self) -> Iterator[NativeFunction]:
        """Yield the members that exist, in the order functional, out, in-place, mutable."""
        return filter(None, (self.functional, self.out, self.inplace, self.mutable))

    def signature(self) -> FunctionSchema:
        """Return the schema that all members share; see FunctionSchema.signature."""
        return self.out.func.signature()


class OutlessGroup(Struct, frozen=True):
    """A structured operator without an out variant, and its in-place form: an opgen extension.

    Its meta function creates the outputs: views of arguments, or new tensors that a kernel fills.
    """

    functional: NativeFunction
    inplace: NativeFunction | None = None

    @property
    def primary(self) -> NativeFunction:
        """The member whose kernels serve all members."""
        return self.functional

    @property
    def structured(self) -> bool:
        """Always true: without an out variant, only structured operators form a group."""
        return True

    @property
    def root_name(self) -> str:
        """`expand` for the group of expand."""
        return self.functional.root_name

    @property
    def has_views(self) -> bool:
        """Whether any output shares the storage of an argument."""
        return any(r.annotation is not None for r in self.functional.func.returns)

    @property
    def all_views(self) -> bool:
        """Whether every output shares the storage of an argument, so that there is no kernel."""
        return all(r.annotation is not None for r in self.functional.func.returns)

    def functions(self) -> Iterator[NativeFunction]:
        """Yield the members that exist, in the order functional, in-place."""
        return filter(None, (self.functional, self.inplace))

    def bases(self) -> tuple[int, ...]:
        """Return, for each output, the position of the argument that it is a view of; -1 for a new tensor.

        An output that may be a view of several arguments, or of none, is reported elsewhere and is -1 here.
        """
        candidates = (self.base_candidates(r) for r in self.functional.func.returns)
        return tuple(found[0] if len(found) == 1 else -1 for found in candidates)

    def base_candidates(self, value: Return) -> tuple[int, ...]:
        """Return the positions of the Tensor arguments that `value` may be a view of."""
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


# The operators that share one meta function.
StructuredGroup: TypeAlias = NativeFunctionsGroup | OutlessGroup


def structured_rows(group: StructuredGroup) -> Iterator[tuple[DispatchKey, Kernel]]:
    """Yield the structured kernels of a group with their keys: each serves all members."""
    return ((key, kernel) for key, kernel in group.primary.dispatch if kernel.structured)


class NativeFunctionsViewGroup(Struct, frozen=True):
    """A view operator with its in-place form and the operator that copies instead."""

    view: NativeFunction
    view_copy: NativeFunction | None = None
    view_inplace: NativeFunction | None = None

    @property
    def root_name(self) -> str:
        """`transpose` for the group of transpose.int."""
        return self.view.root_name

    @property
    def composite(self) -> bool:
        """Whether the view decomposes into other operators (CompositeImplicitAutograd)."""
        return self.view.has_composite_implicit_autograd_kernel

    def functions(self) -> Iterator[NativeFunction]:
        """Yield the members that exist, in the order view, in-place, copy."""
        return filter(None, (self.view, self.view_inplace, self.view_copy))


class Registry(Struct, frozen=True, dict=True):
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

    @cached_property
    def _groups(self) -> Mapping[str, NativeFunctionsGroup]:
        return {f.full_name: g for g in self.groups for f in g.functions()}

    @cached_property
    def _outless(self) -> Mapping[str, OutlessGroup]:
        return {f.full_name: g for g in self.outless_groups for f in g.functions()}

    @cached_property
    def _views(self) -> Mapping[str, NativeFunctionsViewGroup]:
        return {f.full_name: g for g in self.view_groups for f in g.functions()}

    @cached_property
    def _functions(self) -> Mapping[str, NativeFunction]:
        return {f.full_name: f for f in self.functions}

    def find_function(self, full_name: str) -> NativeFunction | None:
        """Return the operator with this full name, such as `aten::add.Tensor`."""
        return self._functions.get(full_name)

    def group_of(self, f: NativeFunction) -> NativeFunctionsGroup | None:
        """Return the group of `f`, or None."""
        return self._groups.get(f.full_name)

    def structured_group_of(self, f: NativeFunction) -> StructuredGroup | None:
        """Return the structured group of `f`, or None."""
        group = self._groups.get(f.full_name)
        return group if group is not None and group.structured else self._outless.get(f.full_name)

    def structured_groups(self) -> Iterator[StructuredGroup]:
        """Yield the structured groups with an out variant, then those without."""
        yield from (group for group in self.groups if group.structured)
        yield from self.outless_groups

    def view_group_of(self, f: NativeFunction) -> NativeFunctionsViewGroup | None:
        """Return the view group of `f`, or None."""
        return self._views.get(f.full_name)
