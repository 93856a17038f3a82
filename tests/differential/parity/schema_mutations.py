"""Change a schema slightly, in the ways in which schemas change over time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from msgspec.structs import replace

from opgen.model.function_schema import Annotation, Argument, Arguments, FunctionSchema, Return
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type

_TENSOR = BaseType(BaseTy.Tensor)
# Those that PyTorch still has.
_GONE = (BaseTy.Dimname, BaseTy.DimVector, BaseTy.GraphModule)
_BASES = tuple(BaseType(name) for name in BaseTy if name not in _GONE)
_DEFAULTS = (
    *("None", "True", "False", "0", "1", "-1", "4", "01", "0.0", "1.0", "1.", "1e-5", "0.00001"),
    *("'a'", '"a"', "'mean'", "[]", "[0]", "[0,1]", "[1,1]", "[True,False]", "[1.0]"),
    *("Mean", "contiguous_format", "long"),
)
_ANNOTATIONS = (
    None,
    Annotation(("a",), False, ()),
    Annotation(("a",), False, ("a",)),
    Annotation(("a",), False, ("*",)),
    Annotation(("a", "b"), False, ()),
    Annotation(("b", "a"), False, ()),
    Annotation(("b",), False, ()),
)
_WRITTEN = (Annotation(("a",), True, ()), Annotation(("z",), True, ()))


@dataclass(slots=True)
class Draft:
    """A schema as parts. Arguments that are keyword-only and written are in `out`, as in parsers."""

    positional: list[Argument]
    keyword: list[Argument]
    out: list[Argument]
    returns: list[Return]

    def lists(self) -> list[list[Argument]]:
        return [self.positional, self.keyword, self.out]


def mutate(schema: FunctionSchema, random: Random) -> FunctionSchema:
    """Return `schema` after one to three changes, some of which may have no effect."""
    arguments = schema.arguments
    draft = Draft(
        list(arguments.flat_positional),
        list(arguments.flat_kwarg_only),
        list(arguments.out),
        list(schema.returns),
    )
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        random.choice(_MUTATIONS)(draft, random)
    built = Arguments(tuple(draft.positional), tuple(draft.keyword), tuple(draft.out))
    return replace(schema, arguments=built, returns=tuple(draft.returns))


def _type(random: Random) -> Type:
    base: Type = random.choice(_BASES)
    match random.randrange(7):
        case 0 | 1:
            return base
        case 2:
            return OptionalType(base)
        case 3:
            return ListType(base, random.choice((None, 2, 3)))
        case 4:
            return OptionalType(ListType(base, random.choice((None, 2))))
        case 5:
            return ListType(OptionalType(base), None)
        case _:
            return OptionalType(ListType(OptionalType(base), None))


def _near_type(type: Type, random: Random) -> Type:
    """Return a type related to `type`: a wider one, a narrower one, or a list of it."""
    match type, random.randrange(4):
        case OptionalType(elem), 0 | 1:
            return elem
        case ListType(elem, size), 1:
            return random.choice((elem, ListType(elem, 3 if size is None else None)))
        case BaseType(BaseTy.int), 2:
            return BaseType(random.choice((BaseTy.SymInt, BaseTy.Scalar, BaseTy.ScalarType)))
        case _, 3:
            return _type(random)
        case _:
            return OptionalType(type)


def _default(random: Random) -> str | None:
    return random.choice((None, *_DEFAULTS))


def _fresh(random: Random, default: str | None) -> Argument:
    return Argument(random.choice(("fresh_a", "fresh_b")), _type(random), default, None)


def _change_some(
    draft: Draft, random: Random, change: Callable[[Argument, Random], Argument]
) -> None:
    lists = [arguments for arguments in draft.lists() if arguments]
    if lists:
        arguments = random.choice(lists)
        index = random.randrange(len(arguments))
        arguments[index] = change(arguments[index], random)


def _rename(draft: Draft, random: Random) -> None:
    _change_some(draft, random, lambda a, _: replace(a, name=f"{a.name}_x"))


def _retype(draft: Draft, random: Random) -> None:
    def change(a: Argument, random: Random) -> Argument:
        # An annotated type is made by replacing "Tensor" in its text.
        return a if a.annotation else replace(a, type=_near_type(a.type, random))

    _change_some(draft, random, change)


def _redefault(draft: Draft, random: Random) -> None:
    _change_some(draft, random, lambda a, r: replace(a, default=_default(r)))


def _retype_with_default(draft: Draft, random: Random) -> None:
    _change_some(
        draft,
        random,
        lambda a, r: a if a.annotation else replace(a, type=_type(r), default=_default(r)),
    )


def _drop_default(draft: Draft, random: Random) -> None:
    _change_some(draft, random, lambda a, _: replace(a, default=None))


def _annotate(draft: Draft, random: Random) -> None:
    def change(a: Argument, random: Random) -> Argument:
        return replace(a, annotation=random.choice(_ANNOTATIONS)) if a.type == _TENSOR else a

    arguments = random.choice((draft.positional, draft.keyword))
    if arguments:
        index = random.randrange(len(arguments))
        arguments[index] = change(arguments[index], random)


def _write(draft: Draft, random: Random) -> None:
    """Mark another argument as written, which turns a keyword-only one into an out argument."""
    arguments = random.choice(draft.lists())
    tensors = [i for i, a in enumerate(arguments) if a.type == _TENSOR]
    if not tensors:
        return
    index = random.choice(tensors)
    written = replace(arguments[index], annotation=random.choice(_WRITTEN))
    if arguments is draft.keyword:
        del arguments[index]
        draft.out.append(written)
    else:
        arguments[index] = written


def _swap(draft: Draft, random: Random) -> None:
    arguments = random.choice(draft.lists())
    if len(arguments) > 1:
        i, j = random.sample(range(len(arguments)), 2)
        arguments[i], arguments[j] = arguments[j], arguments[i]


def _remove(draft: Draft, random: Random) -> None:
    arguments = random.choice(draft.lists())
    if arguments:
        del arguments[random.choice((-1, random.randrange(len(arguments))))]


def _append(draft: Draft, random: Random) -> None:
    random.choice((draft.positional, draft.keyword)).append(_fresh(random, _default(random)))


def _insert(draft: Draft, random: Random) -> None:
    arguments = random.choice((draft.positional, draft.keyword))
    arguments.insert(random.randint(0, len(arguments)), _fresh(random, _default(random)))


def _add_out(draft: Draft, random: Random) -> None:
    written = Argument("fresh_out", _TENSOR, None, random.choice(_WRITTEN))
    draft.out.insert(random.choice((len(draft.out), 0)), written)


def _to_keyword(draft: Draft, random: Random) -> None:
    if draft.positional and not draft.positional[-1].is_write:
        draft.keyword.insert(0, draft.positional.pop())


def _to_positional(draft: Draft, random: Random) -> None:
    if draft.keyword:
        draft.positional.append(draft.keyword.pop(0))


def _change_return(draft: Draft, random: Random) -> None:
    if not draft.returns:
        draft.returns.append(Return(None, _type(random), None))
        return
    index = random.randrange(len(draft.returns))
    old = draft.returns[index]
    match random.randrange(4):
        case 0:
            draft.returns[index] = replace(old, name=random.choice((None, "r", "s")))
        case 1 if old.type == _TENSOR:
            draft.returns[index] = replace(old, annotation=random.choice(_ANNOTATIONS))
        case 2:
            draft.returns[index] = Return(old.name, _near_type(old.type, random), None)
        case _:
            random.choice((draft.returns.pop, lambda: draft.returns.append(old)))()


_MUTATIONS: tuple[Callable[[Draft, Random], None], ...] = (
    *(_rename, _retype, _retype, _redefault, _redefault, _retype_with_default, _drop_default),
    *(_annotate, _write, _swap, _remove, _append, _append, _insert, _add_out),
    *(_to_keyword, _to_positional, _change_return, _change_return),
)
