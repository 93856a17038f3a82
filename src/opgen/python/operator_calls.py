"""Operators as a world's own Python calls them: every overload by its schema, for stubs.

Nothing is bound here: the functions exist already, and take the arguments of the schema by its names and in its order. A
target says by `CallWords` what its types are called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from keyword import iskeyword

from opgen.dataclasses import dataclass
from opgen.model.function_schema import Argument
from opgen.model.native_function import NativeFunction
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
from opgen.older_pythons import assert_never
from opgen.python.layout import declare
from opgen.python.python_types import or_none
from opgen.python.spelling import CallWords

# What a default is in a stub, if it is not a value of Python itself: there is one.
_SOME = "..."
_VALUE = re.compile(r"""None|True|False|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?|(['"])[^'"\\]*\1""")
# What may be given for a word: Python's own tower of numbers, as type checkers have it.
_ALSO = {"_complex": ("_float",), "_float": ("_int",), "_int": ("_bool",)}


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    annotation: str
    default: str | None

    def __str__(self) -> str:
        text = f"{self.name}: {self.annotation}"
        return text if self.default is None else f"{text} = {self.default}"


@dataclass(frozen=True, slots=True)
class OperatorCall:
    """One overload: `positional` are also taken by name, but for the first `unnamed` of them."""

    name: str
    positional: tuple[Parameter, ...]
    keywords: tuple[Parameter, ...]
    unnamed: int
    returns: str

    def declaration(self) -> str:
        """`def plus(self: Tensor, other: Tensor) -> Tensor: ...`"""
        texts = [str(one) for one in self.positional]
        if self.unnamed:
            texts.insert(self.unnamed, "/")
        if self.keywords:
            texts += ["*", *map(str, self.keywords)]
        return declare(self.name, texts, self.returns)

    def takes_all_of(self, other: OperatorCall) -> bool:
        """Whether every call of `other` is one of this, as far as annotations tell."""
        names = [one.name for one in self.positional]
        if [one.name for one in other.positional] != names[: len(other.positional)]:
            return False
        given = {one.name: one for one in (*other.positional, *other.keywords)}
        for one in (*self.positional, *self.keywords):
            theirs = given.pop(one.name, None)
            if (theirs is None or theirs.default is not None) and one.default is None:
                return False
            if theirs is not None and not _words(theirs.annotation) <= _words(one.annotation):
                return False
        return not given


def operator_declarations(functions: Sequence[NativeFunction], words: CallWords) -> Iterator[str]:
    """The overloads of one name, but for those that one before takes every call of."""
    kept: list[OperatorCall] = []
    for f in functions:
        call = operator_call(f, words)
        if not any(before.takes_all_of(call) for before in kept):
            kept.append(call)
    if len(kept) == 1:
        yield kept[0].declaration()
        return
    yield from (f"@_overload\n{call.declaration()}" for call in kept)


def operator_call(f: NativeFunction, words: CallWords) -> OperatorCall:
    """How an operator is called: the arguments of its schema, in order."""
    arguments = f.func.arguments
    positional = arguments.flat_positional
    keyword_only = (*arguments.flat_kwarg_only, *arguments.out)
    keywords = [i + 1 for i, a in enumerate(positional) if iskeyword(a.name)]
    return OperatorCall(
        str(f.func.name.name),
        tuple(_parameter(a, words) for a in positional),
        tuple(_parameter(a, words) for a in keyword_only),
        max(keywords, default=0),
        _returns([r.type for r in f.func.returns], words),
    )


def _parameter(a: Argument, words: CallWords) -> Parameter:
    name = f"{a.name}_" if iskeyword(a.name) else a.name
    return Parameter(name, _taken(a.type, words), None if a.default is None else _value(a.default))


def _taken(type: Type, words: CallWords) -> str:
    match type:
        case BaseType(name):
            return words.taken.get(name, "_Any")
        case CustomClassType():
            return "_Any"
        case DictType(key, value):
            return f"_dict[{_taken(key, words)}, {_taken(value, words)}]"
        case TupleType(elems):
            return _tuple([_taken(elem, words) for elem in elems])
        case OptionalType(elem):
            return or_none(_taken(elem, words))
        case ListType(elem, size):
            several = f"_Sequence[{_taken(elem, words)}]"
            # One number stands for all of a list of fixed size; a symbolic one does not.
            repeated = size is not None and elem in (BaseType(BaseTy.int), BaseType(BaseTy.float))
            return f"{_taken(elem, words)} | {several}" if repeated else several
        case _:
            assert_never(type)


def _returns(types: Sequence[Type], words: CallWords) -> str:
    found = [_returned(type, words) for type in types]
    if len(found) == 1:
        return found[0]
    return _tuple(found) if found else "None"


def _tuple(types: Sequence[str]) -> str:
    return f"_tuple[{', '.join(types)}]" if types else "_tuple[()]"


def _returned(type: Type, words: CallWords) -> str:
    match type:
        case BaseType(name):
            return words.returned.get(name) or words.taken.get(name, "_Any")
        case CustomClassType():
            return "_Any"
        case DictType(key, value):
            return f"_dict[{_returned(key, words)}, {_returned(value, words)}]"
        case TupleType(elems):
            return _tuple([_returned(elem, words) for elem in elems])
        case OptionalType(elem):
            return or_none(_returned(elem, words))
        case ListType(elem):
            return f"_list[{_returned(elem, words)}]"
        case _:
            assert_never(type)


def _value(default: str) -> str:
    if default[:1] == "[" and default[-1:] == "]":
        parts = [part.strip() for part in default[1:-1].split(",") if part.strip()]
        if not all(map(_VALUE.fullmatch, parts)):
            return _SOME
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    if not _VALUE.fullmatch(default):
        return _SOME
    return f'"{default[1:-1]}"' if default[0] in "\"'" else default


def _words(annotation: str) -> frozenset[str]:
    """All that an annotation takes."""
    found = set[str]()
    for word in _alternatives(annotation):
        if word.startswith("_Sequence["):
            inner = word.removeprefix("_Sequence[").removesuffix("]")
            found |= {f"_Sequence[{one}]" for one in _words(inner)}
        else:
            found |= {word, *_below(word)}
    return frozenset(found)


def _alternatives(annotation: str) -> Iterable[str]:
    """The parts of a union, whatever unions stand in brackets."""
    return (part.strip() for part in re.split(r"\|(?![^\[]*\])", annotation))


def _below(word: str) -> Iterator[str]:
    for one in _ALSO.get(word, ()):
        yield one
        yield from _below(one)
