"""Find what keeps an operator with the form of an in-place or out variant from being one."""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence

from msgspec import Struct

from opgen.model.function_schema import TENSOR, Argument, FunctionSchema, may_alias


def find_inplace_mistake(func: FunctionSchema) -> str | None:
    """Return what makes an operator like `f_(Tensor(a!) image) -> Tensor(a!)` an in-place operator, for a hint.

    None if it is one, or if it does not write its first argument and return only that.
    """
    arguments, returned = func.arguments.flat_all, func.aliased_return_names()
    if not str(func.name.name).endswith("_") or func.is_inplace or len(returned) != 1:
        return None
    first = arguments[0].name if arguments else None
    if first is None or returned[0] != first or any(a.name == "self" for a in arguments):
        return None
    return f"an in-place operator writes 'self': rename '{first}' to 'self', in all variants"


class OutMistake(Struct, frozen=True):
    """One mistake. `argument` is the one at whose type it is; None if it is in the returns."""

    argument: Argument | None
    message: str
    hint: str


def find_out_mistake(func: FunctionSchema) -> OutMistake | None:
    """Return the first mistake in the out arguments of a schema; None if it promises no out arguments, or has no such
    mistake.

    A schema promises them by an overload that ends in `out`, or by a keyword argument that is written.
    """
    outs = _promised_outs(func)
    if not outs:
        return _positional_out(func)
    returned = _returned(_with_letters(func, outs))
    for first, second, letter in shared_letters(func):
        hint = f"give each a letter of its own: 'Tensor({letter}!) {second.name}', and return '{returned}'"
        return OutMistake(second, f"'{first.name}' and '{second.name}' have the same letter", hint)
    for a, letter in zip(outs, _with_letters(func, outs)):
        if not a.is_write:
            hint = f"write 'Tensor({letter}!) {a.name}', and return '{returned}'"
            return OutMistake(a, f"'{a.name}' is not marked as written", hint)
    pairs = zip(outs, func.returns)
    if len(outs) != len(func.returns) or not all(
        may_alias(a.annotation, r.annotation) for a, r in pairs
    ):
        names = " and ".join(f"'{a.name}'" for a in outs)
        return OutMistake(None, f"it does not return {names}", f"return '{returned}'")
    return None


def _positional_out(func: FunctionSchema) -> OutMistake | None:
    """Find a written tensor at the end of the positional arguments of `f.out`, which has none after `*`."""
    arguments = func.arguments.flat_all
    if not func.name.overload_name.endswith("out") or not arguments or not arguments[-1].is_write:
        return None
    first = arguments[-1]
    for a in reversed(arguments):
        if not a.is_write or a.name == "self":
            break
        first = a
    hint = f"write '*, ' before '{first.type_text} {first.name}'"
    return OutMistake(first, f"'{first.name}' is not after '*'", hint)


def shared_letters(func: FunctionSchema) -> Iterator[tuple[Argument, Argument, str]]:
    """Yield each written argument with the letter of one before it: the one before, this one, and a letter that no
    argument has.
    """
    letters: dict[tuple[str, ...], Argument] = {}
    for a in func.arguments.flat_all:
        own = a.annotation
        if own is None or not own.is_write or not own.alias_set or "*" in own.alias_set:
            continue
        first = letters.setdefault(own.alias_set, a)
        if first is not a:
            yield first, a, _free_letters(func)[0]


def _promised_outs(func: FunctionSchema) -> tuple[Argument, ...]:
    """Return the keyword arguments that stand where those of an out variant stand: the last, one for each return."""
    keyword = (*func.arguments.flat_kwarg_only, *func.arguments.out)
    if func.name.name.inplace or not (
        func.name.overload_name.endswith("out") or any(a.is_write for a in keyword)
    ):
        return ()
    tensors: list[Argument] = []
    for a in reversed(keyword):
        if a.type != TENSOR or a.default is not None:
            break
        tensors.insert(0, a)
    written = [i for i, a in enumerate(tensors) if a.is_write]
    first = min([len(tensors) - len(func.returns), *written])
    return tuple(tensors[max(first, 0) :])


def _with_letters(func: FunctionSchema, outs: Sequence[Argument]) -> list[str]:
    """Return a letter for each out argument: its own, or a free one if it has none or shares it."""
    free = iter(_free_letters(func))
    letters: list[str] = []
    for a in outs:
        own = a.annotation.alias_set if a.annotation is not None and a.is_write else ()
        letter = own[0] if len(own) == 1 and own[0] not in (*letters, "*") else next(free)
        letters.append(letter)
    return letters


def _free_letters(func: FunctionSchema) -> list[str]:
    taken = {
        letter
        for a in func.arguments.flat_all
        if a.annotation is not None
        for letter in a.annotation.alias_set
    }
    return [letter for letter in string.ascii_lowercase if letter not in taken]


def _returned(letters: Sequence[str]) -> str:
    types = [f"Tensor({letter}!)" for letter in letters]
    return types[0] if len(types) == 1 else f"({', '.join(types)})"
