"""Inputs of many shapes, each as large as allowed, to find quadratic behaviour in parsers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import accumulate

MOST = 10_000_000
# The size limit of a file, minus what `fitted` does not count exactly.
_READ = 2_900_000


def fill(unit: str, start: str = "", end: str = "", size: int = MOST) -> str:
    """Repeat `unit` between `start` and `end`, up to `size` characters in all."""
    return start + unit * ((size - len(start) - len(end)) // len(unit)) + end


def count(unit: str, start: str = "", end: str = "", size: int = MOST) -> str:
    """Repeat as `fill` does, with the number of the repetition in place of each `@` in `unit`."""
    parts = [start]
    length = len(start) + len(end)
    number = 0
    while length + len(unit) + 8 < size:
        part = unit.replace("@", str(number))
        parts.append(part)
        length += len(part)
        number += 1
    return "".join((*parts, end))


def wide(entry: str, size: int = 1_900_000) -> str:
    """Return entries of the greatest allowed length; `#` stands for their number."""
    return "".join(entry.replace("#", str(i)) for i in range(max(1, size // len(entry))))


def fitted(text: str) -> str:
    """Return as many entries of `text` as are read to the end: larger files are rejected sooner."""
    entries = re.split(r"^(?=- )", text, flags=re.MULTILINE)
    sizes = (len(e) + 20 * (e.count(",") + 2 * e.count("\n")) + 160 for e in entries)
    last = sum(1 for total in accumulate(sizes) if total < _READ)
    return "".join(entries[:last])


def arguments(unit: str, size: int = 60_000) -> str:
    return count(f"{unit}, ", size=size)[:-2]


def laughs(first: str, next_: str) -> str:
    """A billion laughs: each line repeats the one before ten times."""
    lines = [first]
    for i in range(30):
        lines.append(next_.format(i + 1, ",".join([f"*a{i}"] * 10)))
    return "".join(lines)


_F = "- func: f(Tensor self) -> Tensor\n"
_MERGED = "- &a {" + ", ".join(f"k{i}: v" for i in range(10_000)) + "}\n"

# Texts that are not schema files at all.
_YAML: Mapping[str, Callable[[], str | bytes]] = {
    "nothing": lambda: "",
    "nulls": lambda: fill("\0"),
    "null at the end": lambda: fill("- a\n", end="\0"),
    "not UTF-8": lambda: b"\xff" * MOST,
    "not UTF-8 at the end": lambda: fill("- a\n", size=MOST - 1).encode() + b"\xff",
    "UTF-16": lambda: (_F * 100_000).encode("utf-16"),
    "UTF-32": lambda: (_F * 70_000).encode("utf-32"),
    "surrogates": lambda: b"\xed\xa0\x80" * (MOST // 3),
    "byte order marks": lambda: fill("\ufeff", size=MOST // 3),
    "carriage returns": lambda: fill("\r"),
    "line separators": lambda: fill("\u2028", size=MOST // 3),
    "empty lines": lambda: fill("\n"),
    "spaces": lambda: fill(" "),
    "tabs": lambda: fill("\t"),
    "one word": lambda: fill("a"),
    "one comment": lambda: fill("#"),
    "comments": lambda: fill("# a comment\n"),
    "colons": lambda: fill(":"),
    "brackets": lambda: fill("["),
    "braces": lambda: fill("{a: "),
    "dashes": lambda: fill("- "),
    "question marks": lambda: fill("? "),
    "stairs": lambda: "".join(f"{' ' * i}-\n" for i in range(4_000)),
    "a quote that stays open": lambda: fill("a\n", start='- "'),
    "a list": lambda: fill("a,", start="[", end="]"),
    "a long list": lambda: fill("- a\n"),
    "empty items": lambda: fill("-\n"),
    "keys": lambda: count("a@: b\n"),
    "one key again and again": lambda: fill("a: b\n"),
    "documents": lambda: fill("---\n"),
    "directives": lambda: fill("%YAML 1.1\n"),
    "tags of YAML": lambda: fill("!x y, ", start="[", end="]"),
    "anchors": lambda: fill("- &a a\n"),
    "aliases": lambda: fill("- *a\n", start="- &a {func: 'f(Tensor self) -> Tensor'}\n"),
    "undefined aliases": lambda: fill("- *b\n"),
    "aliases of a large entry": lambda: fill(
        "- *a\n", start=f"- &a {{func: 'f({arguments('Tensor a@')}) -> Tensor'}}\n"
    ),
    "merges": lambda: fill("- <<: *a\n", start=_MERGED),
    "merges of lists": lambda: fill("*a, ", start=f"{_MERGED}- <<: [", end="*a]\n"),
    "merges that grow": lambda: count("- &a@\n  <<: *a@\n", start="- &a0 {func: x}\n"),
    "laughs": lambda: laughs("- &a0 [x,x,x,x,x,x,x,x,x,x]\n", "- &a{} [{}]\n"),
    "laughs in tags": lambda: laughs(f"{_F}  tags: &a0 [core]\n", f"{_F}  tags: &a{{}} [{{}}]\n"),
    "laughs in merges": lambda: laughs("- &a0 {a: b, c: d}\n", "- &a{}\n  <<: [{}]\n"),
}

# One or several entries of the greatest length.
_ENTRIES: Mapping[str, Callable[[], str]] = {
    "100,000 arguments": lambda: (
        "- func: f(" + ", ".join(f"Tensor a{i}" for i in range(100_000)) + ") -> Tensor\n"
    ),
    "a long name": lambda: fill("f", start="- func: ", end="(Tensor self) -> Tensor\n"),
    "a long name below the limit": lambda: f"- func: {'f' * 60_000}(Tensor self) -> Tensor\n",
    "long namespaces": lambda: wide("- func: " + "a::" * 20_000 + "f(Tensor self) -> Tensor\n"),
    "many arguments": lambda: wide(f"- func: f#({arguments('Tensor a@')}) -> Tensor\n"),
    "arguments of one name": lambda: wide(f"- func: f#({arguments('Tensor a')}) -> Tensor\n"),
    "bad types": lambda: wide(f"- func: f#({arguments('Tensr a@')}) -> Tensor\n"),
    "bad types, folded": lambda: wide(
        "- func: >\n    f#(" + arguments("Tensr a@").replace(", ", ",\n    ") + ") -> Tensor\n"
    ),
    "bad types, literal": lambda: wide(
        "- func: |\n    f#(" + arguments("Tensr a@").replace(", ", ",\n    ") + ") -> Tensor\n"
    ),
    "bad types, escaped": lambda: wide(
        '- func: "f#(' + arguments("Tens\\x72 a@") + ') -> Tensor"\n'
    ),
    "a deep block": lambda: wide(
        "- func: |\n" + " " * 9_000 + "f#(Tensr a,\n" + " " * 9_000 + "Tensor b) -> Tensor\n"
    ),
    "empty lines in a fold": lambda: wide(
        "- func: >\n    f(Tensr a," + "\n" * 50_000 + "    Tensor b) -> Tensor\n"
    ),
    "open quotes": lambda: wide("- func: f#(" + arguments("str x@='") + ") -> Tensor\n"),
    "open brackets": lambda: wide("- func: f#(" + arguments("int[] x@=[") + ") -> Tensor\n"),
    "brackets in a default": lambda: wide(f"- func: f#(int[] x=[{'[, ' * 20_000}) -> Tensor\n"),
    "arrows in quotes": lambda: wide(f"- func: f#(str x='{') -> ' * 12_000}) -> Tensor\n"),
    "parentheses": lambda: wide(f"- func: f#({'(' * 60_000}) -> Tensor\n"),
    "blanks": lambda: wide(f"- func: 'f#(Tensor{' ' * 60_000}x) -> Tensor'\n"),
    "blanks and commas": lambda: wide(f"- func: 'f#(Tensor{' , ' * 20_000}x) -> Tensor'\n"),
    "question marks of a type": lambda: wide(f"- func: 'f#(int{'?' * 60_000} x) -> Tensor'\n"),
    "lists of lists": lambda: wide(f"- func: 'f#(int{'[]' * 30_000} x) -> Tensor'\n"),
    "lists that stay open": lambda: wide(f"- func: 'f#(int{'[' * 60_000} x) -> Tensor'\n"),
    "lists that only close": lambda: wide(f"- func: 'f#(int{']' * 60_000} x) -> Tensor'\n"),
    "digits of a size": lambda: wide(f"- func: 'f#(int[{'9' * 60_000}] x) -> Tensor'\n"),
    "digits of a default": lambda: wide(f"- func: 'f#(int x={'9' * 60_000}) -> Tensor'\n"),
    "digits of a float": lambda: wide(f"- func: 'f#(float x={'9' * 60_000}e) -> Tensor'\n"),
    "a long list for a default": lambda: wide(f"- func: 'f#(int[] x=[{'9,' * 30_000}9]) -> ()'\n"),
    "a long text for a default": lambda: wide(f"- func: 'f#(str x=\"{'a' * 60_000}\") -> ()'\n"),
    "alias letters": lambda: wide(f"- func: 'f#(Tensor({'a|' * 30_000}a) x) -> Tensor'\n"),
    "returns": lambda: wide(f"- func: f#(Tensor self) -> ({arguments('Tensor a@')})\n"),
    "tensor options": lambda: wide(
        "- func: f#(*, "
        + arguments(
            "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
        )
        + ") -> Tensor\n"
    ),
    "autogen": lambda: wide(f"{_F}  dispatch:\n    CPU: f\n  autogen: {arguments('f.o@')}\n"),
    "variants": lambda: wide(f"{_F}  variants: {arguments('functoin')}\n"),
    "dispatch keys": lambda: wide(f"{_F}  dispatch:\n    {arguments('CPU', 1_000)}: f\n"),
    "dispatch rows": lambda: count("    CPU@: f\n", start=f"{_F}  dispatch:\n", size=1_000_000),
    "kernel namespaces": lambda: wide(f"{_F}  dispatch:\n    CPU: {'a::' * 20_000}f\n"),
    "unknown tags": lambda: count("core@, ", start=f"{_F}  tags: [", end="core]\n", size=900_000),
    "unknown keys": lambda: count("  key@: x\n", start=_F, size=1_000_000),
    "element types": lambda: wide(f"{_F}  ufunc_inner_loop: f ({arguments('Flot')})\n"),
    "precomputed": lambda: wide(f"{_F}  precomputed:\n  - x -> {arguments('int a@')}\n"),
    "no defaults": lambda: wide(f"{_F}  cpp_no_default_args: [{arguments('x', 20_000)}]\n"),
}

# Very many entries.
_CROWDS: Mapping[str, Callable[[], str]] = {
    "operators beyond the limit": lambda: count("- func: f@(Tensor self) -> Tensor\n"),
    "operators": lambda: count("- func: f@(Tensor self) -> Tensor\n", size=720_000),
    "one operator again": lambda: fill(_F, size=720_000),
    "overloads": lambda: count("- func: f.o@(Tensor self) -> Tensor\n", size=720_000),
    "overloads of one kind": lambda: count(
        "- func: f.o@(Tensor self, int a@) -> Tensor\n", size=660_000
    ),
    "bad entries": lambda: count("- func: f@(Tensr self) -> Tensor\n", size=720_000),
    "namespaces": lambda: count("- func: n@::f(Tensor self) -> Tensor\n", size=720_000),
    "in-place alone": lambda: count("- func: f@_(Tensor(a!) self) -> Tensor(a!)\n", size=780_000),
    "out alone": lambda: count(
        "- func: f@.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n", size=780_000
    ),
    "generated": lambda: count(
        "- func: f@(Tensor self) -> Tensor\n  dispatch:\n    CPU: f\n  autogen: f@.out\n",
        size=660_000,
    ),
    "commas without a space": lambda: count(
        "- func: f@(Tensor self,int a,int b) -> Tensor\n", size=770_000
    ),
    "a misspelt type and a misspelt key": lambda: count(
        "- func: f@(Tensr self) -> Tensor\n  variantz: function\n", size=770_000
    ),
    "keys out of order": lambda: count(
        "- dispatch:\n    CPU: f\n  func: f@(Tensor self) -> Tensor\n", size=770_000
    ),
    "delegates to undefined operators": lambda: count(
        "- func: f@(Tensor self) -> Tensor\n  structured_delegate: ff@.out\n", size=720_000
    ),
    "delegates to one": lambda: count(
        "- func: f.o@(Tensor self, int a@) -> Tensor\n  structured_delegate: f.out\n",
        end="- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n",
        size=600_000,
    ),
    "views": lambda: count(
        "- func: f@(Tensor(a) self) -> Tensor(a)\n  dispatch:\n    CPU: f\n"
        "- func: f@_copy(Tensor self) -> Tensor\n  tags: view_copy\n",
        size=600_000,
    ),
}

# For a single entry, which cannot be cut.
_SINGLE = {"100,000 arguments", "a long name", "dispatch rows", "unknown keys"}
# Inputs beyond a limit take less time than those just below it.
_FITTED: Mapping[str, Callable[[], str]] = {
    f"{name}, all read": lambda make=make: fitted(make())  # type: ignore[misc]
    for name, make in {**_ENTRIES, **_CROWDS}.items()
    if name not in _SINGLE
}

SCHEMAS: Mapping[str, Callable[[], str | bytes]] = {**_YAML, **_ENTRIES, **_CROWDS, **_FITTED}

# Other files that a run reads, by the option that names them.
OTHERS: Mapping[tuple[str, str], Callable[[], str | bytes]] = {
    ("--select", "operators"): lambda: count("  aten::f@: {}\n", start="operators:\n"),
    ("--select", "few enough"): lambda: count("  f@: {}\n", start="operators:\n", size=700_000),
    ("--select", "dtypes"): lambda: count("  f@: [flot]\n", "kernel_metadata:\n", size=600_000),
    ("--select", "names"): lambda: count("- aten::f@\n", size=1_000_000),
    ("--backend-yaml", "operators"): lambda: count(
        "- f@\n", start="backend: XLA\ncpp_namespace: a\nsupported:\n", size=600_000
    ),
    ("--tags", "tags"): lambda: count("- tag: f@\n  desc: x\n", size=900_000),
    ("--tags", "bad tags"): lambda: count("- tag: f@\n  dsc: x\n", size=900_000),
    ("--impl-path", "definitions"): lambda: fill("XLANativeFunctions::f( "),
    ("--impl-path", "no definitions"): lambda: fill("XLANativeFunctions:: "),
    ("--extends", "brackets"): lambda: fill("["),
    ("--extends", "numbers"): lambda: fill("1,", start="[", end="1]"),
    ("--extends", "digits"): lambda: fill("1"),
    ("--extends", "operators"): lambda: count(
        '"a@":1,', start='{"name":"x","tensor":"x::Tensor","operators":{', end='"b":1}}'
    ),
    ("--allow", "names"): lambda: count("foo@.*\n"),
    ("--allow", "enough names"): lambda: count("foo@.*\n", size=1_000_000),
    ("--allow", "bad lines"): lambda: fill("a b c\n", size=1_000_000),
    ("--allow", "repeats"): lambda: "(a+)+$\n",
    ("--allow", "groups"): lambda: "(" * 500_000 + ")" * 500_000 + "\n",
    ("--allow", "a long line"): lambda: fill("a", size=1_000_000),
}
