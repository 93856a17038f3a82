"""The API described in docs/reference/api.md: its example runs and is typed, and its functions do what the commands do."""

from __future__ import annotations

import contextlib
import enum
import importlib.util
import inspect
import re
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import msgspec
import pytest

import opgen
from opgen.cli.generate import generate
from support.build import REPOSITORY
from support.inputs import aten_inputs
from support.trees import make_tree, texts

GOOD = """\
- func: custom::plus(Tensor self, Tensor other) -> Tensor
  structured_delegate: plus.out

- func: custom::plus.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU: plus_out_cpu
"""


def example() -> str:
    (text,) = re.findall(
        r"```python\n(.*?)```", (REPOSITORY / "docs/reference/api.md").read_text(), re.DOTALL
    )
    return str(text)


@pytest.fixture
def yaml(tmp_path: Path) -> Path:
    file = tmp_path / "native_functions.yaml"
    file.write_text(GOOD)
    return file


def test_the_example_runs(yaml: Path) -> None:
    (yaml.parent / "use.py").write_text(example())
    command = [sys.executable, "use.py"]
    done = subprocess.run(command, cwd=yaml.parent, capture_output=True, text=True, check=True)
    assert "plus.out structured" in done.stdout and "plus ['plus', 'plus.out']" in done.stdout
    assert "files, of these CMakeLists.txt: # CMakeLists.txt: library custom" in done.stdout
    yaml.write_text(GOOD.replace("plus.out\n", "plus.uot\n"))
    done = subprocess.run(command, cwd=yaml.parent, capture_output=True, text=True, check=False)
    assert "OpgenError: 'plus' delegates to 'plus.uot'" in done.stderr


@pytest.mark.slow
def test_the_example_is_typed(tmp_path: Path) -> None:
    """Protects users who run mypy --strict: there is a `py.typed`, and no function takes or returns Any."""
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    user = tmp_path / "use.py"
    reveal = "".join(f"reveal_type(opgen.{name})\n" for name in ("load", "lint", "generate"))
    user.write_text(example() + reveal + "opgen.load(3)\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(user)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    notes, errors = (
        [line for line in done.stdout.splitlines() if f": {kind}:" in line]
        for kind in ("note", "error")
    )
    assert len(errors) == 1 and 'Argument 1 to "load"' in errors[0], done.stdout
    assert len(notes) == 3 and "Any" not in "".join(notes), done.stdout


def test_generate_gives_the_files_of_the_command(yaml: Path) -> None:
    tree = make_tree(aten_inputs((yaml,), target="torch"), python=True)
    inputs = opgen.Inputs([str(yaml)], target="torch", python=True)
    made = opgen.generate(inputs, yaml.parent / "out")
    written = {path: text for path, text in texts(tree).items() if path != "opgen_manifest.json"}
    assert dict(made) == written
    assert (yaml.parent / "out/CMakeLists.txt").read_text() == made["CMakeLists.txt"]
    assert (yaml.parent / "out/opgen_manifest.json").exists()


def test_mistakes_are_values_or_one_exception(yaml: Path) -> None:
    yaml.write_text(GOOD.replace("Tensor other) ->", "Tensr other) ->"))
    (problem,) = opgen.lint([yaml])
    assert (problem.code, problem.severity) == ("E0307", opgen.Severity.error)
    for function in (opgen.load, opgen.generate):
        with pytest.raises(opgen.OpgenError) as caught:
            function([yaml])
        (again,) = caught.value.diagnostics
        assert (again.code, again.message) == (problem.code, problem.message)
    assert not (yaml.parent / "out").exists()
    with pytest.raises(ValueError, match="there is no target 'rocket'; there are runtime, torch"):
        opgen.lint(opgen.Inputs(yaml, target="rocket"))


def test_a_folder_that_cannot_be_written_is_an_exception(yaml: Path) -> None:
    (yaml.parent / "out").write_text("in the way")
    with pytest.raises(opgen.OpgenError, match="is not a directory"):
        opgen.generate([yaml], yaml.parent / "out")


def test_one_path_is_a_list_of_one(yaml: Path) -> None:
    """A path that is a string would otherwise be read as a list of letters."""
    several = opgen.load([yaml]).functions
    assert opgen.load(str(yaml)).functions == opgen.load(yaml).functions == several
    assert opgen.lint(str(yaml)) == opgen.lint([yaml])
    assert opgen.generate(str(yaml)) == opgen.generate((yaml,))
    assert opgen.load(opgen.Inputs(yaml)) == opgen.load(opgen.Inputs([yaml]))
    kept = opgen.load(opgen.Inputs(yaml, backends="CUDA, Meta")).functions
    assert kept == opgen.load(opgen.Inputs(yaml, backends=["CUDA", "Meta"])).functions != several


def test_inputs_have_every_option_of_the_command() -> None:
    """Names and defaults are the same. Only the command line has options for reports, and for lists for build
    systems."""
    only_there = {"output", "report_format", "deny_warnings", "depfile", "output_list"}
    only_there |= {"list_outputs", "list_inputs"}
    command = generate.make_context("generate", ["a.yaml", "-o", "out"]).params
    ours = msgspec.structs.asdict(opgen.Inputs("a.yaml"))
    assert command.keys() - only_there == ours.keys()
    for name in ours.keys() - {"yaml"}:
        assert (command[name] or None) == (ours[name] or None), name


def test_every_option_reaches_the_run(tmp_path: Path) -> None:
    """Each option changes a small library, or is reported as wrong."""
    (tmp_path / "a.yaml").write_text(
        "- func: plus(Tensor self) -> Tensor\n  dispatch:\n    CUDA: p\n"
    )
    (tmp_path / "tags.yaml").write_text("- tag: mine\n  desc: mine\n")
    (tmp_path / "backend.yaml").write_text("backend: XLA\ncpp_namespace: xla\nsupported: [plus]\n")
    (tmp_path / "list.yaml").write_text("include_all_operators: false\noperators: {}\n")
    (tmp_path / "empty.cpp").write_text("")
    given = {"yaml": tmp_path / "a.yaml", "namespace": "mylib"}
    (tmp_path / "wide.yaml").write_text(
        "- func: plus(Tensor! self) -> ()\n  dispatch:\n    CPU: p\n"
    )
    wide = {"yaml": tmp_path / "wide.yaml", "target": "torch"}
    assert opgen.generate(opgen.Inputs(**{**given, **wide}))
    base = opgen.generate(opgen.Inputs(**given))
    backend = {"backend_yaml": tmp_path / "backend.yaml"}
    with_backend = opgen.generate(opgen.Inputs(**given, **backend))
    assert base != with_backend
    for options in (
        {"target": "torch"},
        {"backends": "CPU"},
        {"ignore_keys": ["CUDA"]},
        {"name": "other"},
        {"namespace": "other"},
        {"select": [tmp_path / "list.yaml"]},
        {"shards": 2},
        {"python": True},
    ):
        assert opgen.generate(opgen.Inputs(**{**given, **options})) != base, options
    for options, code in (
        ({"tags": tmp_path / "none.yaml"}, "E0905"),
        ({"extends": tmp_path / "none.json"}, "E0905"),
        ({**backend, "impl_path": tmp_path / "none.cpp"}, "E0905"),
        ({"strict_torchgen": True, **wide}, "E"),
    ):
        with pytest.raises(opgen.OpgenError) as caught:
            opgen.generate(opgen.Inputs(**{**given, **options}))
        assert caught.value.diagnostics[0].code.startswith(code), options
    with pytest.raises(ValueError, match="there cannot be 65 shards"):
        opgen.load(opgen.Inputs(**given, shards=65))


def test_the_types_of_all_results_are_exported() -> None:
    """Classes of opgen are exported if a field or property of a result, or of another exported class, is of that
    class."""
    found: set[type] = set()
    waiting: list[Any] = [opgen.Registry, opgen.Diagnostic, opgen.OpgenError]
    while waiting:
        one = waiting.pop()
        waiting += typing.get_args(one)
        if not inspect.isclass(one) or not one.__module__.startswith("opgen") or one in found:
            continue
        found.add(one)
        assert getattr(opgen, one.__name__) is one
        waiting += typing.get_type_hints(one).values() if issubclass(one, msgspec.Struct) else ()
        for name, member in vars(one).items():
            getter = member.fget if isinstance(member, property) else member
            if inspect.isfunction(getter) and not name.startswith("_"):
                # Python 3.11 and older cannot evaluate `array[int]`.
                with contextlib.suppress(TypeError):
                    waiting += typing.get_type_hints(getter).values()
    assert len(found) > 30


def test_every_exported_name_is_documented() -> None:
    page = (REPOSITORY / "docs/reference/api.md").read_text()
    missing = [name for name in opgen.__all__ if not re.search(rf"`(opgen\.)?{name}[`(]", page)]
    assert not missing


def test_every_exported_class_and_member_has_a_docstring() -> None:
    """Users read them in their editor. A member may have that of the base class."""
    missing = []
    for name in opgen.__all__:
        one = getattr(opgen, name)
        if not inspect.isclass(one) and not inspect.isfunction(one):
            continue
        if not (one.__doc__ or "").strip():
            missing.append(name)
        members = vars(one) if inspect.isclass(one) else {}
        missing += [
            f"{name}.{member}"
            for member, value in members.items()
            if not member.startswith("_")
            and (inspect.isfunction(value) or hasattr(value, "__get__"))
            and not inspect.ismemberdescriptor(value)
            and not (issubclass(one, enum.Enum) and isinstance(value, one))
            and not inspect.getdoc(getattr(one, member))
        ]
    assert not missing
