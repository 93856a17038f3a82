"""Strings in the imported YAML."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from importing_unit_support import library

from opgen.cli.main import main
from opgen.diagnostics import Diagnostics
from opgen.emit.imported import _condition, yaml_text
from opgen.importing.entries.merge import Conditions
from opgen.pipeline.importing import Imports, import_operators


@given(st.text())
def test_yaml_reads_what_was_written(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    assert yaml.safe_load(f"- func: {yaml_text(text)}\n") in (
        [{"func": text}],
        [{"func": _typed(text)}],
    )


def _typed(text: str) -> object:
    """Return how YAML reads a plain scalar: a schema is never a number, but other strings may be."""
    return yaml.safe_load(text) if yaml_text(text) == text else text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("ns::f(Tensor! x) -> ()", "ns::f(Tensor! x) -> ()"),
        ('ns::f(str s="a: b") -> ()', "'ns::f(str s=\"a: b\") -> ()'"),
        ("ns::f(str s='a #b') -> ()", "'ns::f(str s=''a #b'') -> ()'"),
        ('ns::f(str s="\\n") -> ()', 'ns::f(str s="\\n") -> ()'),
        ("ns::f(str s='\n') -> ()", "\"ns::f(str s='\\n') -> ()\""),
        ("::f", "::f"),
        ("::f<float>", "::f<float>"),
    ],
)
def test_strings_are_quoted_where_needed(text: str, written: str) -> None:
    assert yaml_text(text) == written
    assert yaml.safe_load(f"x: {written}") == {"x": text}


@pytest.mark.parametrize(
    ("ways", "words"),
    [
        ([()], ""),
        ([("A",)], "Only #if A"),
        ([("A", "B > 1")], "Only #if A && B > 1"),
        ([("A",), ("B",)], "Only #if A, or #if B"),
        ([("A",), ("!A",)], ""),
        ([("A > 1",), ("!(A > 1)",)], ""),
        ([("A",), ()], ""),
        ([("A",), ("A",)], "Only #if A"),
    ],
)
def test_conditions(ways: list[Conditions], words: str) -> None:
    assert _condition(ways) == words


def test_what_lint_refuses_is_a_comment(tmp_path: Path) -> None:
    """What import writes, lint accepts, also of operators that PyTorch registers, and opgen cannot."""
    text = library('m.def("g(Tensor x) -> Tensor");')
    text += 'TORCH_LIBRARY_FRAGMENT(aten, m) { m.def("own(Tensor x) -> Tensor"); }\n'
    (tmp_path / "ops.cpp").write_text(text)
    diagnostics, made = Diagnostics(), str(tmp_path / "ops.yaml")
    found = import_operators(Imports((str(tmp_path / "ops.cpp"),), output=made), diagnostics)
    assert found is not None and [item.code for item in diagnostics] == ["W1176"]
    (tmp_path / "ops.yaml").write_text(found.texts[made])
    assert "\n# - func: aten::own" in found.texts[made]
    assert "is in one of torch's own namespaces" in found.texts[made]
    result = CliRunner().invoke(main, ["lint", "--target", "torch", made])
    assert result.exit_code == 0 and "1 entry" in result.output
