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


F, G = 'm.def("f(Tensor x) -> Tensor");', 'm.def("g(Tensor x) -> Tensor");'
FAKES = 'm.set_python_module("demo.fakes");'


@pytest.mark.parametrize(
    ("text", "head", "codes"),
    [
        (library(FAKES, F, G), ["fake_module: demo.fakes"], []),
        (library('m.impl_abstract_pystub("fakes");', F), ["fake_module: fakes"], []),
        (library(f'{FAKES[:-2]}, "//demo");', F), ["fake_module: demo.fakes"], ["W1176"]),
        (library("m.set_python_module(of_the_build());", F), [], ["W1176"]),
        (library('m.set_python_module("demo/fakes.py");', F), [], ["W1176"]),
        (library(F, FAKES, G), ["fake_module: demo.fakes"], []),
        (
            library(FAKES, F)
            + f'TORCH_LIBRARY_FRAGMENT(other, m) {{ {FAKES.replace("demo", "own")} {G} }}\n',
            ["fake_module: demo.fakes", "fake_module: own.fakes"],
            [],
        ),
        (
            library(FAKES, F, G, FAKES.replace("demo", "own"), 'm.def("h() -> ()");'),
            ["fake_module: demo.fakes", "fake_module: own.fakes"],
            [],
        ),
    ],
)
def test_the_module_of_the_fakes_is_kept(
    text: str, head: list[str], codes: list[str], tmp_path: Path
) -> None:
    """Protects fakes in Python: PyTorch refuses those of a module that the library does not name, if it names one."""
    (tmp_path / "ops.cpp").write_text(text)
    diagnostics, made = Diagnostics(), tmp_path / "made.yaml"
    found = import_operators(Imports((str(tmp_path / "ops.cpp"),), output=str(made)), diagnostics)
    assert found is not None and [item.code for item in diagnostics] == codes
    made.write_text(found.texts[str(made)])
    assert [line[2:] for line in made.read_text().splitlines() if "fake_module" in line] == head
    assert CliRunner().invoke(main, ["lint", "--target", "torch", str(made)]).exit_code == 0
