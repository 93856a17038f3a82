"""Stubs read by type checkers: a user's calls, valid and invalid, and PyTorch's whole file.

The type checkers are mypy, and pyright or basedpyright if one is installed.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from opgen.io.writer import Tree
from support.author_python import build_package, start_package
from support.inputs import aten_inputs
from support.library import own_operators
from support.pytorch import packaged_native_functions
from support.trees import make_tree, write_tree

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "python"
# Finds the lines with an error in some Python files; `folder` has the packages that they import.
Checker = Callable[[Path, list[Path]], dict[str, str]]


def _mypy(folder: Path, files: list[Path]) -> dict[str, str]:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    options = ["--strict", "--no-error-summary", "--hide-error-context", "--no-color-output"]
    # NumPy's stubs take most of the time, and are read once per session.
    options += ["--cache-dir", str(folder.parent / "mypy"), "--show-absolute-path"]
    options += ["--python-executable", sys.executable]
    command = [sys.executable, "-m", "mypy", *options, *map(str, files)]
    return _errors(command, folder, {"MYPYPATH": str(folder)}, r"(.+?:\d+): error: (.+)")


def _pyright(folder: Path, files: list[Path]) -> dict[str, str]:
    """Run with the rules of pyright's standard mode; in basedpyright, a fork of it, its own rules are disabled."""
    beside = str(Path(sys.executable).parent)
    names = ("pyright", "basedpyright")
    program = next(
        filter(None, (shutil.which(n, path=p) for n in names for p in (beside, None))), None
    )
    if program is None:
        pytest.skip("neither pyright nor basedpyright is installed")
    (folder / "pyrightconfig.json").write_text(
        '{"typeCheckingMode": "standard", "reportMissingModuleSource": false}'
    )
    command = [program, "-p", str(folder), "--pythonpath", sys.executable, *map(str, files)]
    return _errors(command, folder, {}, r"\s*(.+?:\d+):\d+ - error: (.+)")


def _errors(
    command: list[str], folder: Path, variables: dict[str, str], pattern: str
) -> dict[str, str]:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = (re.fullmatch(pattern, line) for line in done.stdout.splitlines())
    errors = {match[1]: match[2] for match in found if match}
    assert done.returncode == 0 or errors, done.stdout + done.stderr
    return errors


CHECKERS = pytest.mark.parametrize("checker", [_mypy, _pyright], ids=["mypy", "pyright"])


def _write_package(tree: Tree, folder: Path) -> list[Path]:
    """Write the Python files of `tree` without its extension module, and all stubs, into the folder."""
    for path, text in tree.files.items():
        if path.startswith("python/") and path != "python/module.cpp":
            file = folder / path.removeprefix("python/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    return sorted(folder.rglob("*.pyi"))


@pytest.fixture
def typed(tmp_path: Path) -> Path:
    """A folder with the stubs of `calls` and the user's files."""
    _write_package(
        make_tree(aten_inputs((HERE / "native_functions.yaml",), name="calls"), python=True),
        tmp_path,
    )
    for file in (HERE / "typed").glob("*.py"):
        shutil.copy(file, tmp_path / file.name)
    return tmp_path


@CHECKERS
def test_valid_calls_are_accepted(typed: Path, checker: Checker) -> None:
    """Protects users from false alarms; the types of results are checked, too."""
    assert checker(typed, [typed / "good.py"]) == {}


@CHECKERS
def test_invalid_calls_are_rejected(typed: Path, checker: Checker) -> None:
    """Protects the purpose of the stub: each call that fails is found before it is run, and no other."""
    file = typed / "bad.py"
    bad = {
        f"{file}:{i}" for i, line in enumerate(file.read_text().splitlines(), 1) if "# bad" in line
    }
    found = checker(typed, [file])
    assert set(found) == bad, {line: found.get(line) for line in bad ^ set(found)}


@CHECKERS
def test_a_tensor_goes_from_one_library_to_another(tmp_path: Path, checker: Checker) -> None:
    """Protects stubs of a library that extends another: submodules and named results, and one class Tensor."""
    one = "- func: one::f(Tensor self) -> Tensor\n  variants: function, method\n"
    two = "- func: two::g(Tensor self, int[2] n) -> (Tensor a, Tensor b)\n  variants: function\n"
    two += "- func: two::h(Tensor self, str s) -> (Tensor a, Tensor b)\n  variants: function\n"
    (tmp_path / "one.yaml").write_text(one)
    (tmp_path / "two.yaml").write_text(f"{two}  python_module: special\n")
    tree = make_tree(aten_inputs((tmp_path / "one.yaml",)), python=True)
    base = write_tree(tree, tmp_path / "tree") / "opgen_manifest.json"
    extended = make_tree(aten_inputs((tmp_path / "two.yaml",), extends=base), python=True)
    _write_package(tree, tmp_path / "py")
    stubs = _write_package(extended, tmp_path / "py")
    user = tmp_path / "py" / "user.py"
    user.write_text(
        "import one, two\nfrom typing_extensions import assert_type\n"
        "assert_type(two.g(one.tensor(1), 2).a.f(), one.Tensor)\n"
        "assert_type(two.special.h(two.tensor(1), 's').b, two.Tensor)\n"
    )
    assert checker(tmp_path / "py", [user, *stubs]) == {}


_TORCH_USER = """\
import mylib
import torch
from typing_extensions import assert_type

a = torch.ones(2)
assert_type(mylib.mix(a, a, 0.25), torch.Tensor)
assert_type(mylib.mix(a, other=a, out=a), torch.Tensor)
assert_type(mylib.mix.default(a, a, weight=0.5), torch.Tensor)
assert_type(mylib.mix.out(self=a, other=a, out=a), torch.Tensor)
print(mylib.mix.default._schema, mylib.mix.op)
mylib.mix(a, "x")  # bad
mylib.mix.default(a, a, out=a)  # bad
mylib.mix.out(a, a)  # bad
"""


@CHECKERS
def test_operators_of_target_torch_have_overloads(tmp_path: Path, checker: Checker) -> None:
    """Protects `mylib.mix.default`: stubs say what the objects of torch.ops are."""
    pytest.importorskip("torch")
    schemas = (
        "mix(Tensor self, Tensor other, float weight=0.5) -> Tensor\n  doc: Mix.",
        "mix.out(Tensor self, Tensor other, float weight=0.5, *, Tensor(a!) out) -> Tensor(a!)",
        "mix_default(Tensor self, int self_=1) -> ()",
        "kind.Tensor(Tensor x) -> int",
        "kind.int(int x) -> int",
    )
    (tmp_path / "mylib.yaml").write_text("".join(f"- func: mylib::{s}\n" for s in schemas))
    tree = make_tree(aten_inputs((tmp_path / "mylib.yaml",), target="torch"), python=True)
    stubs = _write_package(tree, tmp_path / "py")
    user = tmp_path / "py" / "user.py"
    user.write_text(_TORCH_USER)
    lines = enumerate(_TORCH_USER.splitlines(), 1)
    assert set(checker(tmp_path / "py", [user, *stubs])) == {
        f"{user}:{i}" for i, line in lines if "# bad" in line
    }


_OPS = """\
from __future__ import annotations

import math

import mylib

__all__ = ["HALF", "Lion"]
HALF = math.sqrt(0.25)


class Lion:
    def step(self, weight: float = HALF) -> str:
        return str(mylib.mix)


def helper() -> None: ...
"""

_OPS_USER = """\
import mylib
from mylib import HALF, Lion
from typing_extensions import assert_type

assert_type(Lion().step(HALF), str)
assert_type(mylib.Lion(), Lion)
print(mylib.mix)
Lion().step("x")  # bad
mylib.helper  # bad
mylib.math  # bad
"""


@CHECKERS
@pytest.mark.parametrize("name", ["ops.py", "ops/__init__.py"])
def test_the_authors_own_names_are_known(name: str, tmp_path: Path, checker: Checker) -> None:
    """Protects `from mylib import Lion`: the stub has the names in the __all__ of ops.py, and no others."""
    file = start_package(tmp_path) / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(_OPS)
    packages = build_package(tmp_path)
    user = packages / "user.py"
    user.write_text(_OPS_USER)
    # Without torch, the checkers reject its imports in the stub.
    found = {line for line in checker(packages, [user]) if "__init__.pyi:" not in line}
    lines = enumerate(_OPS_USER.splitlines(), 1)
    assert found == {f"{user}:{i}" for i, line in lines if "# bad" in line}


@pytest.fixture(scope="module")
def pytorch(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The stubs of everything that Python can call of PyTorch's operators."""
    tree = make_tree(aten_inputs((packaged_native_functions(),), name="whole"), python=True)
    return _write_package(tree, tmp_path_factory.mktemp("whole"))


@CHECKERS
def test_stubs_of_pytorchs_file_are_accepted(pytorch: list[Path], checker: Checker) -> None:
    """Protects overloads and names in thousands of functions: no overlap, no error."""
    assert sum(file.read_text().count("def ") for file in pytorch) > 2200
    assert checker(pytorch[0].parent.parent, pytorch) == {}


def test_black_does_not_change_stubs(pytorch: list[Path]) -> None:
    """Protects repositories that commit generated files; ours does, at a line length of 100."""
    if importlib.util.find_spec("black") is None:
        pytest.skip("black is not installed")
    command = [sys.executable, "-m", "black", "--check", "-l", "88", *map(str, pytorch)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.whole_library
def test_stub_and_module_agree(tmp_path: Path) -> None:
    """Compare the stub of our own library with the built module: names, arguments, defaults.

    A slice has methods that its stub lacks: Python serves all comparisons with one slot, and both sides of a power.
    """
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    allowed = tmp_path / "allowed.txt"
    # Numbers have a slot for the matrix product, and no product. Before 3.12, Python has no name
    # for the buffer protocol.
    buffers = ["aten.Tensor.__buffer__", "aten.UntypedStorage.__buffer__"]
    allowed.write_text(
        "\n".join(
            [
                "aten.Tensor.__rmatmul__",
                "aten._C..*",
                # For mypy, what functools.cache returns takes any arguments.
                "aten.array_api.callers._written",
                *(buffers if sys.version_info < (3, 12) else []),
            ]
        )
    )
    packages = str(own_operators().packages)
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "aten", "--allowlist", str(allowed), "--concise"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": packages, "MYPYPATH": packages},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
