"""The values that templates read: generated files, blocks by namespace, functions."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import accumulate, repeat
from typing import Generic, TypeVar

from msgspec import Struct

from opgen.data import runtime_dir

WIDTH = 100
_INVISIBLE = re.compile("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_COMMENT = re.compile(r" *//+ *")
# Literals, which are not broken, so that one can search for their text.
_LITERAL = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)'""")


def break_long_lines(text: str) -> str:
    """Break the lines of C++ with more than 100 characters: at commas, if there are any.

    The lines between two `#line` directives are an author's, and stay as they are.
    """
    lines = text.split("\n")
    has_authors = "\n#line" in text
    marks = accumulate(line.startswith("#line") for line in lines) if has_authors else repeat(0)
    for i, (line, mark) in enumerate(zip(lines, marks)):
        if len(line) > WIDTH and not mark % 2:
            lines[i] = _broken(line, lines[i - 1].endswith("\\"))
    return "\n".join(lines)


def number_lines(text: str) -> str:
    """Give each `#line 0` the number of the line after it: there, the text is the file's own again."""
    if "\n#line 0 " not in text:
        return text
    lines = enumerate(text.split("\n"), 2)
    return "\n".join(re.sub("^#line 0 ", f"#line {following} ", line) for following, line in lines)


def _broken(line: str, in_macro: bool) -> str:
    """Break `line` at the last of the best blanks that fit, or else at the next blank."""
    text, end, find = line, "", _find_in_comment
    if comment := _COMMENT.match(line):
        margin, start = comment[0], comment.end()
    else:
        in_macro = in_macro or line.startswith("#define")
        if line.startswith("#") and not in_macro:
            return line
        start, find = len(line) - len(line.lstrip()), _find_in_code
        margin, end = " " * (start + 4), " \\" if in_macro else ""
        # The bracket of an arrow closes nothing.
        text = line.replace("->", "-x")
        if '"' in text or "'" in text:
            text = _LITERAL.sub(lambda found: "x" * len(found[0]), text)
        text = text.partition("//")[0].rstrip()
    parts, begin, room = [], 0, WIDTH - len(end)
    length = len(line.removesuffix(end))
    while length - begin > room:
        stop = begin + room + 1
        while (place := find(text, start, stop)) < 0 and stop < len(text):
            stop = text.find(" ", stop) + 1 or len(text)
        if place < 0:
            break
        parts.append(line[begin:place])
        begin = start = place + 1
        room = WIDTH - len(end) - len(margin)
    return f"{end}\n{margin}".join([*parts, line[begin:]])


def _find_in_comment(text: str, start: int, stop: int) -> int:
    """Return the last single blank of a range; -1 if there is none.

    A comment whose line ends with a backslash or its trigraph would continue on the next line.
    """
    place = text.rfind(" ", start, stop)
    while place >= 0 and (text[place - 1] in "\\/ " or text.startswith(" ", place + 1)):
        place = text.rfind(" ", start, place)
    return place


def _find_in_code(text: str, start: int, stop: int) -> int:
    """Return the best blank of a range of C++; -1 if there is none.

    That is the last one in the fewest brackets: after a comma, after an assignment, before the return type of a lambda, or
    else any. An assignment outside of brackets is better than commas in lists of template arguments.
    """
    comma, depth = _outermost(text, ", ", start, stop)
    if depth > 1:
        place, outside = _outermost(text, " = ", start, stop)
        if place >= 0 and (outside == 0 or comma < 0):
            return place + 2
    if comma >= 0:
        return comma + 1
    places = (_outermost(text, sign, start, stop)[0] for sign in (" -x ", " "))
    return next((place for place in places if place >= 0), -1)


def _outermost(text: str, sign: str, start: int, stop: int) -> tuple[int, int]:
    """Return the place of the last `sign` in the fewest brackets, and their number; -1 if there is none."""
    found, least = -1, 99
    place = text.rfind(sign, start, stop)
    while place >= 0 and least > (sign == ", "):
        before = text[:place]
        opened = before.count("(") + before.count("{") - before.count(")") - before.count("}")
        depth = opened + 2 * (before.count("<") - before.count(">"))
        if depth < least and (sign != " " or _is_between_words(text, place)):
            found, least = place, depth
        place = text.rfind(sign, start, place + len(sign) - 1)
    return found, least


def _is_between_words(text: str, blank: int) -> bool:
    after_word = not text.endswith(("return", "throw"), 0, blank)
    return after_word and not text.startswith((" ", "= "), blank + 1)


def sorted_includes(*headers: str) -> tuple[str, ...]:
    """Sort the headers of one block of `#include`s, each once. Names without quotes or angle brackets get the latter."""
    operands = {h if h.startswith(("<", '"')) else f"<{h}>" for h in headers}
    return tuple(sorted(operands, key=lambda o: (o.startswith('"'), not o.endswith(".h>"), o)))


def documentation_comment(text: str, *, indent: int = 0) -> str:
    """Return `text` as `///` lines, each after a line end; an empty string for none."""
    lines = [f" {line}".rstrip(" ") for line in visible_directions(text).split("\n") if text]
    start = f"\n{' ' * indent}///"
    # Otherwise, the comment would continue on the next line.
    ends = (" //" if line.endswith(("\\", "??/")) else "" for line in lines)
    return "".join(f"{start}{line}{end}" for line, end in zip(lines, ends))


def visible_directions(text: str) -> str:
    """Replace characters that change the direction of text, which compilers warn about, and rare line ends by escapes."""
    return _INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class Record(Struct, frozen=True, eq=False):
    """A value that templates read. Equality is identity: nothing compares records."""


class GeneratedFile(Record, frozen=True, dict=True):
    """One file: its path in the tree (posix) and the template that makes it.

    Its template reads further attributes: `str`, `bool`, `int`, records, and tuples of them. A template whose name does not
    end in `.j2` is a file of the runtime, by its path there, and is copied.
    """

    path: str
    template: str


def generated(path: str, template: str, **values: object) -> GeneratedFile:
    """Return the file that `template` makes of these values."""
    file = GeneratedFile(path, template)
    vars(file).update(values)
    return file


def copied_modules(source: str, folder: str) -> Iterator[GeneratedFile]:
    """Copy the Python modules in the folder `source` of the runtime to `folder`."""
    for path in sorted((runtime_dir() / source).glob("*.py")):
        yield GeneratedFile(f"{folder}/{path.name}", f"{source}/{path.name}")


class Block(Record, Generic[T], frozen=True):
    """Items of one C++ namespace, in the order in which they are written."""

    namespace: str
    items: tuple[T, ...]


class PublicFunction(Record, frozen=True):
    """A C++ function that returns `callee(arguments)`, in the forms that templates need.

    `given` are the parameters with defaults, for declarations; `given_plainly` those without, for definitions after a
    declaration. `text` is the schema or, for further functions of the same operator, how they differ from the first.
    `doc` is the author's documentation, or empty.
    """

    text: str
    returns: str
    name: str
    given: tuple[str, ...]
    given_plainly: tuple[str, ...]
    callee: str
    arguments: tuple[str, ...]
    doc: str = ""

    @property
    def documentation(self) -> str:
        """The author's documentation as lines of a comment, each after a line end."""
        return documentation_comment(self.doc)

    @property
    def member_documentation(self) -> str:
        """The author's documentation as lines of a comment in a class, each after a line end."""
        return documentation_comment(self.doc, indent=2)

    @property
    def parameters(self) -> str:
        return ", ".join(self.given)

    @property
    def body(self) -> str:
        return f"{self.callee}({', '.join(self.arguments)})"

    @property
    def head(self) -> str:
        """`Tensor add(const Tensor& self)`, with defaults."""
        return f"{self.returns} {self.name}({self.parameters})"

    @property
    def plain_parameters(self) -> str:
        return ", ".join(self.given_plainly)


def group_by(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Group items by key: keys in order of first appearance, items in the given order."""
    grouped = defaultdict[K, list[T]](list)
    for item in items:
        grouped[key(item)].append(item)
    return grouped


def blocks(pairs: Iterable[tuple[str, T]]) -> tuple[Block[T], ...]:
    """Group (namespace, item) pairs into one block per namespace, in order of first appearance."""
    grouped = group_by(pairs, lambda pair: pair[0])
    return tuple(
        Block(namespace, tuple(item for _, item in members))
        for namespace, members in grouped.items()
    )


def unique(items: Iterable[T]) -> Iterator[T]:
    """Return the items without repetition, in order of first appearance."""
    return iter(dict.fromkeys(items))


_ESCAPES = (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r"))
# The second character of a trigraph, which compilers warn about.
_TRIGRAPH = re.compile(r"(?<=\?)\?")


def cpp_string(text: str) -> str:
    """Return the contents of a C++ string literal for `text`, with escapes."""
    for character, escaped in _ESCAPES:
        text = text.replace(character, escaped)
    return visible_directions(_TRIGRAPH.sub(r"\\?", text) if "??" in text else text)


Item = TypeVar("Item")


def shard_of(root: str, count: int) -> int:
    """Return the shard (0 to count - 1) of a root name: a stable hash, so that a new operator does not move others."""
    return int.from_bytes(hashlib.sha1(root.encode()).digest()[:8], "little") % count


def sharded(
    stem: str, items: Iterable[Item], root: Callable[[Item], str], count: int
) -> Iterator[tuple[str, tuple[Item, ...]]]:
    """Yield file stems with their items: `stem` alone for one shard, else `stem_0`, `stem_1`, ..., without empty ones.

    `root` is the root name of an item's operator. All code of an operator is in one shard of each
    source, so an edit of the operator compiles only that shard.
    """
    if count == 1:
        yield stem, tuple(items)
        return
    for shard, members in sorted(group_by(items, lambda item: shard_of(root(item), count)).items()):
        yield f"{stem}_{shard}", tuple(members)
