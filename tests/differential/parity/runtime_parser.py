"""Parse schemas with the runtime's parser and with PyTorch's; return both results in one form."""

from __future__ import annotations

import ctypes
import re
from ctypes import byref, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FUNCTIONS: tuple[tuple[Any, ...], ...] = (
    ("opgen_parse_schema", c_void_p, c_char_p, c_size_t),
    ("opgen_last_error", c_char_p),
    ("opgen_value_free", None, c_void_p),
    ("opgen_value_kind", c_int, c_void_p),
    ("opgen_as_bool", c_int, c_void_p, c_void_p),
    ("opgen_as_int", c_int, c_void_p, c_void_p),
    ("opgen_as_double", c_int, c_void_p, c_void_p),
    ("opgen_as_complex", c_int, c_void_p, c_void_p, c_void_p),
    ("opgen_as_string", c_int, c_void_p, c_void_p, c_void_p),
    ("opgen_as_device", c_int, c_void_p, c_void_p, c_void_p),
    ("opgen_list_size", c_int, c_void_p, c_void_p),
    ("opgen_list_item", c_void_p, c_void_p, c_size_t),
)
_NONE, _BOOL, _INT, _DOUBLE, _COMPLEX, _STRING, _DEVICE, _LIST = 0, 1, 2, 3, 4, 6, 7, 11


@dataclass(frozen=True)
class Parsed:
    """A schema without its defaults, its alias sets sorted, and the defaults by position."""

    text: str
    defaults: tuple[Any, ...]


class RuntimeParser:
    """The parser in a runtime's shared library, through the C interface."""

    def __init__(self, library: Path) -> None:
        self._c: Any = ctypes.CDLL(str(library))
        for name, result, *arguments in _FUNCTIONS:
            function = getattr(self._c, name)
            function.restype, function.argtypes = result, arguments

    def parse(self, schema: str) -> Parsed | str:
        """Return the parsed schema, or the reason why it is rejected."""
        text = schema.encode()
        pointer = self._c.opgen_parse_schema(text, len(text))
        if not pointer:
            return str(self._c.opgen_last_error().decode(errors="replace"))
        printed, _, _, arguments, _ = self._taken(pointer)
        defaults = tuple(given[0] if given else Missing for *_, given in arguments)
        return Parsed(canonical(printed), tuple(comparable(value) for value in defaults))

    def printed(self, schema: str) -> str:
        """Return the schema as the runtime prints it."""
        text = schema.encode()
        return str(self._taken(self._c.opgen_parse_schema(text, len(text)))[0])

    def _taken(self, pointer: int) -> Any:
        try:
            return self._read(pointer)
        finally:
            self._c.opgen_value_free(pointer)

    def _read(self, pointer: int) -> Any:
        c = self._c
        kind = c.opgen_value_kind(pointer)
        if kind == _NONE:
            return None
        if kind == _LIST:
            size = c_size_t()
            c.opgen_list_size(pointer, byref(size))
            return [self._taken(c.opgen_list_item(pointer, i)) for i in range(size.value)]
        if kind == _STRING:
            text, length = c_char_p(), c_size_t()
            c.opgen_as_string(pointer, byref(text), byref(length))
            return ctypes.string_at(text, length.value).decode(errors="replace")
        if kind == _COMPLEX:
            real, imaginary = c_double(), c_double()
            c.opgen_as_complex(pointer, byref(real), byref(imaginary))
            return complex(real.value, imaginary.value)
        if kind == _DEVICE:
            device, index = c_int32(), c_int32()
            c.opgen_as_device(pointer, byref(device), byref(index))
            name = {0: "cpu", 1: "cuda", 14: "meta"}.get(device.value, str(device.value))
            return name if index.value < 0 else f"{name}:{index.value}"
        place, function = {
            _BOOL: (c_int(), c.opgen_as_bool),
            _INT: (c_int64(), c.opgen_as_int),
            _DOUBLE: (c_double(), c.opgen_as_double),
        }[kind]
        function(pointer, byref(place))
        return bool(place.value) if kind == _BOOL else place.value


class Missing:
    """The default of an argument without one."""


def parse_with_torch(schema: str) -> Parsed | str:
    """Return the schema parsed by PyTorch, or the reason why PyTorch rejects it."""
    from torch._C import parse_schema  # noqa: PLC0415

    try:
        parsed = parse_schema(schema, allow_typevars=False)
    except Exception as error:
        return str(error)
    defaults = tuple(
        argument.default_value if argument.has_default_value() else Missing
        for argument in parsed.arguments
    )
    return Parsed(canonical(str(parsed)), tuple(comparable(value) for value in defaults))


def canonical(printed: str) -> str:
    """Normalise a printed schema without defaults: the two parsers print alias sets in different orders and marks
    differently.
    """
    text = re.sub(r"\(\$\d+! -> \)", "!", without_defaults(printed))
    text = re.sub(r"\b[\w*]+(\|[\w*]+)+", lambda sets: "|".join(sorted(sets[0].split("|"))), text)
    text = re.sub(
        r"\?(!|\([\w|*! >-]+\))(?=\[)", r"\1?", text
    )  # PyTorch's position in `Tensor!?[]`
    text = text.replace("Union(Scalar)?", "Scalar?")  # PyTorch's result for `Scalar??`
    return re.sub(r"\bDeviceIndex\b", "int", text)


def without_defaults(printed: str) -> str:
    """Remove the text between an argument's name and the comma or parenthesis after it."""
    kept, i = "", 0
    while i < len(printed):
        if printed[i] == "=":
            i = _end_of_default(printed, i + 1)
        else:
            kept += printed[i]
            i += 1
    return kept


_PART = re.compile(
    r"'{3}(?:\\.|[^\\])*?'{3}|\"{3}(?:\\.|[^\\])*?\"{3}"
    r"|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|.",
    re.DOTALL,
)


def _end_of_default(printed: str, start: int) -> int:
    depth = 0
    for part in _PART.finditer(printed, start):
        if not depth and part[0] in ",)":
            return part.start()
        depth += (part[0] in "[(") - (part[0] in "])")
    return len(printed)


def comparable(value: Any) -> Any:
    """Return a value that equals another only if both have the same type."""
    if isinstance(value, (list, tuple)):
        return tuple(comparable(item) for item in value)
    if type(value).__name__ == "device":
        value = str(value)
    return (type(value).__name__, repr(value) if isinstance(value, float) else value)
