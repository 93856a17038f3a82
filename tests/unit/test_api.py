"""The API that docs/api.md promises: its example runs, is typed, and its functions do what the commands do."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import opgen
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
        r"```python\n(.*?)```", (REPOSITORY / "docs/api.md").read_text(), re.DOTALL
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
    """Protects users who run mypy --strict: `py.typed`, and no function that takes or gives Any."""
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


def test_generate_makes_what_the_command_makes(yaml: Path) -> None:
    tree = make_tree(aten_inputs((yaml,), target="torch"), python=True)
    made = opgen.generate([str(yaml)], yaml.parent / "out", target="torch", python=True)
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
        opgen.lint([yaml], target="rocket")


def test_a_folder_that_cannot_be_written_is_an_exception(yaml: Path) -> None:
    (yaml.parent / "out").write_text("in the way")
    with pytest.raises(opgen.OpgenError, match="is not a directory"):
        opgen.generate([yaml], yaml.parent / "out")


def test_one_path_is_a_list_of_one(yaml: Path) -> None:
    """A path that is a text would else be taken for a list of letters."""
    several = opgen.load([yaml]).functions
    assert opgen.load(str(yaml)).functions == opgen.load(yaml).functions == several
    assert opgen.lint(str(yaml)) == opgen.lint([yaml])
    assert opgen.generate(str(yaml)) == opgen.generate((yaml,))
    kept = opgen.load(yaml, backends="CUDA, Meta").functions
    assert kept == opgen.load(yaml, backends=["CUDA", "Meta"]).functions != several
