"""Recognise types of C++ and Python in a schema, and say how the schema language spells them.

This is for messages only: no schema with such a type is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct

from opgen import data
from opgen.model.cpp_words import LISTS, OPTIONALS, SCHEMA_TYPES, unqualified

_CPP, _PYTHON = "C++", "Python"
SCHEMA_NAMES = frozenset((*data.read_names("types.txt"), *data.read_names("library_types.txt")))

# C++ types from which PyTorch infers no schema type, or one with fewer values than the author means.
_CPP_NAMES: Mapping[str, str] = {
    **{name: type_ for name, type_ in SCHEMA_TYPES.items() if name != type_},
    **{f"std::{name}": "int" for name in ("int32_t", "uint8_t", "uint32_t", "uint64_t", "size_t")},
    **dict.fromkeys(("int8_t", "int16_t", "int32_t", "uint8_t", "uint16_t", "uint32_t"), "int"),
    **dict.fromkeys(("uint64_t", "size_t", "ssize_t", "ptrdiff_t", "short", "unsigned"), "int"),
    **dict.fromkeys(("long long", "unsigned int", "unsigned long", "long int"), "int"),
    "Generator": "Generator",
    "string": "str",
    "long double": "float",
}
# C++ types that have values which their schema type lacks, or fewer values.
_NARROWED = frozenset(
    name for name in _CPP_NAMES if re.search(r"int\d+_t|size_t|short|unsigned|diff|long d", name)
) - {"int64_t", "std::int64_t"}
_PYTHON_NAMES: Mapping[str, str] = {
    "torch.Tensor": "Tensor",
    "dtype": "ScalarType",
    "torch.dtype": "ScalarType",
    "torch.device": "Device",
    "torch.layout": "Layout",
    "torch.memory_format": "MemoryFormat",
    "torch.Generator": "Generator",
    "torch.SymInt": "SymInt",
    "torch.Size": "int[]",
    "torch.types.Number": "Scalar",
    "numbers.Number": "Scalar",
    "Number": "Scalar",
    "typing.Any": "Any",
}
_PYTHON_LISTS = ("List", "list", "Sequence", "Iterable")
_PYTHON_TUPLES = ("Tuple", "tuple")
# Names of Python that do not say enough. Python converts an array to a Tensor before the call.
_ADVISED: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("np.ndarray", "numpy.ndarray", "ndarray"),
        ("Tensor", "write 'Tensor': from_numpy() converts an array"),
    ),
    **dict.fromkeys(
        _PYTHON_LISTS + _PYTHON_TUPLES,
        ("int[]", "name what it contains: 'int[]', 'float[]', 'Tensor[]', 'int[2]'"),
    ),
    "dict": ("Dict", "name what it contains: 'Dict(str, int)'"),
}
# Generic types by their bracket, name and number of arguments.
_GENERIC: Mapping[tuple[str, str, int], str] = {
    **{("<", name, 1): "{}?" for name in OPTIONALS},
    ("<", "OptionalArrayRef", 1): "{}[]?",
    **{("<", name, 1): "{}[]" for name in LISTS},
    ("<", "std::array", 2): "{}[{}]",
    **{("[", name, 1): "{}[]" for name in _PYTHON_LISTS},
    ("[", "Optional", 1): "{}?",
    **dict.fromkeys((("[", "Dict", 2), ("[", "dict", 2)), "Dict({}, {})"),
}
# Words for an element type; the dtype of a Tensor is known only when an operator is called.
_ELEMENTS = re.compile(r"(b?float|u?int|complex)\d+|half|bfloat16")
_ELEMENT_OF = {"b": "float", "f": "float", "h": "float", "u": "int", "i": "int", "c": "complex"}
_OTHER: Mapping[str, str] = {"boolean": "bool", "integer": "int", "String": "str"}
_TOKEN = re.compile(
    r"\s*(?:([A-Za-z_][\w.]*(?:::\w+)*|::\w+(?:::\w+)*|\d+|\.\.\.|[\[\]()<>,|&*?])|\S)"
)
_MAX_TEXT = 200


class ForeignType(Struct, frozen=True):
    """A type of another language. `language` is None for a word of none.

    `schema` is the schema's type, if it is known; `is_certain` says whether it means the same. `advice` replaces
    the usual advice to write `schema`.
    """

    language: str | None
    schema: str | None = None
    is_certain: bool = False
    advice: str | None = None

    def message(self, written: str) -> str:
        if self.language is None:
            return f"unknown type '{written}'"
        return f"'{written}' is a type of {self.language}"

    @property
    def hint(self) -> str | None:
        return self.advice or (None if self.schema is None else f"write '{self.schema}'")


@lru_cache(maxsize=256)
def foreign_type(text: str, *, is_return: bool = False) -> ForeignType | None:
    """Return what `text` is in C++ or Python; None if it is a type of neither, or one of the schema language.

    `is_return` is whether an operator returns it: then it may be nothing, or a tuple.
    """
    word = re.match(r"\w+", text)
    is_schema_type = word is not None and word[0] in SCHEMA_NAMES and not set(text) & set("&*<|.")
    if len(text) > _MAX_TEXT or is_schema_type:
        return None
    if is_return and text in ("void", "None", "NoneType"):
        return ForeignType(_CPP if text == "void" else _PYTHON, "()", is_certain=True)
    if text in _OTHER:
        return ForeignType(None, _OTHER[text], is_certain=text != "integer")
    if _ELEMENTS.fullmatch(text):
        schema = _ELEMENT_OF[text[0] if text != "bfloat16" else "b"]
        advice = f"write '{schema}': a kernel gets it as {_KERNEL_TYPES[schema]}"
        return ForeignType(None, schema, advice=advice)
    tokens = [match[1] for match in _TOKEN.finditer(text)]
    return None if None in tokens else _Reader(tokens, is_return).read()


_KERNEL_TYPES = {"float": "double", "int": "int64_t", "complex": "a complex double"}


class _Stop(Exception):
    """The text is not a type of another language."""


class _Reader:
    """Reads the tokens of one type."""

    def __init__(self, tokens: list[str], is_return: bool) -> None:
        self._tokens = tokens
        self._is_return = is_return
        self._language: str | None = None
        self._is_certain = True
        self._advice: str | None = None

    def read(self) -> ForeignType | None:
        try:
            schema = self._type(is_top=True)
            if self._tokens or self._language is None:
                return None
        except _Stop:
            return None
        return ForeignType(
            self._language, schema, self._is_certain and self._advice is None, self._advice
        )

    def _next(self) -> str:
        return self._tokens[0] if self._tokens else ""

    def _skip(self, *words: str) -> bool:
        if self._next() in words and self._tokens:
            del self._tokens[0]
            return True
        return False

    def _type(self, *, is_top: bool = False) -> str:
        is_const = self._skip("const")
        if not self._tokens or not re.match(r"[A-Za-z_:]", self._next()):
            raise _Stop
        name = self._tokens.pop(0)
        while self._tokens and f"{name} {self._next()}" in _CPP_NAMES:
            name = f"{name} {self._tokens.pop(0)}"
        opened = self._next()
        if self._skip("<") or (name not in SCHEMA_NAMES and self._skip("[")):
            schema = self._generic(name, opened, is_top)
        else:
            schema = self._plain(name, is_top)
        while self._next() in ("[", "?"):
            # A suffix of the schema language on another language's type: 'double?'.
            if self._skip("?"):
                schema += "?"
                continue
            self._skip("[")
            size = self._tokens.pop(0) if self._next().isdigit() else ""
            if not self._skip("]"):
                raise _Stop
            schema += f"[{size}]"
        is_const |= self._skip("const")
        return self._marked(schema, is_const)

    def _found(
        self, language: str, schema: str, *, advice: str | None = None, is_certain: bool = True
    ) -> str:
        self._language = language
        self._advice = advice or self._advice
        self._is_certain &= is_certain
        return schema

    def _plain(self, name: str, is_top: bool) -> str:
        plain = unqualified(name)
        if name in _PYTHON_NAMES:
            return self._found(_PYTHON, _PYTHON_NAMES[name])
        if plain in _CPP_NAMES or (plain != name and plain in SCHEMA_NAMES):
            schema = _CPP_NAMES.get(plain, plain)
            return self._found(_CPP, schema, is_certain=plain not in _NARROWED)
        if name in SCHEMA_NAMES:
            return name
        if name in _ADVISED and (is_top or "ndarray" in name):
            schema, advice = _ADVISED[name]
            return self._found(_PYTHON, schema, advice=advice)
        if is_top and name in ("char", "auto", "void"):
            advice = "a schema names each type: Tensor, int, float, bool, str, Scalar, …"
            pointed = "str" if name == "char" else "Tensor"
            return self._found(_CPP, pointed if self._next() == "*" else "int", advice=advice)
        raise _Stop

    def _generic(self, name: str, opened: str, is_top: bool) -> str:
        arguments = [self._argument()]
        while self._skip(","):
            arguments.append(self._argument())
        if not self._skip(">" if opened == "<" else "]"):
            raise _Stop
        plain = name.removeprefix("typing.").removeprefix("collections.abc.")
        plain = unqualified(name) if opened == "<" else plain
        self._language = _CPP if opened == "<" else _PYTHON
        form = _GENERIC.get((opened, plain, len(arguments)))
        if form is not None:
            return form.format(*arguments)
        is_tuple = plain in (("std::tuple", "std::pair") if opened == "<" else _PYTHON_TUPLES)
        if is_tuple and opened == "[" and arguments[1:] == ["..."]:
            return f"{arguments[0]}[]"
        if is_tuple and self._is_return and (is_top or opened == "["):
            return f"({', '.join(arguments)})"
        if not is_tuple or opened == "<" or len(set(arguments)) > 1:
            raise _Stop
        self._is_certain = False
        return f"{arguments[0]}[{len(arguments)}]"

    def _argument(self) -> str:
        if self._next().isdigit() or self._next() == "...":
            return self._tokens.pop(0)
        return self._type()

    def _marked(self, schema: str, is_const: bool) -> str:
        """Read `*` and `&` after a type, or `| None`."""
        if self._skip("*"):
            advice = "write 'Tensor': a kernel finds the memory of a Tensor with data_ptr()"
            return self._found(_CPP, schema, advice="write 'str'" if schema == "str" else advice)
        if self._skip("&") or is_const:
            while self._skip("&"):
                pass
            is_written = not is_const and schema.startswith("Tensor")
            advice = f"write '{schema}', or 'Tensor(a!){schema[6:]}' if it is written"
            self._found(_CPP, schema, advice=advice if is_written else None, is_certain=is_const)
        elif self._skip("|"):
            if not self._skip("None"):
                raise _Stop
            return self._found(_PYTHON, f"{schema}?")
        return schema
