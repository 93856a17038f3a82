"""Compare two schemas of an operator, with one function for each rule.

Saved programs have positions, names and explicit values. So an argument must keep its name, position, alias set and
default; its type may become wider, and that of a return narrower. New arguments come last and have a default. Out
arguments are compared separately.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from opgen.compat.alignment import Alignment, align
from opgen.compat.breaks import BACKWARD, BOTH, FORWARD, Break, BreakKind, Direction
from opgen.compat.default_values import DefaultValue, default_value, is_list
from opgen.compat.interpreter_types import interpreter_type, is_accepted, list_size
from opgen.diagnostics import Span
from opgen.model.function_schema import Annotation, Argument, Return
from opgen.model.native_function import NativeFunction

_NONE: frozenset[Direction] = frozenset()


class Versions(Struct, frozen=True):
    """Two versions of an operator."""

    old: NativeFunction
    new: NativeFunction

    def break_(
        self,
        kind: BreakKind,
        message: str,
        texts: tuple[object, object],
        spans: tuple[Span, Span],
        verdicts: frozenset[Direction] = BOTH,
        stricter: frozenset[Direction] = _NONE,
    ) -> Break:
        """Return a break of this operator. `texts` and `spans` are those of the changed part, old and new."""
        old, new = map(str, texts)
        name = self.new.full_name
        return Break(name, kind, message, old, new, *spans, verdicts, stricter - verdicts)

    def argument_spans(self, old: Argument | None, new: Argument | None) -> tuple[Span, Span]:
        return _argument_span(self.old, old), _argument_span(self.new, new)


def compare_schemas(versions: Versions) -> Iterator[Break]:
    """Yield all breaks between the schemas, in both directions."""
    old, new = _without_outs(versions.old), _without_outs(versions.new)
    yield from _compare_lists(versions, old, new, out=False)
    yield from _compare_lists(versions, _outs(versions.old), _outs(versions.new), out=True)
    yield from _compare_returns(versions)


# Arguments


def _outs(f: NativeFunction) -> tuple[Argument, ...]:
    """Return the out arguments. For PyTorch's runtime, they begin at the first written keyword argument."""
    arguments = f.func.arguments
    return arguments.flat_all[_first_out(f) :] if f.is_library else arguments.out


def _without_outs(f: NativeFunction) -> tuple[Argument, ...]:
    arguments = f.func.arguments
    return arguments.flat_all[: _first_out(f)] if f.is_library else arguments.flat_non_out


def _first_out(f: NativeFunction) -> int:
    arguments, positional = f.func.arguments.flat_all, len(f.func.arguments.flat_positional)
    keyword = range(positional, len(arguments))
    return next((i for i in keyword if arguments[i].is_write), len(arguments))


def _compare_lists(
    versions: Versions, old: Sequence[Argument], new: Sequence[Argument], *, out: bool
) -> Iterator[Break]:
    aligned = align(old, new)
    for before, after in (*aligned.pairs, *aligned.renamed):
        yield from _compare_arguments(versions, before, after)
    for before, after in aligned.renamed:
        message = f"argument '{before.name}' was renamed to '{after.name}'"
        spans = versions.argument_spans(before, after)
        yield versions.break_(BreakKind.renamed_argument, message, (before, after), spans)
    for position, argument in aligned.removed:
        yield _removed(versions, argument, breaks_forward=out or position < len(new))
    if aligned.reordered:
        yield _reordered(versions, old, new)
    yield from _new_out_arguments(versions, aligned) if out else _new_arguments(versions, aligned)


def _removed(versions: Versions, argument: Argument, *, breaks_forward: bool) -> Break:
    verdicts = BOTH if breaks_forward else BACKWARD
    spans = versions.argument_spans(argument, None)
    moved = next((a for a in versions.new.func.arguments.flat_all if a.name == argument.name), None)
    if moved is not None:
        message = f"argument '{argument.name}' {_now_out(versions, moved)} an out argument"
        spans = versions.argument_spans(argument, moved)
        texts = (argument, moved)
        return versions.break_(BreakKind.changed_argument_alias, message, texts, spans, BOTH)
    message = f"argument '{argument.name}' was removed"
    stricter = FORWARD if argument.default is None else _NONE
    kind = BreakKind.removed_argument
    return versions.break_(kind, message, (argument, ""), spans, verdicts, stricter)


def _now_out(versions: Versions, argument: Argument) -> str:
    return "is now" if argument in _outs(versions.new) else "is no longer"


def _reordered(versions: Versions, old: Sequence[Argument], new: Sequence[Argument]) -> Break:
    texts = tuple(", ".join(a.name for a in arguments) for arguments in (old, new))
    message = "the order of the arguments changed"
    spans = (versions.old.span, versions.new.span)
    return versions.break_(BreakKind.reordered_arguments, message, (texts[0], texts[1]), spans)


def _new_arguments(versions: Versions, aligned: Alignment) -> Iterator[Break]:
    for argument in aligned.inserted:
        message = f"new argument '{argument.name}' comes before old ones; it must come last"
        yield _new(versions, BreakKind.inserted_argument, message, argument, BOTH)
    for argument in aligned.appended:
        if argument.default is None:
            message = f"new argument '{argument.name}' has no default"
            yield _new(versions, BreakKind.new_argument_without_default, message, argument, BOTH)
        elif is_list(default_value(argument.default, argument.type)):
            message = f"the default of new argument '{argument.name}' is a list"
            kind = BreakKind.new_argument_with_list_default
            yield _new(versions, kind, message, argument, FORWARD)


def _new_out_arguments(versions: Versions, aligned: Alignment) -> Iterator[Break]:
    for argument in aligned.inserted:
        message = f"new out argument '{argument.name}' comes before old ones"
        yield _new(versions, BreakKind.inserted_argument, message, argument, BOTH)
    for argument in aligned.appended:
        is_out = argument.is_write
        message = f"out argument '{argument.name}' is new"
        if not is_out:
            message = f"argument '{argument.name}' after the out arguments is new"
        spans = versions.argument_spans(None, argument)
        kind = BreakKind.new_out_argument
        stricter = BACKWARD if argument.default is None else _NONE
        yield versions.break_(kind, message, ("", argument), spans, FORWARD, stricter)


def _new(
    versions: Versions,
    kind: BreakKind,
    message: str,
    argument: Argument,
    verdicts: frozenset[Direction],
) -> Break:
    spans = versions.argument_spans(None, argument)
    return versions.break_(kind, message, ("", argument), spans, verdicts)


def _compare_arguments(versions: Versions, old: Argument, new: Argument) -> Iterator[Break]:
    """Yield the breaks of an argument, except a new name."""
    if old.annotation != new.annotation and _alias(old.annotation) != _alias(new.annotation):
        message = f"the alias annotation of argument '{new.name}' changed"
        if old.is_write != new.is_write:
            now = "is now written" if new.is_write else "is no longer written"
            message = f"argument '{new.name}' {now}"
        yield _changed(versions, BreakKind.changed_argument_alias, message, old, new, BOTH)
    verdicts = _type_verdicts(old, new)
    if verdicts:
        message = f"the type of argument '{new.name}' was {old.type}, and is now {new.type}"
        yield _changed(versions, BreakKind.changed_argument_type, message, old, new, verdicts)
    if _is_keyword(versions.new, new) and not _is_keyword(versions.old, old):
        message = f"argument '{new.name}' can no longer be passed by position"
        yield _changed(versions, BreakKind.keyword_only_moved, message, old, new, BOTH)
    yield from _compare_defaults(versions, old, new)


def _changed(
    versions: Versions,
    kind: BreakKind,
    message: str,
    old: Argument,
    new: Argument,
    verdicts: frozenset[Direction],
) -> Break:
    return versions.break_(kind, message, (old, new), versions.argument_spans(old, new), verdicts)


def _type_verdicts(old: Argument, new: Argument) -> frozenset[Direction]:
    if old.type == new.type:
        return _NONE
    if list_size(old.type) != list_size(new.type):
        return BOTH
    before, after = interpreter_type(old.type), interpreter_type(new.type)
    backward = _NONE if is_accepted(before, after) else BACKWARD
    return backward if is_accepted(after, before) else backward | FORWARD


def _is_keyword(f: NativeFunction, argument: Argument) -> bool:
    return argument not in f.func.arguments.flat_positional


def _compare_defaults(versions: Versions, old: Argument, new: Argument) -> Iterator[Break]:
    before, after = _default(old), _default(new)
    if before == after:
        return
    if before is None:
        message = f"argument '{new.name}' had no default, and now has {new.default}"
        yield _changed(versions, BreakKind.added_default, message, old, new, FORWARD)
    elif after is None:
        message = f"argument '{new.name}' no longer has a default; it was {old.default}"
        yield _changed(versions, BreakKind.removed_default, message, old, new, BOTH)
    else:
        message = (
            f"the default of argument '{new.name}' was {old.default}, and is now {new.default}"
        )
        yield _changed(versions, BreakKind.changed_default, message, old, new, BOTH)


def _default(argument: Argument) -> DefaultValue | None:
    return None if argument.default is None else default_value(argument.default, argument.type)


# Returns


def _compare_returns(versions: Versions) -> Iterator[Break]:
    old, new = versions.old.func.returns, versions.new.func.returns
    if len(old) != len(new):
        message = f"it returned {_count(old)}, and now returns {_count(new)}"
        spans = (versions.old.span, versions.new.span)
        texts = tuple(f"({', '.join(map(str, returns))})" for returns in (old, new))
        kind = BreakKind.changed_number_of_returns
        yield versions.break_(kind, message, (texts[0], texts[1]), spans)
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
    if list_size(old.type) != list_size(new.type) or not is_accepted(
        interpreter_type(new.type), interpreter_type(old.type)
    ):
        message = f"the type of return {index} was {old.type}, and is now {new.type}"
        yield break_(BreakKind.changed_return_type, message)


# Arguments and returns


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
