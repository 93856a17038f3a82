"""Schema text into FunctionSchema values, by descent into slices of the text that know their offset.

`str(parse(s)) == s` for every accepted `s`: what is not written in the one right way is reported.
The same arguments, types and returns occur again and again, so each is parsed once for a cache that
the caller owns. Positions become spans only when there is something to report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from opgen.diagnostics import Diagnostics, until_too_many
from opgen.diagnostics.codes import Code
from opgen.model.cpp_identifier import (
    MAX_NAME,
    RESERVED_NAMESPACES,
    RESERVED_PREFIX,
    is_cpp_name,
    is_identifier,
    is_macro,
)
from opgen.model.function_schema import (
    AUGMENTED_ASSIGNMENT_NAMES,
    Argument,
    Arguments,
    BaseOperatorName,
    FunctionSchema,
    OperatorName,
    Return,
    SelfArgument,
)
from opgen.model.types import BaseTy
from opgen.parse import codes_schema as codes
from opgen.parse.library_keywords import KEYWORDS
from opgen.parse.library_schema import option_starts, split_options
from opgen.parse.names import did_you_mean, shorten
from opgen.parse.schema_checks import check_schema
from opgen.parse.schema_text import (
    default_problem,
    is_open,
    skip_quoted,
    stray_blanks,
    tight_comma_in_default,
)
from opgen.parse.text_reader import Locate, SchemaCache
from opgen.parse.type_parser import TypeReader, is_base_type

# A function of such a name would hide the type of its own parameters, or of its neighbours'.
TAKEN_NAMES = frozenset(
    (
        *(t.name for t in BaseTy if t.name[0].isupper() and t is not BaseTy.Any),
        *("int64_t", "ArrayRef", "IntArrayRef", "SymIntArrayRef", "OptionalArrayRef"),
        *("OptionalIntArrayRef", "OptionalSymIntArrayRef", "TensorList", "ITensorListRef"),
        *("DimnameList", "TensorOptions"),
    )
)
_ARROW = ") -> "
# How many parts a default that holds `, ` is looked for in: enough for every real one.
_MAX_JOINED = 32

_OVERLOAD = re.compile(r"[A-Za-z0-9_]+")
# What no schema has, where a blank may be meant.
_SIGN = re.compile(r"[$%&@~;:^/\\`-]")
_DUNDER = re.compile(r"__([^_]+)__")
# What stands where white space is wrong, to what is said.
_BLANK_MESSAGES = {
    "": "white space does not belong here",
    " ": "a single space stands here",
    ", ": "one space stands after each comma",
}


@until_too_many(lambda: None)
def parse_function_schema(
    text: str,
    diagnostics: Diagnostics,
    locate: Locate | None = None,
    cache: SchemaCache | None = None,
) -> FunctionSchema | None:
    """The schema that `text` is, without a namespace; None if anything was reported.

    `locate` tells where characters of `text` stand; without it they stand in a source of their own.
    """
    return SchemaReader(text, diagnostics, locate, cache).schema()


class SchemaReader(TypeReader):
    """Reads the parts of a schema; `schema()` reads all of it."""

    __slots__ = ()

    def schema(self) -> FunctionSchema | None:
        text = self._text
        start = len(text) - len(text.lstrip())
        end = max(start, len(text.rstrip()))
        frame = self._frame(start, end)
        if frame is None:
            return None
        opening, closing, returned = frame
        for begin, stop in ((0, start), (end, len(text))):
            if begin < stop:
                self.report(codes.E0302, _BLANK_MESSAGES[""], begin, stop, replacement="")
        return self._assembled((start, opening), (opening + 1, closing), (returned, end))

    def _assembled(
        self, name_at: tuple[int, int], arguments_at: tuple[int, int], returns_at: tuple[int, int]
    ) -> FunctionSchema | None:
        """The schema whose three parts stand there."""
        name = self.operator_name(*name_at)
        arguments = self._argument_list(*arguments_at)
        returns = self._returns(*returns_at)
        if self._failed or name is None or arguments is None or returns is None:
            return None
        schema = FunctionSchema(name, arguments, returns)
        check_schema(schema, self.report)
        return None if self._failed else schema

    # The whole text

    def _frame(self, start: int, end: int) -> tuple[int, int, int] | None:
        """Where the argument list opens and closes, and where the returns begin."""
        opening = self._text.find("(", start, end)
        if opening < 0:
            self.report(codes.E0301, "a schema needs '(' after the operator's name", start, end)
            return None
        closing = self._closing(opening, end)
        if closing >= 0:
            return opening, closing, closing + len(_ARROW)
        return self._loose_frame(start, opening, end)

    def _closing(self, opening: int, end: int) -> int:
        """Where the `)` of the argument list is; -1 if there is none with an arrow after it."""
        text = self._text
        if text.find('"', opening, end) < 0 and text.find("'", opening, end) < 0:
            return text.rfind(_ARROW, opening, end)
        depth = 0
        for position in skip_quoted(text, opening, end):
            depth += {"(": 1, ")": -1}.get(text[position], 0)
            if depth == 0 and text.startswith(_ARROW, position):
                return position
        return text.rfind(_ARROW, opening, end)

    def _loose_frame(self, start: int, opening: int, end: int) -> tuple[int, int, int] | None:
        """The same for an arrow without exactly one space on each side, which is reported."""
        arrow = self._text.rfind("->", opening, end)
        closing = len(self._text[:arrow].rstrip()) - 1
        if arrow < 0 or closing < opening or self._text[closing] != ")":
            message = "a schema ends in ') -> ' and what the operator returns"
            hint = "an operator that returns nothing has '-> ()'"
            self.report(codes.E0301, message, start, end, hint=hint)
            return None
        returned = end - len(self._text[arrow + 2 : end].lstrip())
        if returned == end:
            hint = "write '()' if nothing is returned"
            self.report(codes.E0301, "nothing stands after '->'", arrow, end, hint=hint)
            return None
        self.report_arrow(closing + 1, returned)
        return opening, closing, returned

    def report_arrow(self, start: int, end: int) -> None:
        """Report an arrow that has not exactly one space on each side."""
        message = "one space stands on each side of '->'"
        self.report(codes.E0302, message, start, end, replacement=" -> ")

    # Names

    def operator_name(
        self, start: int, end: int, *, allow_out: bool = False
    ) -> OperatorName | None:
        """The operator that is named there; `allow_out` says whether its name may end in `_out`."""
        text = self._text[start:end]
        base, dot, overload = text.partition(".")
        name = self._base_name(base, start, allow_out)
        if len(overload) > MAX_NAME:
            message = f"an overload name has at most {MAX_NAME} characters"
            self.report(codes.E0309, message, start + len(base), end)
            return None
        if dot and not _OVERLOAD.fullmatch(overload):
            message = (
                f"bad overload name '{shorten(overload)}'" if overload else "no overload after '.'"
            )
            self.report(codes.E0309, message, start + len(base), end)
            return None
        return None if name is None else OperatorName(name, overload)

    def _has_usable_name(self, text: str, start: int) -> bool:
        """Whether files and generated code can be called after an operator of this name."""
        end = start + len(text)
        if not is_identifier(text):
            message = f"bad operator name '{shorten(text)}'" if text else "no operator name"
            self.report(codes.E0304, message, start, end)
            return False
        if len(text) > MAX_NAME:
            message = f"an operator's name has at most {MAX_NAME} characters: it names files"
            self.report(codes.E0304, message, start, end)
            return False
        if text.startswith(RESERVED_PREFIX):
            message = f"'{shorten(text)}': names that begin with '{RESERVED_PREFIX}' are reserved"
            self.report(codes.E0342, message, start, end)
            return False
        return True

    def _base_name(self, text: str, start: int, allow_out: bool) -> BaseOperatorName | None:
        end = start + len(text)
        if not self._has_usable_name(text, start):
            return None
        if text in TAKEN_NAMES or is_macro(text):
            self.report(codes.E0342, f"'{text}' is a name of C++ already", start, end)
            return None
        if text.endswith("_out") and not allow_out:
            hint = f"did you mean '{shorten(text)[: -len('_out')]}.out'?"
            self.report(codes.E0305, "an operator name cannot end in '_out'", start, end, hint=hint)
            return None
        dunder = _DUNDER.fullmatch(text)
        return self._dunder(dunder[1], start, end) if dunder else self._plain(text, start, end)

    def _dunder(self, base: str, start: int, end: int) -> BaseOperatorName | None:
        if not base.startswith("i"):
            return BaseOperatorName(base, inplace=False, dunder_method=True)
        if base[1:] in AUGMENTED_ASSIGNMENT_NAMES:
            return BaseOperatorName(base[1:], inplace=True, dunder_method=True)
        message = f"'__{shorten(base)}__' is not the name of an augmented assignment"
        known = [f"i{name}" for name in AUGMENTED_ASSIGNMENT_NAMES]
        self.report(codes.E0306, message, start, end, hint=did_you_mean(base, known))
        return None

    def _plain(self, text: str, start: int, end: int) -> BaseOperatorName | None:
        inplace = text.endswith("_")
        base = text[:-1] if inplace else text
        functional = base.endswith("_functional")
        if functional and inplace:
            message = f"'{shorten(text)}' is marked as functional and as in-place"
            self.report(codes.E0308, message, start, end)
            return None
        if functional:
            base = base[: -len("_functional")]
        if not base:
            message = f"nothing is left of '{text}' without its marks"
            self.report(codes.E0304, message, start, end)
            return None
        return BaseOperatorName(base, inplace, False, functional)

    # Arguments

    def _argument_list(self, start: int, end: int) -> Arguments | None:
        text = self._text[start:end]
        known = self._cache.lists.get(text)
        if known is None:
            known = self._arguments(start, end)
            if known is not None:
                self._cache.lists[text] = known
        return known

    def _arguments(self, start: int, end: int) -> Arguments | None:
        """Arguments sorted into their roles; each is read before any is missed."""
        positional: list[tuple[Argument, int]] = []
        keyword: list[tuple[Argument, int]] = []
        out: list[tuple[Argument, int]] = []
        target = positional
        for begin, stop in self.pieces(start, end):
            if stop == begin + 1 and self._text[begin] == "*":
                if target is not positional or stop == end:
                    self._report_star(begin, stop, again=target is not positional)
                elif target is positional:
                    target = keyword
                continue
            argument = self.argument(begin, stop)
            if argument is None:
                continue
            if target is keyword and argument.is_write:
                target = out
            elif target is out and not argument.is_write:
                message = f"'{argument.name}' comes after the out arguments but is not written"
                self.report(codes.E0316, message, begin, stop)
            target.append((argument, begin))
        options = option_starts([a for a, _ in keyword])
        if len(options) > 1:
            self._report_options(keyword, options[1:])
        else:
            self._check_names(positional + keyword + out)
        return None if self._failed else self._sorted(positional, keyword, out)

    def _report_star(self, start: int, end: int, again: bool) -> None:
        message = "a second '*'" if again else "no argument follows '*'"
        self.report(codes.E0315, message, start, end)

    def _check_names(self, arguments: list[tuple[Argument, int]]) -> None:
        if len({a.name for a, _ in arguments}) == len(arguments):
            return
        first: dict[str, int] = {}
        for argument, start in arguments:
            begin = start + len(argument.type_text) + 1
            earlier = first.setdefault(argument.name, begin)
            if earlier != begin:
                size = len(argument.name)
                message = f"two arguments are named '{shorten(argument.name)}'"
                label = (earlier, earlier + size, "the first")
                self.report(codes.E0319, message, begin, begin + size, labels=[label])

    def _sorted(
        self,
        positional: list[tuple[Argument, int]],
        keyword: list[tuple[Argument, int]],
        out: list[tuple[Argument, int]],
    ) -> Arguments | None:
        values = tuple(a for a, _ in positional)
        me = next((i for i, a in enumerate(values) if a.name == "self"), None)
        if me is not None:
            for argument, start in positional[:me]:
                if argument.is_write:
                    message = f"'{argument.name}' is written but stands before self"
                    self.report(codes.E0318, message, start, start + len(str(argument)))
        before, options, after = split_options([a for a, _ in keyword])
        if self._failed:
            return None
        return Arguments(
            pre_self_positional=values[:me] if me is not None else (),
            self_arg=None if me is None else SelfArgument(values[me]),
            post_self_positional=values[me + 1 :] if me is not None else values,
            pre_tensor_options_kwarg_only=before,
            tensor_options=options,
            post_tensor_options_kwarg_only=after,
            out=tuple(a for a, _ in out),
        )

    def _report_options(self, keyword: list[tuple[Argument, int]], starts: list[int]) -> None:
        for i in starts:
            last, start = keyword[i + 3]
            message = "dtype, layout, device and pin_memory stand here a second time"
            self.report(codes.E0317, message, keyword[i][1], start + len(str(last)))

    def pieces(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The parts between `, `. One that breaks off inside quotes, brackets or parentheses is joined
        with those up to where they end, so that it is reported once."""
        if start >= end:
            return
        position = start
        while True:
            cut = self._text.find(", ", position, end)
            stop = end if cut < 0 else cut
            if self._text[position:stop] not in self._cache.arguments:
                stop = self._closed(position, stop, end)
            yield position, stop
            if stop == end:
                return
            position = stop + 2

    def _closed(self, start: int, stop: int, end: int) -> int:
        longer = stop
        for _ in range(_MAX_JOINED):
            if not is_open(self._text[start:longer]):
                return longer
            if longer == end:
                return stop
            cut = self._text.find(", ", longer + 1, end)
            longer = end if cut < 0 else cut
        return stop

    def argument(self, start: int, end: int) -> Argument | None:
        text = self._text[start:end]
        known = self._cache.arguments.get(text)
        if known is None:
            known = self._new_argument(text, start, end)
            if known is not None:
                self._cache.arguments[text] = known
        return known

    def _new_argument(self, text: str, start: int, end: int) -> Argument | None:
        if not text.strip():
            self.report(codes.E0310, "an argument is missing here", start, end)
            return None
        declaration, equals, default = text.partition("=")
        words = declaration.split()
        if len(words) > 1 and self._has_bad_blanks(declaration, default if equals else None, start):
            return None
        space = declaration.rfind(" ")
        if len(words) < 2 or declaration.endswith(")"):
            message = f"'{shorten(declaration)}' is not a type and a name"
            hint = "a name is missing" if not equals else None
            sign = _SIGN.search(declaration)
            if sign and is_base_type(declaration[: sign.start()]):
                meant = f"{declaration[: sign.start()]} {declaration[sign.end() :]}"
                hint = f"did you mean '{shorten(meant)}'?"
            if "(" in declaration and not declaration.startswith("Tensor"):
                hint = "write an argument as 'int dim'"
            self.report(codes.E0310, message, start, start + len(declaration), hint=hint)
            return None
        name = declaration[space + 1 :]
        read = self.annotated_type(start, start + space)
        named = self._is_name(name, start + space + 1, codes.E0320, "argument")
        valued = not equals or self._is_default(default, start + len(declaration) + 1)
        if read is None or not named or not valued:
            return None
        return Argument(name, read[0], default if equals else None, read[1])

    def _has_bad_blanks(self, declaration: str, default: str | None, start: int) -> bool:
        """Report white space that is missing or too much around and between the words."""
        found = stray_blanks(declaration)
        if default is not None and default.strip():
            offset = len(declaration) + 1
            size = offset + len(default)
            comma = tight_comma_in_default(default)
            found += [] if comma is None else [(offset + comma, offset + comma + 1, ", ")]
            found += [(offset, size - len(default.lstrip()), "")]
            found += [(offset + len(default.rstrip()), size, "")]
        found = [(begin, end, mend) for begin, end, mend in found if begin < end]
        for begin, end, mend in found:
            message = _BLANK_MESSAGES[mend]
            self.report(codes.E0302, message, start + begin, start + end, replacement=mend)
        return bool(found)

    def _is_name(self, name: str, start: int, code: Code, what: str) -> bool:
        if not is_identifier(name):
            message = f"bad {what} name '{shorten(name)}'"
            self.report(code, message, start, start + len(name))
            return False
        if name.startswith(RESERVED_PREFIX):
            message = f"'{shorten(name)}': names that begin with '{RESERVED_PREFIX}' are reserved"
            self.report(codes.E0342, message, start, start + len(name))
            return False
        if is_macro(name):
            self.report(codes.E0342, f"'{name}' is a macro of C++", start, start + len(name))
            return False
        return True

    def _is_default(self, text: str, start: int) -> bool:
        problem = default_problem(text)
        if problem is None:
            return True
        mend = text.replace(", ", ",") if text.startswith("[") and text.endswith("]") else None
        hint = None if mend is None or default_problem(mend) else f"write '{shorten(mend)}'"
        replacement = None if hint is None else mend
        end = start + len(text)
        self.report(codes.E0311, problem, start, end, hint=hint, replacement=replacement)
        return False

    # Returns

    def _returns(self, start: int, end: int) -> tuple[Return, ...] | None:
        text = self._text[start:end]
        if text == "()":
            return ()
        if text.startswith("(") and text.endswith(")"):
            return self._several(start + 1, end - 1)
        if ", " in text:
            message = "several returns stand in parentheses"
            self.report(codes.E0322, message, start, end, replacement=f"({text})")
            return None
        one = self._return(start, end)
        return None if one is None else (one,)

    def _several(self, start: int, end: int) -> tuple[Return, ...] | None:
        inner = self._text[start:end]
        pieces = inner.split(", ")
        if len(pieces) == 1 and "," not in inner:
            message = "a single return stands without parentheses"
            self.report(codes.E0322, message, start - 1, end + 1, replacement=inner.strip())
            return None
        found = []
        for piece in pieces:
            found.append(self._return(start, start + len(piece)))
            start += len(piece) + 2
        good = tuple(value for value in found if value is not None)
        return good if len(good) == len(found) else None

    def _return(self, start: int, end: int) -> Return | None:
        text = self._text[start:end]
        known = self._cache.returns.get(text)
        if known is None:
            known = self._new_return(text, start, end)
            if known is not None:
                self._cache.returns[text] = known
        return known

    def _new_return(self, text: str, start: int, end: int) -> Return | None:
        if not text.strip():
            self.report(codes.E0310, "a return is missing here", start, end)
            return None
        if self._has_bad_blanks(text, None, start):
            return None
        if " -> " in text and text[-1] in ")?]":
            message = "a return with '->' in its annotation needs a name"
            self.report(codes.E0312, message, start, end)
            return None
        type_text, space, name = text.rpartition(" ")
        if not space:
            type_text = text
        read = self.annotated_type(start, start + len(type_text))
        named = not space or self._is_name(name, end - len(name), codes.E0321, "return")
        if read is None or not named:
            return None
        return Return(name if space else None, read[0], read[1])


def check_namespace(reader: SchemaReader, namespace: str, start: int) -> bool:
    """Whether `namespace`, at `start` of the text, may hold operators."""
    end = start + len(namespace)
    if len(namespace) > MAX_NAME:
        message = f"a namespace has at most {MAX_NAME} characters"
        reader.report(codes.E0303, message, start, end)
        return False
    if not is_cpp_name(namespace):
        message = (
            f"bad namespace '{shorten(namespace)}'" if namespace else "no namespace before '::'"
        )
        reader.report(codes.E0303, message, start, max(end, start + 2 if not namespace else end))
        return False
    if namespace in RESERVED_NAMESPACES or namespace.startswith(RESERVED_PREFIX):
        reader.report(codes.E0342, f"the namespace '{namespace}' is reserved", start, end)
        return False
    if namespace in KEYWORDS:
        message = f"'{namespace}' is a keyword of PyTorch's schema parser"
        reader.report(codes.E0327, message, start, end, hint="choose another name")
        return False
    return True
