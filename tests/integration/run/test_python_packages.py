"""Several Python packages in one process: ours, out-of-tree ones that extend it, and those of strangers."""

from __future__ import annotations

import itertools
import shutil
import sys
from pathlib import Path

import pytest

from opgen.io.manifest import MANIFEST
from support.build import (
    DEBUG,
    cmake_build,
    environment,
    jobs,
    launcher,
    project_definitions,
    require_headers,
    run,
    tool,
)
from support.library import WHOLE, own_operators
from support.python_package import run_python

pytestmark = list(WHOLE)

HERE = Path(__file__).parent / "packages"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """The folders from which `aten`, `more` and `extra` are imported; the last two were made by `opgen build`."""
    require_headers()
    folder = tmp_path_factory.mktemp("packages")
    own = own_operators()
    extends = ["--extends", own.tree / MANIFEST]
    return (own.packages, *(build(folder, name, *extends) for name in ("more", "extra")))


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder from which `second` is imported, whose author does not know `aten`."""
    return build(tmp_path_factory.mktemp("second"), "second")


def build(folder: Path, name: str, *options: str | Path) -> Path:
    """Return the folder from which a package that `opgen build` makes is imported."""
    variables = dict(environment())
    if launcher():
        variables["CMAKE_CXX_COMPILER_LAUNCHER"] = launcher()[0]
    command = [tool("opgen"), "build", HERE / f"{name}.yaml", "--kernels", HERE / f"{name}.cpp"]
    command += ["-o", folder / name, *options, "--name", name, "--python", "-j", str(jobs())]
    run(command, env=variables)
    return folder / name / "cmake-build" / "python"


def test_a_package_out_of_tree_uses_the_tensors_of_ours(folders: tuple[Path, ...]) -> None:
    """Protects the shared class Tensor: each package accepts and returns the tensors of the others, under the same
    class name.
    """
    run_python(
        """
        import aten, more
        a = aten.tensor([1.0, 2.0])
        assert more.Tensor is aten.Tensor and more.float32 is aten.float32
        assert more.doubled(a).tolist() == [2, 4] and more.doubled(a, times=3).tolist() == [8, 16]
        assert type(more.doubled(a)) is aten.Tensor
        assert aten.add(more.doubled(a), a).tolist() == [3, 6]
        found = more.special.special_doubled(a)
        assert found.first is a and found.second.tolist() == [2, 4]
        assert type(found).__module__.startswith("more")
        assert more.tensor([1.0]).add(a).tolist() == [2, 3]
        """,
        *folders,
    )


def test_a_method_out_of_tree_is_a_function(folders: tuple[Path, ...]) -> None:
    """Protects our methods: another package neither adds methods to class Tensor nor removes any."""
    run_python(
        """
        import aten
        before = set(dir(aten.Tensor))
        a = aten.tensor([4.0])
        import more, extra
        assert set(dir(aten.Tensor)) == before
        assert more.add(a, a).item() == 0 and a.add(a).item() == 8 and aten.add(a, a).item() == 8
        assert extra.halved_(a) is a and a.item() == 2
        assert (a + a).item() == 4
        """,
        *folders,
    )


@pytest.mark.parametrize(
    "order", [*itertools.permutations(["aten", "more", "extra"])], ids=" ".join
)
def test_any_order_of_imports(folders: tuple[Path, ...], order: tuple[str, ...]) -> None:
    """Protects loading and the end of the process: a package loads the one that it extends, and the process ends
    without messages, with tensors of all packages still alive.
    """
    run_python(
        f"""
        import importlib
        kept = []
        for name in {order!r}:
            package = importlib.import_module(name)
            kept.append((package.tensor([3.0]), package))
        import aten, more, extra
        for tensor, _ in kept:
            assert extra.halved_(more.doubled(tensor.add(1))).item() == 4
        aten.kept, more.kept, extra.kept = kept  # not freed before the modules are
        """,
        *folders,
    )


def test_one_alone_has_the_operators_of_the_base(folders: tuple[Path, ...]) -> None:
    run_python(
        """
        import more, sys
        assert "aten" in sys.modules
        a = more.tensor([[1.0, 2.0], [3.0, 4.0]])
        assert (a @ a).tolist() == [[7, 10], [15, 22]] and a.sum().item() == 10
        """,
        *folders,
    )


def test_an_operator_that_cannot_be_called_raises(folders: tuple[Path, ...]) -> None:
    """Protects errors across packages: they name the package's own function and operator."""
    run_python(
        """
        import aten, more
        for call, kind, text in [
            (lambda: more.doubled("x"), TypeError, "doubled(str) does not match any signature:"),
            (lambda: more.doubled(aten.zeros(2, device="meta")), NotImplementedError, "more::doubled"),
        ]:
            try:
                call()
            except kind as error:
                assert text in str(error), str(error)
            else:
                raise AssertionError(text)
        """,
        *folders,
    )


@pytest.mark.parametrize("order", [("aten", "second"), ("second", "aten")], ids=" ".join)
def test_a_strangers_package_shares_the_process(
    folders: tuple[Path, ...], second: Path, order: tuple[str, ...]
) -> None:
    """Protects packages whose authors do not know each other: one class Tensor, with the methods of both; a method that
    both have is an error, whatever the order of imports.
    """
    run_python(
        f"""
        import copy, importlib, pickle
        for name in {order!r}:
            importlib.import_module(name)
        import aten, second
        assert second.Tensor is aten.Tensor and isinstance(second.tensor([1.0]), aten.Tensor)
        a = aten.tensor([1.0, 2.0], requires_grad=True)
        b = second.thrice(a * 2)
        assert b.tolist() == [6, 12] and b[1].item() == 12 and b.thrice().add(1).tolist() == [19, 37]
        assert second.thrice(b) is not b and aten.add(b, b).thrice().tolist() == [36, 72]
        assert copy.copy(b).tolist() == pickle.loads(pickle.dumps(b.detach())).tolist() == [6, 12]
        with second.no_grad():
            assert not (a * 2).requires_grad
        assert "tensor([6.0, 12.0]" in repr(b), repr(b)
        for call in (lambda: a.sub(a), lambda: a - a):
            try:
                call()
            except TypeError as error:
                assert "have a method Tensor.sub" in str(error), str(error)
                assert "aten" in str(error) and "second" in str(error)
            else:
                raise AssertionError("a method of two packages")
        """,
        *folders,
        second,
    )


def test_a_package_with_an_operator_of_another_is_an_import_error(
    folders: tuple[Path, ...], tmp_path: Path
) -> None:
    """Protects the first package: nothing of the second is registered, and the error names both."""
    twice = build(tmp_path, "clash")
    for first, late in [("aten", "clash"), ("clash", "aten")]:
        run_python(
            f"""
            import os
            import {first}
            told = os.dup(2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # a program in C++ has no other report
            try:
                import {late}
            except ImportError as error:
                text = "library {late} is not registered: aten::relu is defined twice: by {first} and by {late}"
                assert text in str(error), str(error)
            else:
                raise AssertionError("two libraries with one operator")
            os.dup2(told, 2)
            assert {first}.relu({first}.tensor([-1.0])).item() == {0 if first == "aten" else 7}
            """,
            *folders,
            twice,
        )


def test_packages_of_one_cmake_project_installed_side_by_side(tmp_path: Path) -> None:
    """Protects EXTENDS with PYTHON in CMake, and libraries that find those of the package next to them."""
    require_headers()
    built, installed = tmp_path / "built", tmp_path / "installed"
    python = f"-DPython_EXECUTABLE={sys.executable}"
    cmake_build(
        HERE.parent / "two_packages",
        built,
        *DEBUG,
        python,
        *project_definitions(),
    )
    run([tool("cmake"), "--install", built, "--prefix", installed])
    shutil.rmtree(built)
    assert {path.name for path in (installed / "remix").glob("lib*")} == {"libremix.so"}
    run_python(
        """
        import remix, mixops
        a, b = remix.tensor([0.0]), mixops.tensor([8.0])
        assert remix.remix(a, b).tolist() == [5] and mixops.mix(a, b).item() == 4
        """,
        installed,
    )
