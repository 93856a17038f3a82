"""Choose the functional operators that replace those that write or view arguments.

Functionalization (torch.compile, torch.export) replaces an operator by one that returns new tensors. In a group, that is the
functional variant. An operator of a library needs no group: PyTorch itself replaces one that writes and returns only new
tensors, and for every other opgen makes a hidden operator, its twin. torch-stable has more hidden operators: without
arguments that are numbers of any kind (Scalar), and for autograd kernels, which cannot call the next kernel there.

Source of the rule for what PyTorch itself replaces: `can_auto_functionalize` of PyTorch 2.13, and torch.compile, by trial.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator
from enum import Enum, auto

from msgspec import Struct
from msgspec.structs import replace

from opgen.model.cpp_words import RESERVED_PREFIX
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import (
    OPTIONAL_TENSOR,
    TENSOR,
    TENSOR_LIST,
    Argument,
    Arguments,
    BaseOperatorName,
    FunctionSchema,
    OperatorName,
    Return,
)
from opgen.model.native_function import KernelSource, NativeFunction, Variant
from opgen.model.registry import NativeFunctionsGroup, Registry
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type
from opgen.resolve.dispatch_tables import find_registration

# The types of containers in which functionalization finds tensors.
_HOLDERS = (
    TENSOR,
    OPTIONAL_TENSOR,
    TENSOR_LIST,
    ListType(OPTIONAL_TENSOR, None),
    OptionalType(TENSOR_LIST),
)
_WRITABLE = (TENSOR, OPTIONAL_TENSOR, TENSOR_LIST, OptionalType(TENSOR_LIST))
# The types of arguments that PyTorch lets operators write. (Also an optional list, but inductor fails if it is None.)
_TAKEN_WRITTEN = (TENSOR, OPTIONAL_TENSOR, TENSOR_LIST)
_INHERITED_TAGS = frozenset({"nondeterministic_seeded", "pt2_compliant_tag"})


class TwinReturn(Struct, frozen=True):
    """One return of an operator, compared with its twin.

    `argument` is the argument that it returns, or None. `own` is its position among the twin's results if it is a new
    value, or may be one: an optional argument may be absent.
    """

    argument: str | None
    own: int | None


class TwinForm(Enum):
    """The way in which a twin replaces an operator."""

    # The twin writes the same arguments and returns the new results, as PyTorch itself replaces operators: the operator
    # decomposes into it. Memory is copied only if the old values are still needed.
    writer = auto()
    # The twin writes nothing: it returns the new results, then the new values of the written arguments.
    functional = auto()
    # The twin of a view returns a copy.
    copy = auto()


class Twin(Struct, frozen=True):
    """The hidden operator `twin` that replaces `function`, and which of its results `function` returns.

    `functional` is the twin that writes nothing; for a view it is `twin`.
    """

    form: TwinForm
    function: NativeFunction
    twin: NativeFunction
    functional: NativeFunction
    returns: tuple[TwinReturn, ...]

    @property
    def own_count(self) -> int:
        return sum(r.own is not None for r in self.returns)


def is_replaced(f: NativeFunction, group: NativeFunctionsGroup, of_out: frozenset[str]) -> bool:
    """Return whether the functional variant of its group replaces `f`.

    It does if `f` writes arguments, does not decompose, and takes all arguments of the functional variant. `of_out` are the
    tensor options: a factory takes them from its out argument, and a generated out variant calls the functional variant
    without them. Other out variants whose functional variant takes options are not replaced, because an author's kernel
    may depend on the dtype of its out argument. Operators that return both arguments and new results are not replaced
    either.
    """
    given = {a.name for a in f.func.arguments.flat_all}
    is_open = group.functional.func.is_factory or "generated" in f.tags
    if is_open and len(f.func.arguments.out) == 1:
        given |= of_out
    fresh = {name is None for name in f.func.aliased_return_names()}
    return (
        len(fresh) < 2
        and f is not group.functional
        and not f.has_composite_implicit_autograd_kernel
        and f.find_kernel(DispatchKey.Functionalize) is None
        and all(a.name in given for a in group.functional.func.arguments.flat_all)
    )


def find_twins(
    registry: Registry, of_out: frozenset[str], *, several_views: bool = False
) -> Iterator[Twin]:
    """Return the twins of all operators that need one, in the order of the operators.

    With `several_views`, also of operators that return more than one view.
    """
    for f in registry.functions:
        if not f.is_library or f.manual_kernel_registration or "generated" in f.tags:
            continue
        group = registry.group_of(f)
        replaced = group is not None and is_replaced(f, group, of_out)
        decomposes = f.has_composite_implicit_autograd_kernel
        if replaced or decomposes or f.find_kernel(DispatchKey.Functionalize) is not None:
            continue
        if f.is_view_op:
            view = registry.view_group_of(f)
            is_replaced_view = views_first_argument(f, several=several_views)
            if is_replaced_view and (view is None or not has_own_copy(view.view_copy, f)):
                results = tuple(Return(None, r.type, None) for r in f.func.returns)
                twin = _hidden(f, "copy", _plain(f.func.arguments), results)
                yield Twin(TwinForm.copy, f, twin, twin, ())
        elif _needs_twin(f):
            # Whether generated code knows the sizes of its results.
            has_meta = (
                f.find_kernel(DispatchKey.CompositeExplicitAutograd) is not None
                or find_registration(registry, f, DispatchKey.Meta) is not None
            )
            yield _twin(f, has_meta)


def has_own_copy(copy: NativeFunction | None, view: NativeFunction) -> bool:
    """Return whether `copy` is the copying form of `view`. Operators of other names have other arguments."""
    return copy is not None and copy.root_name == f"{view.root_name}_copy"


def views_first_argument(f: NativeFunction, *, several: bool = False) -> bool:
    """Return whether the operator returns one view of its first argument, or a list of them, and nothing else.

    With `several`, it may have more than one such return.
    """
    count = len(f.func.returns)
    return f.is_view_op and len(find_views_of_first(f)) == count and (several or count == 1)


def find_views_of_first(f: NativeFunction) -> tuple[int, ...]:
    """Return which returns are views of the first argument: tensors, or a list of them.

    None of them if the operator writes, or other arguments have views.
    """
    arguments, returns = f.func.arguments.flat_all, f.func.returns
    aliased = [a for a in arguments if a.annotation is not None]
    views = tuple(i for i, r in enumerate(returns) if r.annotation is not None)
    types = (TENSOR, TENSOR_LIST) if len(returns) == 1 else (TENSOR,)
    is_of_first = (
        not f.func.is_mutable
        and len(aliased) == 1
        and aliased[0] == arguments[0]
        and arguments[0].type == TENSOR
    )
    return views if is_of_first and all(returns[i].type in types for i in views) else ()


def _needs_twin(f: NativeFunction) -> bool:
    """Return whether the operator writes, PyTorch does not replace it by itself, and a twin can be made."""
    func = f.func
    every = func.arguments.flat_all
    marked = [a for a in every if a.annotation is not None]
    written = [a for a in every if a.is_write]
    can_be_made = (
        any(a.annotation is not None and a.annotation.is_write for a in marked)
        and all(finds_tensors(a.type) for a in every)
        and all(a.type in _WRITABLE for a in written)
    )
    is_taken = (
        all(a.type in _TAKEN_WRITTEN for a in marked)
        and all(r.annotation is None and r.type == TENSOR for r in func.returns)
        and not any(keyword.iskeyword(a.name) or a.written for a in every)
        and not _is_lone_result(func.returns, written)
    )
    return can_be_made and not is_taken


def _is_lone_result(returns: tuple[Return, ...], written: list[Argument]) -> bool:
    """Return whether a replacement may return only one tensor. Inductor 2.13 fails in this case ("getitem is not an
    OpOverload"), with PyTorch's own replacement as with a twin."""
    return len(returns) == 1 and all(a.type.is_nullable() or a.type == TENSOR_LIST for a in written)


def finds_tensors(type: Type) -> bool:
    """Return whether functionalization finds the tensors in an argument of this type, or it can hold none."""
    return type in _HOLDERS or "Tensor" not in str(type)


def _twin(f: NativeFunction, has_meta: bool) -> Twin:
    arguments = {a.name: a for a in f.func.arguments.flat_all}
    own = 0
    returns: list[TwinReturn] = []
    results: list[Return] = []
    for name, value in zip(f.func.aliased_return_names(), f.func.returns):
        if name is not None and not arguments[name].type.is_nullable():
            returns.append(TwinReturn(name, None))
            continue
        returns.append(TwinReturn(name, own))
        own += 1
        type = value.type if name is None else OPTIONAL_TENSOR
        results.append(Return(None, type, None))
    written = [a for a in f.func.arguments.flat_all if a.is_write]
    changed = (Return(None, a.type, None) for a in written)
    functional = _hidden(f, "functional", _plain(f.func.arguments), (*results, *changed))
    fresh = tuple(r if r.type != OPTIONAL_TENSOR else Return(None, TENSOR, None) for r in results)
    if (
        has_meta
        and written
        and all(a.type in _TAKEN_WRITTEN for a in written)
        and all(r.type == TENSOR for r, at in zip(f.func.returns, returns) if at.own is not None)
    ):
        padding = (Return(None, TENSOR, None),) if _is_lone_result(fresh, written) else ()
        writer = _hidden(f, "writer", _writing(f.func.arguments), (*fresh, *padding))
        return Twin(TwinForm.writer, f, writer, functional, tuple(returns))
    return Twin(TwinForm.functional, f, functional, functional, tuple(returns))


def _hidden(
    f: NativeFunction, what: str, arguments: Arguments, returns: tuple[Return, ...]
) -> NativeFunction:
    base = BaseOperatorName(f"{RESERVED_PREFIX}{what}_{f.func.name.name}", False, False)
    name = OperatorName(base, f.func.name.overload_name)
    func = FunctionSchema(name, arguments, returns, f.profile)
    return replace(
        f,
        func=func,
        variants=frozenset({Variant.function}),
        dispatch=(),
        tags=f.tags & _INHERITED_TAGS,
        structured=False,
        structured_delegate=None,
        autogen=(),
    )


def _writing(arguments: Arguments) -> Arguments:
    """Return the same arguments, with annotations only for written ones, and names that are valid in Python."""

    def change(a: Argument) -> Argument:
        name = f"{a.name}_" if keyword.iskeyword(a.name) else a.name
        annotation = a.annotation if a.is_write else None
        return replace(a, name=name, written=None, annotation=annotation)

    return _changed(arguments, change)


def _plain(arguments: Arguments) -> Arguments:
    """Return the same arguments, without annotations; out arguments become ordinary ones."""
    return _changed(arguments, lambda a: replace(a, annotation=None))


def _changed(arguments: Arguments, change: Callable[[Argument], Argument]) -> Arguments:
    keyword = arguments.flat_kwarg_only + arguments.out
    return replace(arguments, flat_kwarg_only=keyword, out=()).changed(change)


_WORDS = ListType(BaseType(BaseTy.SymInt), None)


def takes_numbers(f: NativeFunction) -> bool:
    """Return whether an argument of `f` is a Scalar, or holds some."""
    return any(a.type.is_base_ty_like(BaseTy.Scalar) for a in f.func.arguments.flat_all)


def with_words(f: NativeFunction) -> NativeFunction:
    """Return the hidden operator for `f`, with the same arguments by position, and lists of integers for numbers.

    A list has the kind of each number and then its value, as runtime/torch_stable/src/dispatch/values.cpp reads it.
    """
    name = f.func.name
    arguments = Arguments(
        tuple(replace(a, type=_with_words(a.type), default=None) for a in f.func.arguments.flat_all)
    )
    base = BaseOperatorName(f"{RESERVED_PREFIX}scalar_{name.name}", False, False)
    func = FunctionSchema(
        OperatorName(base, name.overload_name), arguments, f.func.returns, f.profile
    )
    return replace(f, func=func, variants=frozenset({Variant.function}), autogen=())


def _with_words(type: Type) -> Type:
    if not type.is_base_ty_like(BaseTy.Scalar):
        return type
    if isinstance(type, OptionalType):
        return OptionalType(_with_words(type.elem))
    return _WORDS


HIDDEN_PREFIX = f"{RESERVED_PREFIX}below_"


def has_default_gradient(f: NativeFunction) -> bool:
    """Return whether the target decides what autograd does for `f`.

    False for operators that decompose, that have an Autograd kernel of their author, or that have no gradient by their types;
    and for existing functions, for which PyTorch does what it did before.
    """
    return (
        not f.has_composite_implicit_autograd_kernel
        and not any(kernel.source is KernelSource.existing for _, kernel in f.dispatch)
        and not any(key.name.startswith(DispatchKey.Autograd.name) for key, _ in f.dispatch)
        and any(a.type.is_tensor_like() for a in f.func.arguments.flat_all)
        and (f.func.is_mutable or any(r.type.is_tensor_like() for r in f.func.returns))
    )


def has_form_below(f: NativeFunction) -> bool:
    """Return whether `f` has a hidden operator below autograd.

    Those that take numbers are called through Python anyway. Of those with effects, compilers must see `f` itself.
    """
    return has_default_gradient(f) and not takes_numbers(f) and f.effects is None


def name_below(f: NativeFunction) -> str:
    """Return the name of the hidden operator, without its overload: `mylib::opgen_below_mix`."""
    return f"{f.namespace}::{HIDDEN_PREFIX}{f.func.name.name}"
