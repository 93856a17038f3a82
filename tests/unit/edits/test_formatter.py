"""`opgen format`: keys in the usual order, the same values, and comments that stay with their keys."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from opgen.diagnostics import Source
from opgen.edits import format_entries
from opgen.parse.entries.keys import KEY_ORDER
from support.pytorch import packaged_native_functions
from support.releases import RELEASES, write_files

OURS = Path(__file__).parents[3] / "native_functions.yaml"


def formatted(text: str) -> str:
    return format_entries(Source("f.yaml", text))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Already in order, or only one key.
        ("- func: a\n  tags: b\n", "- func: a\n  tags: b\n"),
        ("- func: a\n", "- func: a\n"),
        # The key that moves to the front gets the dash, and its comments stand above it.
        (
            "- tags: b  # tag\n  # why\n  func: a # name\n",
            "  # why\n- func: a # name\n  tags: b  # tag\n",
        ),
        # Lines that are indented more than the keys belong to the value above.
        (
            "- func: a\n  dispatch:\n    CPU: x\n    # CUDA: y\n  # about variants\n  variants: method\n",
            "- func: a\n  # about variants\n  variants: method\n  dispatch:\n    CPU: x\n    # CUDA: y\n",
        ),
        # The last line has no line end, and neither has the new last line.
        ("- func: a\n  tags: b\n  variants: c", "- func: a\n  variants: c\n  tags: b"),
        (
            "- func: a\r\n  tags: b\r\n\r\n  variants: c\r\n",
            "- func: a\r\n\r\n  variants: c\r\n  tags: b\r\n",
        ),
        ("- func: a\r  tags: b\r  variants: c\r", "- func: a\r  variants: c\r  tags: b\r"),
        # Strings of several lines, and lists in both styles.
        (
            "- func: a\n  tags:\n  - b\n  - c\n  variants: >-\n    x\n\n    # y\n",
            "- func: a\n  variants: >-\n    x\n\n    # y\n  tags:\n  - b\n  - c\n",
        ),
        (
            "- func: a\n  tags: [b,\n    c]\n  variants: |\n    x\n",
            "- func: a\n  variants: |\n    x\n  tags: [b,\n    c]\n",
        ),
        ("-   tags: b\n    func: a\n", "-   func: a\n    tags: b\n"),
        ("-\n  tags: b\n  func: a\n", "-\n  func: a\n  tags: b\n"),
        ("- func: a\n  autogen:\n  tags: b\n", "- func: a\n  tags: b\n  autogen:\n"),
        # Unchanged: flow mappings, anchors, aliases, merged keys, and files that are not lists.
        ("- {tags: b, func: a}\n", "- {tags: b, func: a}\n"),
        ("- tags: &t b\n  func: a\n", "- tags: &t b\n  func: a\n"),
        ("- &e\n  tags: b\n  func: a\n- *e\n", "- &e\n  func: a\n  tags: b\n- *e\n"),
        ("- &e\n  func: b\n- tags: x\n  <<: *e\n", "- &e\n  func: b\n- tags: x\n  <<: *e\n"),
        ("tags: b\nfunc: a\n", "tags: b\nfunc: a\n"),
        ("", ""),
        ("- [\n", "- [\n"),
    ],
)
def test_layouts(before: str, after: str) -> None:
    assert formatted(before) == after
    assert formatted(after) == after


@pytest.mark.parametrize(
    "find",
    [
        pytest.param(packaged_native_functions, id="pytorch", marks=pytest.mark.slow),
        pytest.param(lambda: OURS, id="ours"),
    ],
)
def test_real_files(find: Callable[[], Path]) -> None:
    """The same entries and the same lines, in order; formatting a second time changes nothing."""
    path = find()
    text = path.read_bytes().decode()
    made = formatted(text)
    assert formatted(made) == made
    entries, again = (yaml.load(t, yaml.CSafeLoader) for t in (text, made))
    assert again == entries
    assert sorted(made.splitlines()) == sorted(text.splitlines())
    ranks = [[KEY_ORDER.index(key) for key in entry] for entry in again]
    assert ranks == [sorted(row) for row in ranks]


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_files_of_older_releases(tmp_path: Path, release: str) -> None:
    test_real_files(lambda: write_files(release, tmp_path) / "native_functions.yaml")


def test_the_counts_of_the_documentation() -> None:
    """The counts that the documentation of `Key` gives for PyTorch's file."""
    entries = yaml.load(packaged_native_functions().read_text(), yaml.CSafeLoader)
    agreeing = pairs = ordered = 0
    for entry in entries:
        ranks = [KEY_ORDER.index(key) for key in entry]
        ordered += ranks == sorted(ranks)
        for i, rank in enumerate(ranks):
            pairs += len(ranks) - i - 1
            agreeing += sum(rank < other for other in ranks[i + 1 :])
    assert (agreeing, pairs, ordered, len(entries)) == (15123, 16005, 2031, 2584)


VALUES = st.sampled_from(
    [
        "x",
        "'a b'",
        '"a\n      b"',
        "a\n      b",
        "[p, q]",
        "[p,\n\n    q]",
        "\n    CPU: a\n    CUDA: b",
        "\n    CPU: a  # c\n    # deep\n    CUDA: {x: y}",
        "\n  - p\n  - q",
        ">-\n    a\n\n    # b",
        "|\n    a\n      b\n",
        "|+\n    a\n\n",
        "",
        "{a: b}",
    ]
)
COMMENTS = st.sampled_from(
    ["", "", "", "  # above\n", "\n", "# left\n", "    # deep\n", "\n\n  # é\n"]
)
TRAILING = st.sampled_from(["", "", "  # at the end", "   "])


@settings(deadline=None)
@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from(KEY_ORDER), VALUES, COMMENTS, TRAILING),
            min_size=1,
            max_size=6,
            unique_by=lambda row: row[0],
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.randoms(),
)
def test_any_layout(
    entries: list[list[tuple[str, str, str, str]]],
    newline: str,
    ends: bool,
    chance: random.Random,
) -> None:
    """The same values, every line exactly once, in order; formatting a second time changes nothing."""
    text = ""
    for rows in entries:
        for number, (key, value, comment, trailing) in enumerate(rows):
            is_line = "\n" not in value and value
            lead = comment if number or "deep" not in comment else ""
            text += f"{lead}{'- ' if number == 0 else '  '}{key}: {value}"
            text += f"{trailing if is_line else ''}\n" if not value.endswith("\n") else ""
        text += chance.choice(["", "\n", "# between\n"])
    if not ends and text.count("\n") > 1 and not text.endswith("\n\n"):
        text = text[:-1]
    text = text.replace("\n", newline)
    made = formatted(text)
    assert yaml.safe_load(made) == yaml.safe_load(text)
    assert sorted(lines(made)) == sorted(lines(text))
    assert formatted(made) == made
    # A literal block may depend on its position: its blank lines must not be lost or added.
    literal = "|" in text or ">" in text
    for entry in yaml.safe_load(made):
        assert list(entry) == sorted(entry, key=KEY_ORDER.index) or literal


def lines(text: str) -> list[str]:
    """Return the lines without dashes, which move to another line if another key comes first."""
    found = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [
        f"  {line[2:]}" if (line.startswith("- ") and ": " in line) or line.endswith(":") else line
        for line in found
        if line
    ]
