"""Parse types and their alias annotations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from opgen import data
from opgen.diagnostics.suggestions import meant, shorten
from opgen.model.function_schema import Annotation
from opgen.model.profile import Profile
from opgen.model.types import (
    BaseTy,
    BaseType,
    CppClass,
    CustomClassType,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
)
from opgen.parse.schema.profiles import annotation_problem
from opgen.parse.schema.text import KEYWORDS, SchemaText, Token, joined

AnnotatedType: TypeAlias = tuple[Type, Annotation | None]

# The most suffixes (`?`, `[]`, `[3]`) of a type, and levels of types in types.
_MAX_SUFFIXES = 8
_MAX_NESTING = 8
_MAX_SIZE_DIGITS = 9
# For the message about a type that is similar to none.
_USUAL_TYPES = (
    "types are Tensor, int, float, bool, str, Scalar, ScalarType, Device, Generator, SymInt, …; "
    "'?' after one makes it optional, '[]' a list"
)
_BASE_TYPES = {
    Profile.torchgen: {name: BaseType(BaseTy[name]) for name in data.read_names("types.txt")},
    Profile.library: {
        name: BaseType(BaseTy[name]) for name in data.read_names("library_types.txt")
    },
}
# Types that PyTorch's parser accepts, and why no C++ kernel can have them.
_NO_KERNEL = {
    **dict.fromkeys(("Future", "Await", "RRef"), "the dispatcher has no C++ type for it"),
    **dict.fromkeys(("Union", "None", "NoneType"), "PyTorch's registry takes no kernel for it"),
    **dict.fromkeys(("Capsule", "Quantizer"), "PyTorch's registry takes no kernel for it"),
    **dict.fromkeys(("AnyClassType", "AnyEnumType"), "only TorchScript has this type"),
    "number": "write 'Scalar'",
}
_CUSTOM_CLASS = "__torch__.torch.classes."
_LABEL = r"[A-Za-z_][A-Za-z0-9_]*"
# An alias set may end with the wildcard `*`, which then stands for the whole set.
_SET = rf"(?:\*|{_LABEL}(?:\|{_LABEL})*(?:\|\*)?)"
_ANNOTATION = re.compile(rf"({_SET})(!?)(?:->({_SET}))?")
_END = Token("", 0, 0, False)


class Wrong(Exception):
    """The tokens are not a type."""

    def __init__(self, code: str, message: str, start: int, end: int, **details: Any) -> None:
        """Keep the arguments of `SchemaText.report`."""
        self._what, self._details = (code, message, start, end), details

    def report(self, at: SchemaText) -> None:
        at.report(*self._what, **self._details)


class TypeReader:
    """Parses one type with its annotations. Raises Wrong at the first error."""

    __slots__ = ("_at", "_classes", "_is_library", "_left", "_tokens", "_types")

    def __init__(
        self, at: SchemaText, tokens: list[Token], profile: Profile, classes: Mapping[str, CppClass]
    ) -> None:
        self._at = at
        self._tokens = tokens
        self._left = tokens[::-1]
        self._is_library = profile is Profile.library
        self._types = _BASE_TYPES[profile]
        self._classes = classes

    @property
    def _next(self) -> Token:
        return self._left[-1] if self._left else _END

    def whole(self) -> AnnotatedType:
        """Parse all tokens."""
        type_, annotation = self._type(0)
        if self._left:
            raise self._rest(self._tokens[0].start)
        if annotation is not None and not self._is_library:
            self._check_annotation(type_, annotation)
        return type_, annotation

    def _text(self, start: int, end: int | None = None) -> str:
        return self._at.text[start : self._tokens[-1].end if end is None else end]

    def _type(self, nesting: int) -> AnnotatedType:
        """Parse a type with its suffixes and annotations."""
        if nesting > _MAX_NESTING:
            message = f"types are nested at most {_MAX_NESTING} levels deep"
            raise Wrong("E0323", message, self._next.start, self._tokens[-1].end)
        type_ = self._base(nesting)
        annotation: Annotation | None = None
        may_be_annotated = isinstance(type_, BaseType | DictType)
        depth = 0
        while self._left:
            if may_be_annotated and self._next.text in ("(", "!"):
                alias = self._annotation()
                annotation = Annotation(
                    alias.alias_set, alias.is_write, alias.alias_set_after, depth, annotation
                )
                may_be_annotated = False
                continue
            suffix = self._next
            is_sized = isinstance(type_, ListType) and type_.size is not None
            if self._is_library and is_sized and suffix.text != "?":
                # PyTorch's parser accepts only an annotation and a '?' after a list with a size.
                break
            suffixed = self._suffixed(type_)
            if suffixed is None:
                break
            depth += 1
            if depth > _MAX_SUFFIXES:
                message = f"a type has at most {_MAX_SUFFIXES} suffixes"
                raise Wrong("E0323", message, suffix.start, self._tokens[-1].end)
            type_ = suffixed
            may_be_annotated = isinstance(type_, ListType)
            if self._is_library and suffix.text == "?":
                if is_sized:
                    break
                while self._next.text == "?" and not may_be_annotated:
                    self._left.pop()
        return type_, annotation

    def _suffixed(self, type_: Type) -> Type | None:
        """Return `type_` with the suffix that is next: `?`, `[]` or `[3]`; None if there is none."""
        if self._next.text == "?":
            self._left.pop()
            return OptionalType(type_)
        if self._next.text != "[":
            return None
        if [token.text for token in self._left[-1:-3:-1]] == ["[", "]"]:
            del self._left[-2:]
            return ListType(type_, None)
        size = self._left[-2] if len(self._left) > 2 else _END
        if not re.fullmatch("[0-9]+", size.text) or self._left[-3].text != "]":
            return None
        if size.text[0] == "0" or len(size.text) > _MAX_SIZE_DIGITS:
            raise Wrong("E0314", f"bad list size '{shorten(size.text)}'", size.start, size.end)
        del self._left[-3:]
        return ListType(type_, int(size.text))

    def _annotation(self) -> Annotation:
        """Parse `(a!)` or `!`."""
        opening = self._left.pop()
        if opening.text == "!":
            return Annotation((), True, ())
        inside = []
        while self._left and self._next.text != ")":
            inside.append(self._left.pop())
        if not self._left:
            raise Wrong("E0312", "'(' is not closed", opening.start, self._tokens[-1].end)
        closing = self._left.pop()
        match = _ANNOTATION.fullmatch(joined(inside))
        if match is None or not KEYWORDS.isdisjoint(token.text for token in inside):
            start = opening.end
            text = self._text(start, closing.start)
            message = f"'{shorten(text)}' is not an alias annotation"
            hint = "as in '(a!)', '(a)', '(a -> *)', or '!' for an alias set without a name"
            if not self._is_library:
                hint = "as in '(a)', '(a!)', '(a -> *)'"
            raise Wrong("E0312", message, start, closing.start, hint=hint)
        after = tuple(match[3].split("|")) if match[3] else ()
        return Annotation(tuple(match[1].split("|")), bool(match[2]), after)

    def _check_annotation(self, type_: Type, annotation: Annotation) -> None:
        """Report an annotation that torchgen's rules do not allow."""
        start, end = self._tokens[0].start, self._tokens[-1].end
        if not annotation.alias_set:
            # PyTorch's runtime accepts it. Without the '!' the operator would write nothing.
            message = f"unknown type '{shorten(self._text(start))}'"
            hint = "by torchgen's rules a written tensor has a letter: 'Tensor(a!)'"
            raise Wrong("E0307", message, start, end, hint=hint)
        marks = str(type_).removeprefix("Tensor")
        if marks not in ("", "?", "[]") or annotation.depth > 0 or annotation.inner is not None:
            raise self._not_annotated(str(type_), start, end)
        problem = annotation_problem(annotation)
        if problem is not None:
            opening = self._at.text.index("(", start)
            begin, stop = opening + 1, self._at.closing(opening)
            no_letters = f"'{shorten(self._text(begin, stop))}' is not an alias annotation"
            form = None if problem else "as in '(a)', '(a!)', '(a -> *)'"
            raise Wrong("E0312", problem or no_letters, begin, stop, hint=form)

    def _not_annotated(self, type_: str, start: int, end: int) -> Wrong:
        message = f"'{shorten(type_)}' cannot have an alias annotation"
        return Wrong("E0313", message, start, end, hint="only Tensor, Tensor? and Tensor[] can")

    def _base(self, nesting: int) -> Type:
        """Parse a type without suffixes."""
        token = self._next
        if token.text.startswith("__torch__"):
            name = re.sub(r"\s", "", token.text)
            if name.startswith(_CUSTOM_CLASS):
                self._left.pop()
                class_name = name[len(_CUSTOM_CLASS) :]
                return CustomClassType(class_name, self._classes.get(class_name))
        base = self._types.get(token.text)
        if base is not None:
            self._left.pop()
            return base
        if self._is_library:
            if token.text == "(":
                return TupleType(self._elements(nesting))
            has_elements = [t.text for t in self._left[-2:-1]] == ["("]
            if token.text == "Dict" and has_elements:
                self._left.pop()
                types = self._elements(nesting)
                if len(types) == 2:
                    return DictType(*types)
                message = f"a Dict has a key and a value, this one has {len(types)} types"
                end = self._next.start if self._left else self._tokens[-1].end
                raise Wrong("E0307", message, token.start, end)
            if token.text in _NO_KERNEL:
                stop = self._tokens[-1].end if has_elements else token.end
                message = (
                    f"no C++ kernel can have the type '{shorten(self._text(token.start, stop))}'"
                )
                raise Wrong("E0325", message, token.start, stop, hint=_NO_KERNEL[token.text])
        raise self._unknown()

    def _unknown(self) -> Wrong:
        """Return the error for a type that does not exist."""
        token = self._next
        start, end = token.start, self._tokens[-1].end
        if not self._left:
            return Wrong("E0307", "no type", end, end)
        after = self._left[-2].text if len(self._left) > 1 else ""
        is_alone = token.is_word and after in ("", "?", "[", "(", "!", ",")
        unpaired = None if is_alone else self._unpaired()
        if unpaired is not None:
            return unpaired
        if is_alone or after == ")":
            end = token.end
        text = self._text(start, end)
        hint, fix = meant(text, (*self._types, *(("Dict",) if self._is_library else ())))
        notes = () if hint else (_USUAL_TYPES,)
        message = f"unknown type '{shorten(text)}'"
        return Wrong("E0307", message, start, end, hint=hint, notes=notes, replacement=fix)

    def _unpaired(self) -> Wrong | None:
        """Return the error for a bracket that is not closed, or not opened; None if all are."""
        opened: list[Token] = []
        for token in self._tokens:
            if token.text in ("(", "["):
                opened.append(token)
            elif token.text in (")", "]"):
                expected = "(" if token.text == ")" else "["
                if not opened or opened.pop().text != expected:
                    message = f"'{token.text}' without a '{expected}' before it"
                    hint = "remove it, or write ', '"
                    return Wrong("E0301", message, token.start, token.end, hint=hint)
        if not opened:
            return None
        message = f"'{opened[-1].text}' is not closed"
        return Wrong("E0312", message, opened[-1].start, self._tokens[-1].end)

    def _elements(self, nesting: int) -> tuple[Type, ...]:
        """Parse types between parentheses."""
        opening = self._left.pop()
        types: list[Type] = []
        while self._next.text != ")" or types:
            start = self._next.start
            type_, annotation = self._type(nesting + 1)
            sign = self._next
            if sign.text not in (",", ")"):
                if not self._left:
                    raise Wrong("E0307", "'(' is not closed", opening.start, self._tokens[-1].end)
                raise self._rest(start)
            if annotation is not None:
                message = "PyTorch's parser drops an alias annotation inside another type"
                raise Wrong("E0329", message, start, sign.start)
            types.append(type_)
            if sign.text == ")":
                break
            self._left.pop()
        self._left.pop()
        return tuple(types)

    def _rest(self, start: int) -> Wrong:
        """Return the error for tokens after a type that begins at `start`."""
        rest, end = self._next, self._tokens[-1].end
        text = self._text(start)
        before, after = self._text(start, rest.start).rstrip(), self._text(rest.start)
        if rest.text in ("(", "!") and not self._is_library:
            return self._not_annotated(before, start, end)
        if rest.text in ("(", "!"):
            message = f"PyTorch's parser accepts no alias annotation after '{shorten(before)}'"
            hint = f"write '{shorten(before[:-1] + after + '?')}'" if before[-1] == "?" else None
            return Wrong("E0329", message, rest.start, end, hint=hint)
        fix = f"{text}]" if re.fullmatch(r"\[[0-9]*", after) else None
        unpaired = self._unpaired() if fix is None else None
        if unpaired is not None:
            return unpaired
        hint = None if fix is None else f"did you mean '{shorten(fix)}'?"
        if "#" in text:
            # In quotes and in block scalars YAML has no comments.
            hint = "a comment is not possible inside this string"
        message = f"'{shorten(text)}' is not a type"
        return Wrong("E0307", message, start, end, hint=hint, replacement=fix)


def is_base_type(text: str, profile: Profile) -> bool:
    """Return whether `text`, up to its first `[`, is a base type."""
    return text.partition("[")[0] in _BASE_TYPES[profile]
