"""Compare two schemas of an operator, with one function for each rule.

Saved programs have positions, names and explicit values. So an argument must keep its name, position, alias set and
default; its type may become wider, and that of a return narrower. New arguments come last and have a default. Out
arguments are compared separately.

For the interpreter, an enumeration is an int, and so is a symbolic size. Element types of lists must be equal. Source:
`torch.FunctionSchema`, whose verdicts are the same (tests/differential/parity/test_compat.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import TypeAlias

from msgspec import Struct

from opgen.compat.breaks import BACKWARD, BOTH, FORWARD, Break, BreakKind, Direction
from opgen.diagnostics import Span
from opgen.model.function_schema import Annotation, Argument, Return
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.types import (
    BaseTy,
    BaseType,
    CustomClassType,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
)

ANY = BaseType(BaseTy.Any)
INT = BaseType(BaseTy.int)
FLOAT = BaseType(BaseTy.float)
COMPLEX = BaseType(BaseTy.complex)
NUMBER = BaseType(BaseTy.Scalar)

_INTS = frozenset(
    (
        *(BaseTy.SymInt, BaseTy.ScalarType, BaseTy.Layout, BaseTy.MemoryFormat),
        *(BaseTy.DeviceIndex, BaseTy.ConstQuantizerPtr),
    )
)


@cache
def interpreter_type(type: Type) -> Type:
    """Return the interpreter's type for a schema type: a list has no size, and Any includes None."""
    match type:
        case BaseType(name):
            return INT if name in _INTS else type
        case CustomClassType(name):
            return CustomClassType(name)
        case DictType(key, value):
            return DictType(interpreter_type(key), interpreter_type(value))
        case TupleType(elems):
            return TupleType(tuple(map(interpreter_type, elems)))
        case ListType(elem):
            return ListType(interpreter_type(elem), None)
        case OptionalType(elem):
            inner = interpreter_type(elem)
            return inner if isinstance(inner, OptionalType) or inner == ANY else OptionalType(inner)


def _list_size(type: Type) -> int | None:
    """Return the declared size of a list; None if there is none. Interpreter types have no size."""
    list_type = type.is_list_like()
    return None if list_type is None else list_type.size


def is_accepted(actual: Type, declared: Type) -> bool:
    """Return whether each value of type `actual` can be passed as one of type `declared`."""
    if actual == declared or declared == ANY:
        return True
    match actual, declared:
        case OptionalType(inner), OptionalType():
            return is_accepted(inner, declared)
        case _, OptionalType(inner):
            return is_accepted(actual, inner)
        case TupleType(elems), TupleType(declared_elems):
            same_size = len(elems) == len(declared_elems)
            return same_size and all(map(is_accepted, elems, declared_elems))
        case BaseType(), BaseType():
            return declared == NUMBER and actual in (INT, FLOAT, COMPLEX)
        case _:
            return False


# The kind of a value, and the value. Numbers of different kinds are different.
Scalar: TypeAlias = tuple[str, str | int | float | bool | None]
DefaultValue: TypeAlias = Scalar | tuple[Scalar, ...]

_WORDS: dict[str, Scalar] = {
    "None": ("none", None),
    "True": ("bool", True),
    "False": ("bool", False),
    # Enumerators that schemas can name, as their numbers.
    "Mean": ("int", 1),
    "contiguous_format": ("int", 0),
    "strided": ("int", 0),
    "long": ("int", 4),
    "float": ("int", 6),
    "complex": ("int", 9),
}


def default_value(default: str, type: Type) -> DefaultValue:
    """Evaluate the default of an argument of this type. A single value for a list with a size is repeated."""
    plain = interpreter_type(type)
    if default.startswith("[") and default.endswith("]"):
        elem = plain.elem if isinstance(plain, ListType) else plain
        items = (item.strip() for item in default[1:-1].split(","))
        return tuple(_scalar(item, elem) for item in items if item)
    if isinstance(plain, ListType):
        return (_scalar(default, plain.elem),) * (_list_size(type) or 1)
    return _scalar(default, plain)


def is_list(value: DefaultValue) -> bool:
    """Return whether a default is a list."""
    return value == () or isinstance(value[0], tuple)


def _scalar(text: str, type: Type) -> Scalar:
    if text[:1] in ("'", '"'):
        # Single and double quotes are equal.
        return ("str", text[1:-1].replace(f"\\{text[0]}", text[0]))
    if text in _WORDS:
        return _WORDS[text]
    try:
        is_int = type != FLOAT and not set(text) & set(".e")
        return ("int", int(text)) if is_int else ("float", float(text))
    except ValueError:
        return ("word", text)


class Alignment(Struct, frozen=True):
    """New arguments are `inserted` if their position is within the old list, and `appended` after it.

    `removed` arguments have their old positions: a comparison position by position notices them only within the length
    of the new list.
    """

    pairs: tuple[tuple[Argument, Argument], ...]
    renamed: tuple[tuple[Argument, Argument], ...]
    removed: tuple[tuple[int, Argument], ...]
    inserted: tuple[Argument, ...]
    appended: tuple[Argument, ...]
    reordered: bool


def align(old: Sequence[Argument], new: Sequence[Argument]) -> Alignment:
    """Match arguments by name. Two arguments at the same position without other counterparts count as one that was
    renamed.

    If the lists differ position by position, the result always has a difference.
    """
    before = {a.name: a for a in old}
    after = {a.name: a for a in new}
    common = tuple((a, after[a.name]) for a in old if a.name in after)
    renamed = tuple(
        (a, b)
        for a, b in zip(old, new)
        if a.name not in after and b.name not in before and _type_verdicts(a.type, b.type) != BOTH
    )
    matched = {a.name for pair in renamed for a in pair}
    added = [(i, b) for i, b in enumerate(new) if b.name not in before and b.name not in matched]
    return Alignment(
        pairs=common,
        renamed=renamed,
        removed=tuple(
            (i, a) for i, a in enumerate(old) if a.name not in after and a.name not in matched
        ),
        inserted=tuple(b for i, b in added if i < len(old)),
        appended=tuple(b for i, b in added if i >= len(old)),
        reordered=[a.name for a, _ in common] != [b.name for b in new if b.name in before],
    )


def _type_verdicts(old: Type, new: Type) -> frozenset[Direction]:
    """Return the directions in which values of one type are not accepted as the other, without the sizes of lists."""
    before, after = interpreter_type(old), interpreter_type(new)
    backward = _NONE if is_accepted(before, after) else BACKWARD
    return backward if is_accepted(after, before) else backward | FORWARD


_NONE: frozenset[Direction] = frozenset()


class Versions(Struct, frozen=True):
    """Two versions of an operator."""

    old: NativeFunction
    new: NativeFunction

    def break_(
        self,
        kind: BreakKind,
        message: str,
        texts: Sequence[object],
        spans: tuple[Span, Span],
        verdicts: frozenset[Direction] = BOTH,
        stricter: frozenset[Direction] = _NONE,
    ) -> Break:
        """Return a break of this operator. `texts` and `spans` are those of the changed part, old and new."""
        old, new = map(str, texts)
        name = self.new.full_name
        return Break(name, kind, message, old, new, *spans, verdicts, stricter - verdicts)

    def of_argument(
        self,
        kind: BreakKind,
        message: str,
        old: Argument | None,
        new: Argument | None,
        verdicts: frozenset[Direction] = BOTH,
        stricter: frozenset[Direction] = _NONE,
    ) -> Break:
        """Return a break of an argument, which is None in the version that does not have it."""
        spans = _argument_span(self.old, old), _argument_span(self.new, new)
        return self.break_(kind, message, (old or "", new or ""), spans, verdicts, stricter)


def compare_schemas(versions: Versions) -> Iterator[Break]:
    """Yield all breaks between the schemas, in both directions."""
    old, old_outs = _split(versions.old)
    new, new_outs = _split(versions.new)
    yield from _compare_lists(versions, old, new, out=False)
    yield from _compare_lists(versions, old_outs, new_outs, out=True)
    yield from _compare_returns(versions)


def _split(f: NativeFunction) -> tuple[tuple[Argument, ...], tuple[Argument, ...]]:
    """Return the other arguments and the out arguments.

    For PyTorch's runtime, these begin at the first written keyword argument.
    """
    arguments = f.func.arguments
    every, first = arguments.flat_all, len(arguments.flat_non_out)
    if f.is_library:
        keyword = range(len(arguments.flat_positional), len(every))
        first = next((i for i in keyword if every[i].is_write), len(every))
    return every[:first], every[first:]


def _compare_lists(
    versions: Versions, old: Sequence[Argument], new: Sequence[Argument], *, out: bool
) -> Iterator[Break]:
    aligned = align(old, new)
    for before, after in (*aligned.pairs, *aligned.renamed):
        yield from _compare_arguments(versions, before, after)
    for before, after in aligned.renamed:
        message = f"argument '{before.name}' was renamed to '{after.name}'"
        yield versions.of_argument(BreakKind.renamed_argument, message, before, after)
    for position, argument in aligned.removed:
        yield _removed(versions, argument, breaks_forward=out or position < len(new))
    if aligned.reordered:
        texts = tuple(", ".join(a.name for a in arguments) for arguments in (old, new))
        message = "the order of the arguments changed"
        spans = (versions.old.span, versions.new.span)
        yield versions.break_(BreakKind.reordered_arguments, message, texts, spans)
    what = f"new {'out ' if out else ''}argument"
    for argument in aligned.inserted:
        message = f"{what} '{argument.name}' comes before old ones; it must come last"
        yield versions.of_argument(BreakKind.inserted_argument, message, None, argument)
    for argument in aligned.appended:
        yield from (_new_out if out else _new)(versions, argument)


def _removed(versions: Versions, argument: Argument, *, breaks_forward: bool) -> Break:
    verdicts = BOTH if breaks_forward else BACKWARD
    moved = next((a for a in versions.new.func.arguments.flat_all if a.name == argument.name), None)
    if moved is not None:
        now = "is now" if moved in _split(versions.new)[1] else "is no longer"
        message = f"argument '{argument.name}' {now} an out argument"
        return versions.of_argument(BreakKind.changed_argument_alias, message, argument, moved)
    message = f"argument '{argument.name}' was removed"
    stricter = FORWARD if argument.default is None else _NONE
    kind = BreakKind.removed_argument
    return versions.of_argument(kind, message, argument, None, verdicts, stricter)


def _new(versions: Versions, argument: Argument) -> Iterator[Break]:
    if argument.default is None:
        message = f"new argument '{argument.name}' has no default"
        kind = BreakKind.new_argument_without_default
        yield versions.of_argument(kind, message, None, argument)
    elif is_list(default_value(argument.default, argument.type)):
        message = f"the default of new argument '{argument.name}' is a list"
        kind = BreakKind.new_argument_with_list_default
        yield versions.of_argument(kind, message, None, argument, FORWARD)


def _new_out(versions: Versions, argument: Argument) -> Iterator[Break]:
    message = f"out argument '{argument.name}' is new"
    if not argument.is_write:
        message = f"argument '{argument.name}' after the out arguments is new"
    kind = BreakKind.new_out_argument
    stricter = BACKWARD if argument.default is None else _NONE
    yield versions.of_argument(kind, message, None, argument, FORWARD, stricter)


def _compare_arguments(versions: Versions, old: Argument, new: Argument) -> Iterator[Break]:
    """Yield the breaks of an argument, except a new name."""
    if old.annotation != new.annotation and _alias(old.annotation) != _alias(new.annotation):
        message = f"the alias annotation of argument '{new.name}' changed"
        if old.is_write != new.is_write:
            now = "is now written" if new.is_write else "is no longer written"
            message = f"argument '{new.name}' {now}"
        yield versions.of_argument(BreakKind.changed_argument_alias, message, old, new)
    is_same_size = _list_size(old.type) == _list_size(new.type)
    verdicts = _type_verdicts(old.type, new.type) if is_same_size else BOTH
    if verdicts:
        message = f"the type of argument '{new.name}' was {old.type}, and is now {new.type}"
        yield versions.of_argument(BreakKind.changed_argument_type, message, old, new, verdicts)
    if _is_keyword(versions.new, new) and not _is_keyword(versions.old, old):
        message = f"argument '{new.name}' can no longer be passed by position"
        yield versions.of_argument(BreakKind.keyword_only_moved, message, old, new)
    yield from _compare_defaults(versions, old, new)


def _is_keyword(f: NativeFunction, argument: Argument) -> bool:
    return argument not in f.func.arguments.flat_positional


def _compare_defaults(versions: Versions, old: Argument, new: Argument) -> Iterator[Break]:
    before, after = _default(old), _default(new)
    if before == after:
        return
    if before is None:
        message = f"argument '{new.name}' had no default, and now has {new.default}"
        yield versions.of_argument(BreakKind.added_default, message, old, new, FORWARD)
    elif after is None:
        message = f"argument '{new.name}' no longer has a default; it was {old.default}"
        yield versions.of_argument(BreakKind.removed_default, message, old, new)
    else:
        message = (
            f"the default of argument '{new.name}' was {old.default}, and is now {new.default}"
        )
        yield versions.of_argument(BreakKind.changed_default, message, old, new)


def _default(argument: Argument) -> DefaultValue | None:
    return None if argument.default is None else default_value(argument.default, argument.type)


def _compare_returns(versions: Versions) -> Iterator[Break]:
    old, new = versions.old.func.returns, versions.new.func.returns
    if len(old) != len(new):
        message = f"it returned {_count(old)}, and now returns {_count(new)}"
        spans = (versions.old.span, versions.new.span)
        texts = tuple(f"({', '.join(map(str, returns))})" for returns in (old, new))
        yield versions.break_(BreakKind.changed_number_of_returns, message, texts, spans)
        return
    for index, (before, after) in enumerate(zip(old, new)):
        yield from _compare_return(versions, index, before, after)


def _count(returns: Sequence[Return]) -> str:
    return "one value" if len(returns) == 1 else f"{len(returns)} values"


def _compare_return(versions: Versions, index: int, old: Return, new: Return) -> Iterator[Break]:
    spans = (versions.old.return_span(index), versions.new.return_span(index))

    def break_(kind: BreakKind, message: str) -> Break:
        return versions.break_(kind, message, (old, new), spans, BACKWARD, FORWARD)

    if old.name != new.name:
        before, after = old.name or "none", new.name or "none"
        message = f"the name of return {index} was {before}, and is now {after}"
        yield break_(BreakKind.renamed_return, message)
    if _alias(old.annotation) != _alias(new.annotation):
        message = f"the alias annotation of return {index} changed"
        yield break_(BreakKind.changed_return_alias, message)
    if _list_size(old.type) != _list_size(new.type) or not is_accepted(
        interpreter_type(new.type), interpreter_type(old.type)
    ):
        message = f"the type of return {index} was {old.type}, and is now {new.type}"
        yield break_(BreakKind.changed_return_type, message)


def _alias(annotation: Annotation | None) -> tuple[object, ...] | None:
    """Return an annotation for comparison: its alias sets without order, with their depth in the type.

    Without sets after `->`, the sets before it are kept.
    """
    if annotation is None:
        return None
    before = frozenset(annotation.alias_set)
    after = frozenset(annotation.alias_set_after) or before
    inner = _alias(annotation.inner)
    return before, annotation.is_write, after, annotation.depth, inner


def _argument_span(f: NativeFunction, argument: Argument | None) -> Span:
    return f.span if argument is None else f.argument_span(argument.name)


def compare_operators(
    old: Iterable[NativeFunction], new: Iterable[NativeFunction]
) -> tuple[Break, ...]:
    """Return all breaks, in the order of the old operators. New operators break nothing."""
    old = tuple(old)
    before = {f.full_name for f in old}
    after = {f.full_name: f for f in new}
    bases = {_base_name(f) for f in after.values()}
    moved: dict[str, list[str]] = {}
    for f in after.values():
        if f.full_name not in before:
            moved.setdefault(str(f.func.name), []).append(f.full_name)
    found: list[Break] = []
    for f in old:
        if f.full_name in after:
            versions = Versions(f, after[f.full_name])
            found += (*compare_schemas(versions), *_compare_attributes(versions))
        else:
            found.append(_removed_operator(f, bases, moved.get(str(f.func.name), ())))
    return tuple(found)


def _base_name(f: NativeFunction) -> str:
    return f"{f.namespace}::{f.func.name.name}"


def _removed_operator(f: NativeFunction, bases: Collection[str], moved: Sequence[str]) -> Break:
    """Return the break of a removed operator. `moved` are new operators with its name in other namespaces."""
    if _base_name(f) in bases:
        kind, message = BreakKind.removed_overload, f"overload '{f.full_name}' was removed"
    else:
        kind, message = BreakKind.removed_operator, f"operator '{f.full_name}' was removed"
        if moved:
            message += f"; for callers, '{moved[0]}' is another operator"
    return Break(f.full_name, kind, message, str(f.func), "", f.span, None, BOTH)


def _compare_attributes(versions: Versions) -> Iterator[Break]:
    """Yield the breaks outside of the schemas."""
    old, new = both = versions.old, versions.new

    def break_(kind: BreakKind, message: str, texts: Sequence[str], key: str) -> Break:
        spans = (old.spans.key(key), new.spans.key(key))
        return versions.break_(kind, message, texts, spans, _NONE, BACKWARD)

    if _serves_every_backend(old) and not _serves_every_backend(new):
        keys = [", ".join(str(key) for key, _ in f.dispatch) or "none" for f in both]
        message = "it had a kernel for every backend, but has none now"
        yield break_(BreakKind.lost_composite_kernel, message, keys, "dispatch")
    for variant in sorted(old.variants - new.variants, key=lambda v: v.name):
        what = "method of Tensor" if variant is Variant.method else "function"
        variants = [", ".join(sorted(v.name for v in f.variants)) or "none" for f in both]
        message = f"it can no longer be called as a {what}"
        yield break_(BreakKind.removed_variant, message, variants, "variants")
    if old.python_module != new.python_module:
        modules = [f.python_module or "" for f in both]
        was, now = (module or "none" for module in modules)
        message = f"its Python module was {was}, and is now {now}"
        yield break_(BreakKind.moved_python_module, message, modules, "python_module")


def _serves_every_backend(f: NativeFunction) -> bool:
    """Return whether all backends have the operator.

    The functional and in-place variants of a structured group are generated from the out variant, for all backends; a
    structured view without an out variant from its meta function.
    """
    is_structured_view = f.structured and f.is_view_op and not f.func.is_out_fn()
    return f.has_composite_kernel or f.structured_delegate is not None or is_structured_view
