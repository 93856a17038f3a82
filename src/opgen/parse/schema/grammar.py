"""Parse schemas as FunctionSchema values by recursive descent.

One grammar accepts what PyTorch's runtime parser and torchgen accept; the rules of a profile are checked on the values
(`profiles`). By torchgen's rules, `str(parse(s)) == s`: any other spelling of the same schema is an
error. Equal arguments and returns are parsed once and kept in a cache that the caller owns.
Source of the grammar: torchgen's `FunctionSchema.parse`, and `torch._C.parse_schema` of PyTorch 2.13, by trial.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from msgspec import Struct, field

from opgen.diagnostics import Diagnostics, until_too_many
from opgen.diagnostics.suggestions import shorten
from opgen.model.function_schema import (
    Argument,
    Arguments,
    BaseOperatorName,
    FunctionSchema,
    OperatorName,
    Return,
)
from opgen.model.profile import Profile
from opgen.model.types import CppClass
from opgen.parse.schema import profiles
from opgen.parse.schema.foreign_types import foreign_type
from opgen.parse.schema.profiles import arguments_in_roles
from opgen.parse.schema.text import (
    Locate,
    SchemaText,
    Token,
    is_name,
    is_operator_name,
    is_overload,
    joined,
    marked_name,
    misplaced_blanks,
    without_comments,
)
from opgen.parse.schema.types import AnnotatedType, TypeReader, Wrong, is_base_type

# Characters that no schema has. One of them may be a mistyped space.
_MISTYPED_SPACE = re.compile(r"[$%&@~;:^/\\`-]")
_ARROW = re.compile(r"\s*->")
# Messages for wrong white space, by the right white space.
_BLANK_MESSAGES = {"": "unexpected white space", " ": "expected a single space"}
_NO_CLASSES: Mapping[str, CppClass] = MappingProxyType({})
_T = TypeVar("_T")


# The positional and the keyword arguments. By torchgen's rules, the returns do not matter for their roles.
_Lists: TypeAlias = tuple[tuple[Argument, ...], tuple[Argument, ...], Arguments | None]


class SchemaCache(Struct):
    """Parsed parts of schemas, by their text. One cache serves any number of files."""

    lists: dict[str, _Lists] = field(default_factory=dict)
    arguments: dict[str, Argument] = field(default_factory=dict)
    returns: dict[str, Return] = field(default_factory=dict)
    results: dict[str, tuple[Return, ...]] = field(default_factory=dict)
    _library: list[SchemaCache] = field(default_factory=list)

    def of(self, profile: Profile) -> SchemaCache:
        """Return the cache for the schemas of a profile."""
        if profile is Profile.torchgen:
            return self
        if not self._library:
            self._library.append(SchemaCache())
        return self._library[0]


@until_too_many(lambda: None)
def parse_function_schema(
    text: str,
    diagnostics: Diagnostics,
    locate: Locate | None = None,
    cache: SchemaCache | None = None,
    profile: Profile = Profile.torchgen,
) -> FunctionSchema | None:
    """Parse a schema without a namespace by the rules of `profile`. None if an error was reported.

    `locate` maps ranges of `text` to spans; by default, to spans of a source named `<schema>` that holds `text` alone.
    `cache` is shared by the schemas of a run.
    """
    if profile is Profile.library:
        text = without_comments(text)
    return SchemaReader(SchemaText(text, diagnostics, locate), profile, cache).schema()


class SchemaReader:
    """Parses one schema, or a part of one: the characters `start` to `end`. A method returns None if it reported an
    error."""

    __slots__ = ("_at", "_cache", "_classes", "_is_library", "_profile")

    def __init__(
        self,
        at: SchemaText,
        profile: Profile = Profile.torchgen,
        cache: SchemaCache | None = None,
        classes: Mapping[str, CppClass] = _NO_CLASSES,
    ) -> None:
        """Parse `at`. `classes` maps TorchScript names of custom classes to their C++ classes."""
        self._at = at
        self._profile = profile
        self._is_library = profile is Profile.library
        self._cache = (SchemaCache() if cache is None else cache).of(profile)
        self._classes = classes

    def schema(self) -> FunctionSchema | None:
        """Parse the whole text."""
        frame = self._frame()
        if frame is None:
            return None
        opening, closing, returns_at = frame
        start, end = self._at.trimmed(0, opening)
        written = self._at.text[start:end]
        if self._is_library:
            written = joined(self._at.tokens(start, end)).replace(" .", ".").replace(". ", ".")
        base, dot, overload = written.partition(".")
        mark = start + len(base)
        is_named = is_operator_name(self._at, base, start, self._profile)
        name = None
        if is_named and not self._is_library:
            name = marked_name(self._at, base, start, allow_out=False)
        if dot:
            is_named &= is_overload(self._at, overload, mark, end, self._profile)
        cache = self._cache
        arguments = self._once(cache.lists, self._arguments, opening + 1, closing)
        returns = self._once(cache.results, self._returns, *returns_at)
        if self._at.failed or arguments is None or returns is None:
            return None
        return self._schema(base, name, overload, arguments, returns)

    def _schema(
        self,
        base: str,
        name: BaseOperatorName | None,
        overload: str,
        lists: _Lists,
        returns: tuple[Return, ...],
    ) -> FunctionSchema | None:
        positional, keyword, in_roles = lists
        arguments = in_roles or profiles.in_roles(positional, keyword, returns)
        if name is None:
            name = profiles.base_name(base, arguments, returns)
        schema = FunctionSchema(OperatorName(name, overload), arguments, returns, self._profile)
        if not self._is_library and self.is_exact(str(schema)):
            profiles.check_schema(schema, self._at)
        return None if self._at.failed else schema

    def _frame(self) -> tuple[int, int, tuple[int, int]] | None:
        """Find the parentheses of the argument list, and the returns."""
        text = self._at.text
        start, end = self._at.trimmed(0, len(text))
        opening = text.find("(", start, end)
        if opening < 0:
            message = "a schema needs '(' after the operator's name"
            hint = "as in 'scale(Tensor self, float factor) -> Tensor'"
            self._at.report("E0301", message, start, end, hint=hint)
            return None
        closing = -1 if "'" in text or '"' in text else text.rfind(") -> ", opening, end)
        closing = self._at.closing(opening) if closing < 0 else closing
        match = None if closing < 0 else _ARROW.match(text, closing + 1, end)
        arrow = text.rfind("->", opening, end) if match is None else match.end() - 2
        if match is None:
            closing = len(text[:arrow].rstrip()) - 1
        if arrow < 0 or closing < opening or text[closing] != ")":
            message = "a schema ends with ') -> ' and what the operator returns"
            hint = "an operator that returns nothing has '-> ()'"
            self._at.report("E0301", message, start, end, hint=hint)
            return None
        returns_at = self._at.trimmed(arrow + 2, end)
        if returns_at[0] == returns_at[1]:
            hint = "write '()' if nothing is returned"
            self._at.report("E0301", "there is nothing after '->'", arrow, end, hint=hint)
            return None
        return opening, closing, returns_at

    def is_exact(self, canonical: str) -> bool:
        """Return whether the text is `canonical`; report it if not."""
        text = self._at.text
        if canonical == text:
            return True
        blanks = misplaced_blanks(canonical, text)
        if not blanks:
            self._at.report("E0302", f"write this as '{shorten(canonical)}'", 0, len(text))
            return False
        for start, end, blank in blanks:
            before, after = text[:start], text[end:]
            message = _BLANK_MESSAGES[blank]
            if before.endswith(","):
                message = "expected one space after the comma"
            if before.endswith("->") or after.startswith("->"):
                message = "expected one space on each side of '->'"
            self._at.report("E0302", message, start, end, replacement=blank)
        return False

    # Names

    def operator_name(
        self, start: int, end: int, *, allow_out: bool = False
    ) -> OperatorName | None:
        """Parse the name of an operator and its overload. `allow_out` is whether the name may end with `_out`."""
        base, dot, overload = self._at.text[start:end].partition(".")
        name = None
        if is_operator_name(self._at, base, start, Profile.torchgen):
            name = marked_name(self._at, base, start, allow_out=allow_out)
        if dot and not is_overload(self._at, overload, start + len(base), end, Profile.torchgen):
            return None
        return None if name is None else OperatorName(name, overload)

    def _once(
        self, known: dict[str, _T], parse: Callable[[int, int], _T | None], start: int, end: int
    ) -> _T | None:
        """Parse the characters `start` to `end`, unless the value of this text is `known`."""
        text = self._at.text[start:end]
        found = known.get(text)
        if found is None:
            found = parse(start, end)
            if found is not None:
                known[text] = found
        return found

    # Arguments

    def _arguments(self, start: int, end: int) -> _Lists | None:
        """Parse all arguments. All errors of single arguments are reported."""
        positional: list[tuple[Argument, int, int]] = []
        keyword: list[tuple[Argument, int, int]] = []
        target = positional
        for begin, stop in self._at.pieces(start, end, self._cache.arguments):
            piece = self._at.text[begin:stop]
            if piece == "*":
                if not self._is_library and target is keyword:
                    self._at.report("E0315", "a second '*'", begin, stop)
                elif not self._is_library and not self._at.text[stop:end].strip():
                    self._at.report("E0315", "no argument follows '*'", begin, stop)
                target = keyword
            else:
                argument = self.argument(begin, stop)
                if argument is not None:
                    target.append((argument, begin, stop))
        if self._is_library:
            profiles.check_order(positional, self._at)
        else:
            profiles.check_arguments(positional, keyword, self._at)
        if self._at.failed:
            return None
        values, keywords = tuple(a for a, *_ in positional), tuple(a for a, *_ in keyword)
        if self._is_library:
            return values, keywords, None
        outs = sum(a.is_write for a in keywords)
        return values, keywords, arguments_in_roles(values, keywords, outs)

    def pieces(self, start: int, end: int) -> tuple[tuple[int, int], ...]:
        """Return the ranges of arguments between commas."""
        return tuple(self._at.pieces(start, end))

    def argument(self, start: int, end: int) -> Argument | None:
        """Parse one argument: type, name and default."""
        return self._once(self._cache.arguments, self._argument, start, end)

    def _argument(self, start: int, end: int) -> Argument | None:
        tokens = self._at.tokens(start, end)
        if not tokens:
            remedy = "write one, or remove the ','"
            self._at.report("E0310", "an argument is missing here", start, end, hint=remedy)
            return None
        if self._is_library and self._has_dots(tokens, "arguments"):
            return None
        equals = next((i for i, token in enumerate(tokens) if token.text == "="), len(tokens))
        declaration, default = tokens[:equals], tokens[equals + 1 :]
        has_default = equals < len(tokens)
        name_at = _name_at(declaration, self._is_library)
        if not name_at:
            self._report_declaration(declaration or tokens[:1], has_default=has_default)
            return None
        annotated = self._type(declaration[:name_at])
        named = declaration[name_at:]
        name = joined(named)
        is_valid = is_name(self._at, name, named[0].start, "E0320", "argument", self._profile)
        if has_default:
            is_valid &= self._is_default(tokens[equals].end, end, default)
        if annotated is None or not is_valid:
            return None
        type_, annotation = annotated
        if not has_default:
            return Argument(name, type_, None, annotation)
        # By torchgen's rules, it is any text.
        text = joined(default) if self._is_library else self._at.text[default[0].start : end]
        return Argument(name, type_, text, annotation)

    def _report_declaration(self, tokens: list[Token], *, has_default: bool) -> None:
        """Report an argument that is not a type and a name."""
        start, end = tokens[0].start, tokens[-1].end
        text = self._at.text[start:end]
        hint = None if has_default else "a name is missing"
        mistyped = _MISTYPED_SPACE.search(text)
        if mistyped and is_base_type(text[: mistyped.start()], self._profile):
            spaced = f"{text[: mistyped.start()]} {text[mistyped.end() :]}"
            hint = f"did you mean '{shorten(spaced)}'?"
        if "(" in text and not text.startswith("Tensor"):
            hint = "write an argument as 'int dim'"
        message = f"'{shorten(text)}' is not a type and a name"
        self._at.report("E0310", message, start, end, hint=hint)

    def _is_default(self, start: int, end: int, tokens: list[Token]) -> bool:
        """Return whether the characters after `=` can be a default; report it if not."""
        if tokens:
            start = tokens[0].start
        text = self._at.text[start:end]
        fixed = None
        if not tokens:
            problem: str | None = "a default is missing after '='"
            start -= self._is_library
        elif not (joined(tokens) if self._is_library else text).isprintable():
            problem = "a default cannot contain control characters"
        elif self._is_open(tokens):
            problem = "the default is not closed"
        else:
            problem = None if self._is_library else profiles.default_problem(text)
            plain = joined(tokens)
            if plain[0] == "[" and plain[-1] == "]" and not profiles.default_problem(plain):
                fixed = plain
        if problem is None:
            return True
        hint = None if fixed is None else f"write '{shorten(fixed)}'"
        self._at.report("E0311", problem, start, end, hint=hint, replacement=fixed)
        return False

    def _is_open(self, tokens: list[Token]) -> bool:
        """Return whether a quote or bracket of a default is not closed."""
        signs = [token.text for token in tokens]
        depth = signs.count("[") - signs.count("]")
        return depth > 0 or (depth < 0 and self._is_library) or "'" in signs or '"' in signs

    # Returns

    def _returns(self, start: int, end: int) -> tuple[Return, ...] | None:
        text = self._at.text
        if text[start] != "(":
            pieces = list(self._at.pieces(start, end))
            if len(pieces) == 1:
                only = self.returned(start, end, is_only=True)
                return None if only is None else (only,)
            message, fixed = "several returns need parentheses", f"({text[start:end]})"
            if self._is_library:
                self._at.report("E0301", message, start, end, hint=f"write '{shorten(fixed)}'")
            else:
                self._at.report("E0322", message, start, end, replacement=fixed)
            return None
        closing = self._at.closing(start)
        if closing < 0 or closing >= end:
            self._at.report("E0301", "'(' is not closed", start, end)
            return None
        if closing < end - 1:
            message = "unexpected text after the ')' of the returns"
            hint = "a tuple is a single return: '((int, int)[])'" if self._is_library else None
            self._at.report("E0301", message, closing + 1, end, hint=hint)
            return None
        return self._several(start, end)

    def _several(self, start: int, end: int) -> tuple[Return, ...] | None:
        """Parse returns in parentheses."""
        text = self._at.text
        pieces = list(self._at.pieces(start + 1, end - 1))
        if len(pieces) == 1 and not self._is_library:
            message = "a single return has no parentheses"
            self._at.report("E0322", message, start, end, replacement=text[slice(*pieces[0])])
            return None
        parsed = [self.returned(*piece) for piece in pieces]
        returns = tuple(value for value in parsed if value is not None)
        if self._is_library and len(parsed) == 1:
            profiles.check_returns(returns, start, end, self._at)
        return None if self._at.failed or len(returns) < len(parsed) else returns

    def returned(self, start: int, end: int, *, is_only: bool = False) -> Return | None:
        """Parse one return. `is_only` is whether it is without parentheses."""
        return self._once(self._cache.returns, partial(self._return, is_only=is_only), start, end)

    def _return(self, start: int, end: int, is_only: bool) -> Return | None:
        tokens = self._at.tokens(start, end)
        if not tokens:
            self._at.report("E0310", "a return is missing here", start, end)
            return None
        if self._is_library and self._has_dots(tokens, "returns"):
            return None
        name_at = _name_at(tokens, self._is_library) or len(tokens)
        if is_only and self._report_foreign(start, end, is_return=True):
            return None
        annotated = self._type(tokens[:name_at])
        named = tokens[name_at:]
        name = joined(named) if named else None
        is_valid = name is None or is_name(
            self._at, name, named[0].start, "E0321", "return", self._profile
        )
        if annotated is None or not is_valid:
            return None
        if not self._is_library and name is None and annotated[1] and annotated[1].alias_set_after:
            message = "a return with '->' in its annotation needs a name"
            self._at.report("E0312", message, start, end)
            return None
        return Return(name, *annotated)

    def _has_dots(self, tokens: list[Token], what: str) -> bool:
        """Return whether `...` stands for arguments or returns (`what`); if so, report it."""
        if len(tokens) > 1 or tokens[0].text != "...":
            return False
        message = f"a C++ kernel cannot have a variable number of {what} ('...')"
        self._at.report("E0325", message, tokens[0].start, tokens[0].end)
        return True

    # Types

    def _type(self, tokens: list[Token]) -> AnnotatedType | None:
        """Parse a type and its annotation."""
        try:
            return TypeReader(self._at, tokens, self._profile, self._classes).whole()
        except Wrong as wrong:
            start, end = tokens[0].start, tokens[-1].end
            if not self._report_foreign(start, end):
                wrong.report(self._at)
            return None

    def _report_foreign(self, start: int, end: int, *, is_return: bool = False) -> bool:
        """Report a type of C++ or Python. Return whether it is one."""
        text = self._at.text[start:end]
        foreign = foreign_type(text, is_return=is_return)
        if foreign is None:
            return False
        words = re.findall(r"[A-Za-z]\w*", foreign.schema or "")
        if not self._is_library and not all(is_base_type(word, self._profile) for word in words):
            return False
        fix = foreign.schema if foreign.is_certain else None
        message = foreign.message(shorten(text))
        self._at.report("E0307", message, start, end, hint=foreign.hint, replacement=fix)
        return True


def _name_at(tokens: list[Token], is_library: bool) -> int:
    """Return the index of the first token of the name after a type; 0 if there is none."""
    at = len(tokens) - 1
    if tokens[at:] and tokens[at].text in ("(", ")", "]", "?", "!", "*", "&", ">"):
        return 0
    while at > 0 and tokens[at - 1].end == tokens[at].start and tokens[at - 1].text not in ")]?!":
        at -= 1
    if at > 0 and tokens[at - 1].end == tokens[at].start:
        # No blank separates the name from what may be the end of a type. No type has a blank outside of brackets.
        return _after_blank(tokens[:at], is_library) or at
    return max(at, 0)


def _after_blank(tokens: list[Token], is_library: bool) -> int:
    """Return the index of the first token after a blank that no bracket surrounds; 0 if there is none.

    In a library, blanks may also be before the signs of a type.
    """
    depth = 0
    for at, (before, token) in enumerate(pairwise(tokens), start=1):
        depth += (before.text in "([") - (before.text in ")]")
        if depth == 0 and before.end < token.start and (token.is_word or not is_library):
            return at
    return 0
