"""`opgen format` and `--fix` on files with a head and the spellings of libraries: they change no meaning, and
terminate.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from opgen.diagnostics import Diagnostics
from opgen.edits import fix_all, format_all
from opgen.model.native_function import NativeFunction
from opgen.pipeline import checking, loading
from opgen.pipeline.inputs import Inputs, Overlay

FORMS = (Path(__file__).parents[2] / "support/library_forms.yaml").read_text()
_PATH = Path("texts/forms.yaml")
# PyTorch's parser skips white space between these. (Strings and numbers contain none to skip.)
_TOKEN = re.compile(r"__torch__[\w.]*|\w+(?:\.\w+)?|->|::|.")
_NO_BLANKS = re.compile(r"[\w.:]")
_KEYS = re.compile(r"^  (?=\w)", re.MULTILINE)


def functions(inputs: Inputs, content: bytes) -> tuple[NativeFunction, ...]:
    """Return the operators of the file, which must have no errors. Their positions do not count."""
    diagnostics = Diagnostics()
    registry = loading.load(replace(inputs, overlay={_PATH: content}), diagnostics)
    assert registry is not None, [item.message for item in diagnostics]
    return registry.functions


def loosened(text: str, chance: Random) -> str:
    """Rewrite the same operators: white space in schemas, the order of keys, quotes, literal blocks."""
    head, *entries = re.split(r"^(?=- )", text, flags=re.MULTILINE)
    return head + "".join(_loosened_entry(entry, chance) for entry in entries)


def _loosened_entry(entry: str, chance: Random) -> str:
    entry, comments, rest = entry.partition("\n#")
    first, *lines = _KEYS.split(entry[2:].rstrip("\n") + "\n")
    if first.startswith("func: ") and "|" not in first:
        first = _written(_loosened_schema(first[len("func: ") :].strip(), chance), chance)
    keys = [first, *lines]
    chance.shuffle(keys)
    return "- " + "  ".join(keys) + "\n" + comments + rest


def _loosened_schema(schema: str, chance: Random) -> str:
    tokens = [token for token in _TOKEN.findall(schema) if token != " "]
    parts = [tokens[0]]
    for before, after in pairwise(tokens):
        touching = bool(_NO_BLANKS.match(before[-1]) and _NO_BLANKS.match(after[0]))
        is_name = "::" in (before, after)
        # White space is needed between two words, and not allowed within a name.
        least = 1 if touching and not is_name else 0
        parts += (" " * (0 if is_name else least + chance.choice((0, 0, 0, 1, 2))), after)
    return "".join(parts)


def _written(schema: str, chance: Random) -> str:
    """Write a value as a plain, quoted, folded or literal scalar; a literal one may have several lines."""
    style = chance.choice(("plain", "plain", "'", '"', ">-", "|-", "|"))
    if style == "plain" and ": " not in schema and " #" not in schema:
        return f"func: {schema}\n"
    if style in ("'", '"', "plain"):
        quote = "'" if style == "plain" else style
        return f"func: {quote}{schema}{quote}\n"
    if style.startswith("|") and chance.random() < 0.5:
        schema = schema.replace(",", ",\n      ")
    return f"func: {style}\n    {schema}\n"


def formatted(inputs: Inputs, content: bytes) -> bytes:
    def check(contents: Overlay) -> tuple[Diagnostics, Diagnostics]:
        return loading.misplaced_blanks(replace(inputs, overlay=dict(contents)))

    changed, found = format_all({_PATH: content}, check)
    assert not found.has_errors
    return changed.get(_PATH, content)


def fixed(inputs: Inputs, content: bytes) -> bytes:
    def check(contents: Overlay) -> tuple[Diagnostics, None]:
        diagnostics = Diagnostics()
        checking.inspect(replace(inputs, overlay=dict(contents)), diagnostics)
        return diagnostics, None

    return fix_all({_PATH: content}, check).contents.get(_PATH, content)


@pytest.mark.parametrize(
    "seeds", [range(25), pytest.param(range(25, 150), marks=pytest.mark.slow)], ids=["25", "125"]
)
def test_the_model_does_not_change(seeds: range) -> None:
    inputs = Inputs((_PATH,), target="torch")
    wanted = functions(inputs, FORMS.encode())
    loose = 0
    for seed in seeds:
        text = loosened(FORMS, Random(seed))
        assert functions(inputs, text.encode()) == wanted, text
        for change in (formatted, fixed):
            once = change(inputs, text.encode())
            assert functions(inputs, once) == wanted, once.decode()
            assert change(inputs, once) == once
            loose += once != text.encode()
        # Nothing is left that a lint about white space would report.
        left, _ = loading.misplaced_blanks(
            replace(inputs, overlay={_PATH: formatted(inputs, text.encode())})
        )
        assert not len(left), [item.message for item in left]
    assert loose > len(seeds)


def test_the_layout() -> None:
    """One file, before and after: keys of the head, white space, a literal block that stays, comments."""
    before = """\
# Of the file.
- classes:
    a.C:
      type: a::C
      header: c.h
  # What declares them.
  include: [k.h]
  namespace: a

# Of an operator.
- dispatch:
    CPU: ::k  # there
  func: f( Tensor (a!) x,int  n=3 )->( )
- func: |
    g(Tensor x,
      Tensor y) -> (Tensor)
  dispatch: {CPU: fallthrough}
"""
    after = """\
# Of the file.
- namespace: a
  # What declares them.
  include: [k.h]
  classes:
    a.C:
      type: a::C
      header: c.h

# Of an operator.
- func: f(Tensor(a!) x, int n=3) -> ()
  dispatch:
    CPU: ::k  # there
- func: |
    g(Tensor x,
      Tensor y) -> (Tensor)
  dispatch: {CPU: fallthrough}
"""
    inputs = Inputs((_PATH,), target="torch")
    assert formatted(inputs, before.encode()).decode() == after
