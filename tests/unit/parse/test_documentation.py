"""The documentation of an operator: the key `doc`, or the comment directly above its entry."""

from __future__ import annotations

import pytest

from opgen.diagnostics import Diagnostics, Source
from opgen.parse.files.native_functions import builtin_tags, parse_entries
from support.pytorch import packaged_native_functions

ENTRY = "- func: lib::f(Tensor self) -> Tensor\n"


def docs(text: str, *, strict: bool = False) -> list[str | None]:
    diagnostics = Diagnostics()
    parsed = parse_entries(
        [Source("f.yaml", text)],
        builtin_tags(),
        (),
        diagnostics,
        strict_torchgen=strict,
        namespace="aten",
    )
    assert not len(diagnostics), [one.message for one in diagnostics]
    return [f.doc for f in parsed.functions]


@pytest.mark.parametrize(
    ("comment", "doc"),
    [
        ("# Apply f.\n", "Apply f."),
        ("#Apply f.\n", "Apply f."),
        ("# Apply f.\n#\n# Args:\n#     self: it\n", "Apply f.\n\nArgs:\n    self: it"),
        ("#    Apply f.\n#      More.\n", "Apply f.\n  More."),
        ("# Title\r\n# More.\r\n", "Title\nMore."),
        ("# Numpy\n#\n# Parameters\n# ----------\n# self : it\n", "Numpy\n\nParameters\n----------\nself : it"),
        ("# Above a blank line.\n\n", None),
        ("# Section\n\n# Apply f.\n", "Apply f."),
        ("  # Indented more than the entry.\n", None),
        ("#\n#\n", None),
        ("# opgen: allow(W1003) a reason\n", None),
        ("# Apply f.\n# opgen: allow(W1003)\n", "Apply f."),
        ("# yamllint disable-line rule:line-length\n# Apply f.\n", "Apply f."),
        ("# TODO: write a faster one\n", None),
        ("# Apply f.\n#\n# FIXME(me): complex\n# numbers\n#\n# End.\n", "Apply f.\n\nEnd."),
        ("# Apply f.\n# TODO: faster,\n# and better\n", "Apply f."),
        ("# Copyright Me\n# SPDX-License-Identifier: MIT\n", None),
        ("# ---------\n# Images\n# ---------\n", None),
        ("# ---------\n# Images\n# ---------\n# Apply f.\n", "Apply f."),
        ("#########\n## Images\n#########\n", None),
        ("# ---- Images ----\n", None),
        ("### Images ###\n# Apply f.\n", "Apply f."),
        ("# Images\n# ======\n", None),
        ("# - func: lib::old(Tensor self) -> Tensor\n#   variants: method\n", None),
        ("# A note.\n#: Apply f.\n#:\n#:   More.\n# Another note.\n", "Apply f.\n\n  More."),
        ("#:Apply f.\n", "Apply f."),
    ],
)  # fmt: skip
def test_a_comment_directly_above_is_documentation(comment: str, doc: str | None) -> None:
    """Protects help() from notes that are not for users, and text for users from being lost."""
    assert docs(f"- namespace: lib\n{comment}{ENTRY}") == [doc]
    assert docs(f"{comment}{ENTRY}") == [doc]


def test_under_torchgens_rules_only_marked_comments_are_documentation() -> None:
    """Protects the bytes for files such as PyTorch's, whose comments are notes."""
    aten = "- func: f(Tensor self) -> Tensor\n"
    assert docs(f"# NB: see Note [f]\n{aten}") == [None]
    assert docs(f"# NB: see Note [f]\n#: Apply f.\n{aten}") == ["Apply f."]
    assert docs(f"# NB: see Note [f]\n{ENTRY}", strict=True) == [None]
    assert docs(f"#: Apply f.\n{ENTRY}", strict=True) == ["Apply f."]


def test_pytorchs_file_has_no_documentation() -> None:
    found = docs(packaged_native_functions().read_text())
    assert len(found) > 2000 and set(found) == {None}


@pytest.mark.parametrize(
    ("value", "doc"),
    [
        ("Apply f.", "Apply f."),
        ("'Apply: f.'", "Apply: f."),
        ("|\n    Apply f.\n\n      More.  \n", "Apply f.\n\n  More."),
        (">-\n    Apply\n    f.", "Apply f."),
        ('"\\n\\n  Apply\\n  f.\\n "', "Apply\nf."),
        ('"a\\tb"', "a   b"),
        ('""', ""),
    ],
)
def test_the_key_takes_precedence_over_the_comment(value: str, doc: str) -> None:
    assert docs(f"# Another text.\n{ENTRY}  doc: {value}\n") == [doc]


def test_a_line_of_a_string_is_not_a_comment() -> None:
    """Protects a string of the entry above, whose last line looks like a comment."""
    text = f'{ENTRY}  tags: "\n# core"\n- func: lib::g(Tensor self) -> Tensor\n'
    assert docs(text.replace("  tags", "  category_override")) == [None, None]


@pytest.mark.parametrize("character", ["\\0", "\\e", "\\x85", "\\x7f", "\\r"])
def test_control_characters_are_rejected(character: str) -> None:
    """Protects generated files from characters that compilers do not accept in a comment or a string."""
    diagnostics = Diagnostics()
    source = Source("f.yaml", f'{ENTRY}  doc: "a {character} b"\n')
    parse_entries([source], builtin_tags(), (), diagnostics)
    assert [str(one.code) for one in diagnostics] == ["E0256"]
