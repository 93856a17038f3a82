"""From YAML to nodes: kinds, aliases, merging, and the position of everything."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from opgen.diagnostics import Diagnostics, Source
from opgen.parse.yaml.nodes import (
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    character_ranges,
    compose,
)


def read(text: str) -> Node:
    diagnostics = Diagnostics()
    node = compose(Source("f", text), diagnostics)
    assert [d.message for d in diagnostics] == []
    assert node is not None
    return node


def scalar(text: str) -> ScalarNode:
    node = read(text)
    assert isinstance(node, ScalarNode)
    return node


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("abc", "str"),
        ("'3'", "str"),
        ("!!str 3", "str"),
        ("3", "int"),
        ("0x1f", "int"),
        ("1.5", "float"),
        ("True", "bool"),
        ("no", "bool"),
        ("~", "null"),
        ("2026-01-01", "timestamp"),
        ("[a]", "seq"),
        ("{a: b}", "map"),
        ("|\n  3\n", "str"),
        ("nothing", "str"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    assert read(text).kind == kind


def test_truth_values() -> None:
    assert [scalar(t).is_true for t in ("True", "yes", "ON", "false", "No", "off")] == (
        [True, True, True, False, False, False]
    )


def test_mappings_are_looked_up() -> None:
    node = read("a: 1\nb: [x, y]\n")
    assert isinstance(node, MappingNode)
    value = node.get("b")
    assert isinstance(value, SequenceNode)
    assert [item.span.text for item in value.items] == ["x", "y"]
    assert node.get("c") is None
    assert node.key_node("c") is None
    key = node.key_node("b")
    assert key is not None and key.span.text == "b"
    assert value.span.text == "[x, y]"


def test_aliases_are_the_node_they_name() -> None:
    node = read("- &a [x]\n- *a\n- &a y\n- *a\n")
    assert isinstance(node, SequenceNode)
    assert node.items[1] is node.items[0]
    assert node.items[3] is node.items[2]


def merged(text: str) -> dict[str, str]:
    node = read(text)
    assert isinstance(node, SequenceNode)
    last = node.items[-1]
    assert isinstance(last, MappingNode)
    return {key.value: value.span.text for key, value in last.pairs}


def test_own_keys_win_over_merged_ones() -> None:
    text = "- &x {a: 1, b: 2}\n- &y {b: 3, c: 4}\n- <<: [*x, *y]\n  a: 5\n"
    assert merged(text) == {"a": "5", "b": "2", "c": "4"}


def test_a_merged_mapping_may_merge_others() -> None:
    assert merged("- &x {a: 1}\n- &y {<<: *x, b: 2}\n- {<<: *y}\n") == {"b": "2", "a": "1"}


def test_a_quoted_merge_key_is_a_key() -> None:
    assert merged("- {'<<': 1}\n") == {"<<": "1"}


def test_an_empty_text() -> None:
    diagnostics = Diagnostics()
    assert compose(Source("f", "# only a comment\n"), diagnostics) is None
    assert len(diagnostics) == 0


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("foo bar", (4, 7), "bar"),
        ("'foo bar'", (4, 7), "bar"),
        ("'it''s so'", (2, 4), "''s"),
        ('"a\\tb\\u0041c"', (3, 4), "\\u0041"),
        ('"a\\\n  b"', (1, 2), "b"),
        ("foo\n  bar", (4, 7), "bar"),
        ("foo\n\n\n  bar", (5, 8), "bar"),
        ("'foo  \n  bar'", (4, 7), "bar"),
        (">\n  foo\n  bar\n", (4, 7), "bar"),
        (">\n  foo\n\n  bar\n", (4, 7), "bar"),
        (">\n  foo\n    bar\n  baz\n", (6, 9), "bar"),
        (">\n  foo\n    bar\n  baz\n", (10, 13), "baz"),
        ("|\n  foo\n   bar\n", (5, 8), "bar"),
        ("|2\n    foo\n  bar\n", (6, 9), "bar"),
        ("|-\n  foo\n\n  bar\n\n", (5, 8), "bar"),
        ("|+\r\n  foo\r\n  bar\r\n", (4, 7), "bar"),
        ("\ufefffoo bar", (4, 7), "bar"),
        ("# é😀\nfoo bar", (4, 7), "bar"),
    ],
)
def test_parts_of_scalars(text: str, part: tuple[int, int], expected: str) -> None:
    node = scalar(text)
    assert node.part(*part).text == expected
    assert node.span.source.text == text


def test_an_empty_part_is_a_point() -> None:
    node = scalar("'it''s'")
    assert (node.part(3, 3).start, node.part(3, 3).end) == (5, 5)
    assert node.part(4, 4).start == 6


values = st.text(
    st.characters(
        codec="utf-8", categories=["L", "N", "P", "Zs"], include_characters=" \n\t'\"\\:#"
    ),
    max_size=40,
)


@given(values, st.sampled_from([None, "'", '"', "|", ">"]), st.integers(10, 40))
def test_every_character_of_a_scalar_is_found(value: str, style: str | None, width: int) -> None:
    text = yaml.dump([value], default_style=style, width=width, allow_unicode=True)
    node = read(text)
    assert isinstance(node, SequenceNode)
    found = node.items[0]
    assert isinstance(found, ScalarNode)
    assert found.value == value
    ranges = character_ranges(text, found.start, found.end, found.style, value)
    if not ranges:
        # A block of blank lines has no text that shows its indentation.
        assert not value.strip()
        return
    assert len(ranges) == len(value)
    for character, (start, end) in zip(value, ranges):
        assert found.start <= start <= end <= found.end
        if not character.isspace() and found.style != '"' and character != "'":
            assert text[start:end] == character
