"""Two schemas of one operator into what breaks between them, one function for each rule.

Programs are saved with positions, names and explicit values, so an argument keeps its name, place,
alias set and default; its type may only become wider, and a return's narrower. New arguments come
last and have a default. Out arguments are compared by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opgen.compat.alignment import Alignment, align
from opgen.compat.breaks import BACKWARD, BOTH, FORWARD, Break, BreakKind, Direction
from opgen.compat.default_values import DefaultValue, default_value, is_list
from opgen.compat.interpreter_types import interpreter_type, is_accepted, list_size
from opgen.dataclasses import dataclass
from opgen.diagnostics import Span
from opgen.model.function_schema import Annotation, Argument, Return
from opgen.model.native_function import NativeFunction

_NONE: frozenset[Direction] = frozenset()


@dataclass(frozen=True, slots=True)
class Versions:
    """One operator, before and after."""

    old: NativeFunction
    new: NativeFunction

    def found(
        self,
        kind: BreakKind,
        message: str,
        texts: tuple[object, object],
        spans: tuple[Span, Span],
        verdicts: frozenset[Direction] = BOTH,
        stricter: frozenset[Direction] = _NONE,
    ) -> Break:
        old, new = map(str, texts)
        name = self.new.full_name
        return Break(name, kind, message, old, new, *spans, verdicts, stricter - verdicts)

    def argument_spans(self, old: Argument | None, new: Argument | None) -> tuple[Span, Span]:
        return _argument_span(self.old, old), _argument_span(self.new, new)


def compare_schemas(versions: Versions) -> Iterator[Break]:
    """Every break between the schemas, whatever its direction."""
    old, new = _without_outs(versions.old), _without_outs(versions.new)
    yield from _compare_lists(versions, old, new, out=False)
    yield from _compare_lists(versions, _outs(versions.old), _outs(versions.new), out=True)
    yield from _compare_returns(versions)


# Arguments


def _outs(f: NativeFunction) -> tuple[Argument, ...]:
    """The out arguments. To PyTorch they begin with the first one behind `*` that is written, whatever is returned."""
    arguments = f.func.arguments
    return arguments.flat_all[_first_out(f) :] if f.is_library else arguments.out


def _without_outs(f: NativeFunction) -> tuple[Argument, ...]:
    arguments = f.func.arguments
    return arguments.flat_all[: _first_out(f)] if f.is_library else arguments.flat_non_out


def _first_out(f: NativeFunction) -> int:
    every, positional = f.func.arguments.flat_all, len(f.func.arguments.flat_positional)
    behind = range(positional, len(every))
    return next((i for i in behind if every[i].is_write), len(every))


def _compare_lists(
    versions: Versions, old: Sequence[Argument], new: Sequence[Argument], *, out: bool
) -> Iterator[Break]:
    aligned = align(old, new)
    for before, after in (*aligned.pairs, *aligned.renamed):
        yield from _compare_arguments(versions, before, after)
    for before, after in aligned.renamed:
        message = f"argument '{before.name}' is called '{after.name}' now"
        spans = versions.argument_spans(before, after)
        yield versions.found(BreakKind.renamed_argument, message, (before, after), spans)
    for position, argument in aligned.removed:
        yield _removed(versions, argument, seen_forward=out or position < len(new))
    if aligned.reordered:
        yield _reordered(versions, old, new)
    yield from _new_out_arguments(versions, aligned) if out else _new_arguments(versions, aligned)


def _removed(versions: Versions, argument: Argument, *, seen_forward: bool) -> Break:
    verdicts = BOTH if seen_forward else BACKWARD
    spans = versions.argument_spans(argument, None)
    moved = next((a for a in versions.new.func.arguments.flat_all if a.name == argument.name), None)
    if moved is not None:
        message = f"argument '{argument.name}' {_now_out(versions, moved)} an out argument"
        spans = versions.argument_spans(argument, moved)
        texts = (argument, moved)
        return versions.found(BreakKind.changed_argument_alias, message, texts, spans, BOTH)
    message = f"argument '{argument.name}' is gone"
    stricter = FORWARD if argument.default is None else _NONE
    kind = BreakKind.removed_argument
    return versions.found(kind, message, (argument, ""), spans, verdicts, stricter)


def _now_out(versions: Versions, argument: Argument) -> str:
    return "is now" if argument in _outs(versions.new) else "is no longer"


def _reordered(versions: Versions, old: Sequence[Argument], new: Sequence[Argument]) -> Break:
    texts = tuple(", ".join(a.name for a in arguments) for arguments in (old, new))
    message = "the arguments stand in another order"
    spans = (versions.old.span, versions.new.span)
    return versions.found(BreakKind.reordered_arguments, message, (texts[0], texts[1]), spans)


def _new_arguments(versions: Versions, aligned: Alignment) -> Iterator[Break]:
    for argument in aligned.inserted:
        message = f"new argument '{argument.name}' stands before old ones; new ones come last"
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
        message = f"new out argument '{argument.name}' stands before old ones"
        yield _new(versions, BreakKind.inserted_argument, message, argument, BOTH)
    for argument in aligned.appended:
        is_out = argument.is_write
        message = f"out argument '{argument.name}' is new"
        if not is_out:
            message = f"argument '{argument.name}' behind the out arguments is new"
        spans = versions.argument_spans(None, argument)
        kind = BreakKind.new_out_argument
        stricter = BACKWARD if argument.default is None else _NONE
        yield versions.found(kind, message, ("", argument), spans, FORWARD, stricter)


def _new(
    versions: Versions,
    kind: BreakKind,
    message: str,
    argument: Argument,
    verdicts: frozenset[Direction],
) -> Break:
    spans = versions.argument_spans(None, argument)
    return versions.found(kind, message, ("", argument), spans, verdicts)


def _compare_arguments(versions: Versions, old: Argument, new: Argument) -> Iterator[Break]:
    """What is different about one argument, but for its name."""
    if old.annotation != new.annotation and _alias(old.annotation) != _alias(new.annotation):
        message = f"the alias annotation of argument '{new.name}' is different"
        if old.is_write != new.is_write:
            message = f"argument '{new.name}' is {'' if new.is_write else 'no longer '}written{' now' if new.is_write else ''}"
        yield _changed(versions, BreakKind.changed_argument_alias, message, old, new, BOTH)
    verdicts = _type_verdicts(old, new)
    if verdicts:
        message = f"the type of argument '{new.name}' was {old.type} and is {new.type}"
        yield _changed(versions, BreakKind.changed_argument_type, message, old, new, verdicts)
    if _is_keyword(versions.new, new) and not _is_keyword(versions.old, old):
        message = f"argument '{new.name}' can no longer be given by position"
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
    return versions.found(kind, message, (old, new), versions.argument_spans(old, new), verdicts)


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
        message = f"argument '{new.name}' had no default and has {new.default}"
        yield _changed(versions, BreakKind.added_default, message, old, new, FORWARD)
    elif after is None:
        message = f"argument '{new.name}' has no default any more; it was {old.default}"
        yield _changed(versions, BreakKind.removed_default, message, old, new, BOTH)
    else:
        message = f"the default of argument '{new.name}' was {old.default} and is {new.default}"
        yield _changed(versions, BreakKind.changed_default, message, old, new, BOTH)


def _default(argument: Argument) -> DefaultValue | None:
    return None if argument.default is None else default_value(argument.default, argument.type)


# Returns


def _compare_returns(versions: Versions) -> Iterator[Break]:
    old, new = versions.old.func.returns, versions.new.func.returns
    if len(old) != len(new):
        message = f"it returned {_count(old)} and returns {_count(new)}"
        spans = (versions.old.span, versions.new.span)
        texts = tuple(f"({', '.join(map(str, returns))})" for returns in (old, new))
        kind = BreakKind.changed_number_of_returns
        yield versions.found(kind, message, (texts[0], texts[1]), spans)
        return
    for index, (before, after) in enumerate(zip(old, new)):
        yield from _compare_return(versions, index, before, after)


def _count(returns: Sequence[Return]) -> str:
    return "one value" if len(returns) == 1 else f"{len(returns)} values"


def _compare_return(versions: Versions, index: int, old: Return, new: Return) -> Iterator[Break]:
    spans = (versions.old.return_span(index), versions.new.return_span(index))

    def found(kind: BreakKind, message: str) -> Break:
        return versions.found(kind, message, (old, new), spans, BACKWARD, FORWARD)

    if old.name != new.name:
        message = f"the name of return {index} was {old.name or 'none'} and is {new.name or 'none'}"
        yield found(BreakKind.renamed_return, message)
    if _alias(old.annotation) != _alias(new.annotation):
        message = f"the alias annotation of return {index} is different"
        yield found(BreakKind.changed_return_alias, message)
    if list_size(old.type) != list_size(new.type) or not is_accepted(
        interpreter_type(new.type), interpreter_type(old.type)
    ):
        message = f"the type of return {index} was {old.type} and is {new.type}"
        yield found(BreakKind.changed_return_type, message)


# Of both


def _alias(annotation: Annotation | None) -> tuple[object, ...] | None:
    """Alias sets without order, and where in the type they stand, from the inside out.

    What says nothing of the sets afterwards leaves them as they are.
    """
    if annotation is None:
        return None
    before = frozenset(annotation.alias_set)
    after = frozenset(annotation.alias_set_after) or before
    inner = _alias(annotation.inner)
    return before, annotation.is_write, after, annotation.depth, inner


def _argument_span(f: NativeFunction, argument: Argument | None) -> Span:
    return f.span if argument is None else f.argument_span(argument.name)
