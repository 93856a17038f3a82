"""Parse types and their alias annotations."""

from __future__ import annotations

import re

from opgen import data
from opgen.diagnostics.suggestions import meant, shorten
from opgen.model.function_schema import Annotation
from opgen.model.types import BaseTy, BaseType, CustomClassType, ListType, OptionalType, Type
from opgen.parse.schema.foreign_types import foreign_type
from opgen.parse.schema.reader import TextReader
from opgen.parse.schema.scanning import base_end

# The most suffixes (`?`, `[]`, `[3]`) of a type.
MAX_SUFFIXES = 8
# For the message about a type that is similar to none.
USUAL_TYPES = (
    "types are Tensor, int, float, bool, str, Scalar, ScalarType, Device, Generator, SymInt, …; "
    "'?' after one makes it optional, '[]' a list"
)
_MAX_SIZE_DIGITS = 9
_BASE_TYPES = {name: BaseType(BaseTy[name]) for name in data.read_names("types.txt")}
_CUSTOM_CLASS = re.compile(r"__torch__\.torch\.classes\.([A-Za-z0-9_.]+)")
_WORD = re.compile(r"[A-Za-z]\w*")
SUFFIX = re.compile(r"\?|\[([0-9]*)\]")
# A list type whose closing bracket is missing.
_OPEN_LIST = re.compile(r"\w+\[[0-9]*")
_ANNOTATION = re.compile(r"([a-z](?:\|[a-z])*)(!?)(?: -> (\*|[a-z](?:\|[a-z])*))?")


class TypeReader(TextReader):
    """Parses types with or without annotations."""

    __slots__ = ()

    def annotated_type(self, start: int, end: int) -> tuple[Type, Annotation | None] | None:
        """Parse a type and its alias annotation, if it has one."""
        text = self._text[start:end]
        if self._report_foreign(start, end):
            return None
        opening = text.find("(")
        if opening < 0 and ")" in text:
            closing = start + text.index(")")
            message = "')' without a '(' before it"
            self.report("E0301", message, closing, closing + 1, hint="remove it, or write ', '")
            return None
        if opening < 0:
            parsed = self._type(start, end)
            return None if parsed is None else (parsed, None)
        closing = text.rfind(")")
        if closing < opening:
            self.report("E0312", "'(' is not closed", start + opening, end)
            return None
        base, suffix = text[:opening], text[closing + 1 :]
        if base != "Tensor" or suffix not in ("", "?", "[]"):
            plain = base + suffix
            message = f"'{shorten(plain)}' cannot have an alias annotation"
            hint = "only Tensor, Tensor? and Tensor[] can"
            self.report("E0313", message, start, end, hint=hint)
            return None
        annotation = self._annotation(start + opening + 1, start + closing)
        return None if annotation is None else (_parse_tensor_type(suffix), annotation)

    def _report_foreign(self, start: int, end: int, *, is_return: bool = False) -> bool:
        """Report a type of C++ or Python. Return whether it is one."""
        text = self._text[start:end]
        foreign = foreign_type(text, is_return=is_return)
        if foreign is None or not self._has_types(foreign.schema or ""):
            return False
        fix = foreign.schema if foreign.is_certain else None
        message = foreign.message(shorten(text))
        self.report("E0307", message, start, end, hint=foreign.hint, replacement=fix)
        return True

    def _has_types(self, schema: str) -> bool:
        """Return whether all base types of `schema` exist here."""
        return all(name in _BASE_TYPES for name in _WORD.findall(schema))

    def _annotation(self, start: int, end: int) -> Annotation | None:
        text = self._text[start:end]
        match = _ANNOTATION.fullmatch(text)
        problem = None
        if match is None:
            problem = f"'{shorten(text)}' is not an alias annotation"
        else:
            before, after = match[1].split("|"), match[3].split("|") if match[3] else []
            if match[2] and len(before) > 1:
                problem = "only one letter can be marked as written"
            elif len(before) > 1 and len(after) > 1:
                problem = "only one side of '->' can have several letters"
            elif len(before) > 2:
                problem = "at most two letters are possible here"
            else:
                return Annotation(tuple(before), bool(match[2]), tuple(after))
        hint = "as in '(a)', '(a!)', '(a -> *)'" if match is None else None
        self.report("E0312", problem, start, end, hint=hint)
        return None

    def _type(self, start: int, end: int) -> Type | None:
        text = self._text[start:end]
        cached = self._cache.types.get(text)
        if cached is None:
            cached = self._parse_type(text, start)
            if cached is not None:
                self._cache.types[text] = cached
        return cached

    def _parse_type(self, text: str, start: int) -> Type | None:
        end = base_end(text)
        suffixes = list(SUFFIX.finditer(text, end))
        parsed = self._base_type(text[:end], start)
        if len(suffixes) > MAX_SUFFIXES:
            message = f"a type has at most {MAX_SUFFIXES} suffixes, this one has {len(suffixes)}"
            self.report("E0323", message, start + end, start + len(text))
            return None
        for suffix in suffixes:
            if not self._is_valid_suffix(suffix, start):
                return None
            if parsed is not None:
                parsed = add_suffix(parsed, suffix)
        return parsed

    def _is_valid_suffix(self, suffix: re.Match[str], offset: int = 0) -> bool:
        """Return whether the size of a list, if `suffix` has one, is valid; report it if not.

        `offset` is the position in the schema at which the match's own positions begin.
        """
        size = suffix[1]
        if not size or (size[0] != "0" and len(size) <= _MAX_SIZE_DIGITS):
            return True
        message = f"bad list size '{shorten(size)}'"
        self.report("E0314", message, offset + suffix.start(1), offset + suffix.end(1))
        return False

    def _base_type(self, text: str, start: int) -> Type | None:
        base = _BASE_TYPES.get(text)
        if base is not None:
            return base
        custom = _CUSTOM_CLASS.fullmatch(text)
        if custom is not None:
            return CustomClassType(custom[1])
        message = f"unknown type '{shorten(text)}'" if text else "no type"
        hint, fix = meant(text, tuple(_BASE_TYPES))
        if not text.isidentifier():
            # 'SymInt[2' is not a misspelling of SymInt.
            fix = f"{text}]" if _OPEN_LIST.fullmatch(text) and is_base_type(text) else None
            hint = f"did you mean '{fix}'?" if fix else hint
        if "#" in text:
            # In quotes and in block scalars YAML has no comments: 'bool #' is not a misspelling of bool.
            hint, fix = "a comment is not possible inside this string", None
        elif "!" in text:
            # PyTorch's runtime accepts it. Without the '!' the operator would write nothing.
            hint, fix = "by torchgen's rules a written tensor has a letter: 'Tensor(a!)'", None
        notes = () if hint or not text else (USUAL_TYPES,)
        end = start + len(text)
        self.report("E0307", message, start, end, hint=hint, notes=notes, replacement=fix)
        return None


def add_suffix(elem: Type, suffix: re.Match[str]) -> Type:
    """Return the type that a valid `suffix` makes of `elem`: an optional type or a list."""
    if suffix[0] == "?":
        return OptionalType(elem)
    return ListType(elem, int(suffix[1]) if suffix[1] else None)


def is_base_type(text: str) -> bool:
    """Return whether `text`, up to its first `[`, is a base type."""
    return text.partition("[")[0] in _BASE_TYPES


def _parse_tensor_type(suffix: str) -> Type:
    tensor = _BASE_TYPES["Tensor"]
    if suffix == "?":
        return OptionalType(tensor)
    return ListType(tensor, None) if suffix else tensor
