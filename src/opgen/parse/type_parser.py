"""The text of types, and of the alias annotations inside of them, into values."""

from __future__ import annotations

import re

from opgen import data
from opgen.model.function_schema import Annotation
from opgen.model.types import BaseTy, BaseType, CustomClassType, ListType, OptionalType, Type
from opgen.parse import codes_schema as codes
from opgen.parse.names import meant, shorten
from opgen.parse.schema_text import base_end
from opgen.parse.text_reader import TextReader

_MAX_TYPE_MARKS = 8
_MAX_SIZE_DIGITS = 9
_BASE_TYPES = {name: BaseType(BaseTy[name]) for name in data.read_names("types.txt")}
_CUSTOM_CLASS = re.compile(r"__torch__\.torch\.classes\.([A-Za-z0-9_.]+)")
_TYPE_MARK = re.compile(r"\?|\[([0-9]*)\]")
# A list as it is typed: with a size or about to have one.
_OPEN_LIST = re.compile(r"\w+\[[0-9]*")
_ANNOTATION = re.compile(r"([a-z](?:\|[a-z])*)(!?)(?: -> (\*|[a-z](?:\|[a-z])*))?")


class TypeReader(TextReader):
    """Reads types with or without annotations."""

    __slots__ = ()

    def annotated_type(self, start: int, end: int) -> tuple[Type, Annotation | None] | None:
        text = self._text[start:end]
        opening = text.find("(")
        if opening < 0 and ")" in text:
            closing = start + text.index(")")
            self.report(codes.E0301, "')' without a '(' before it", closing, closing + 1)
            return None
        if opening < 0:
            found = self._type(start, end)
            return None if found is None else (found, None)
        closing = text.rfind(")")
        if closing < opening:
            self.report(codes.E0312, "'(' is not closed", start + opening, end)
            return None
        base, suffix = text[:opening], text[closing + 1 :]
        if base != "Tensor" or suffix not in ("", "?", "[]"):
            plain = base + suffix
            message = f"'{shorten(plain)}' cannot have an alias annotation"
            hint = "only Tensor, Tensor? and Tensor[] can"
            self.report(codes.E0313, message, start, end, hint=hint)
            return None
        annotation = self._annotation(start + opening + 1, start + closing)
        return None if annotation is None else (_parse_tensor_type(suffix), annotation)

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
                problem = "only one side of '->' can hold several letters"
            elif len(before) > 2:
                problem = "at most two letters can stand here"
            else:
                return Annotation(tuple(before), bool(match[2]), tuple(after))
        self.report(codes.E0312, problem, start, end)
        return None

    def _type(self, start: int, end: int) -> Type | None:
        text = self._text[start:end]
        known = self._cache.types.get(text)
        if known is None:
            known = self._new_type(text, start)
            if known is not None:
                self._cache.types[text] = known
        return known

    def _new_type(self, text: str, start: int) -> Type | None:
        end = base_end(text)
        marks = list(_TYPE_MARK.finditer(text, end))
        found = self._base_type(text[:end], start)
        if len(marks) > _MAX_TYPE_MARKS:
            message = f"a type has at most {_MAX_TYPE_MARKS} marks, this one has {len(marks)}"
            self.report(codes.E0323, message, start + end, start + len(text))
            return None
        for mark in marks:
            size = mark[1]
            if size and (size[0] == "0" or len(size) > _MAX_SIZE_DIGITS):
                message = f"bad list size '{shorten(size)}'"
                self.report(codes.E0314, message, start + mark.start(1), start + mark.end(1))
                return None
            if found is None:
                continue
            if mark[0] == "?":
                found = OptionalType(found)
            else:
                found = ListType(found, int(size) if size else None)
        return found

    def _base_type(self, text: str, start: int) -> Type | None:
        found = _BASE_TYPES.get(text)
        if found is not None:
            return found
        custom = _CUSTOM_CLASS.fullmatch(text)
        if custom is not None:
            return CustomClassType(custom[1])
        message = f"unknown type '{shorten(text)}'" if text else "no type"
        hint, mend = meant(text, tuple(_BASE_TYPES))
        if not text.isidentifier():
            # 'SymInt[2' is no misspelt SymInt.
            mend = f"{text}]" if _OPEN_LIST.fullmatch(text) and is_base_type(text) else None
            hint = f"did you mean '{mend}'?" if mend else hint
        if "#" in text:
            # In quotes, or after '>' or '|', where YAML has no comments: 'bool #' is no misspelt bool.
            hint, mend = "a comment cannot stand inside of this text", None
        elif "!" in text:
            # PyTorch's runtime takes it. Without the mark it is an operator that writes nothing.
            hint, mend = "by torchgen's rules what is written has a letter: 'Tensor(a!)'", None
        self.report(codes.E0307, message, start, start + len(text), hint=hint, replacement=mend)
        return None


def is_base_type(text: str) -> bool:
    """Whether `text` is a type, or would be without the bracket that it ends with."""
    return text.partition("[")[0] in _BASE_TYPES


def _parse_tensor_type(suffix: str) -> Type:
    tensor = _BASE_TYPES["Tensor"]
    if suffix == "?":
        return OptionalType(tensor)
    return ListType(tensor, None) if suffix else tensor
