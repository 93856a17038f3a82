"""The check that PyTorch is installed and new enough to compile against, with a made-up PyTorch."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from opgen.data import cmake_dir
from opgen.diagnostics import Diagnostics
from opgen.diagnostics.rendering import render_human
from opgen.pipeline.building import check_required_package
from opgen.targets.base import report_required_package
from opgen.targets.torch import TORCH
from support.inputs import aten_inputs


def fake(folder: Path, version: str | None) -> None:
    """Make a torch in `folder`: a package, and pip's metadata about it."""
    (folder / "torch").mkdir(parents=True)
    (folder / "torch" / "__init__.py").write_text("raise AssertionError('imported')\n")
    if version is not None:
        info = folder / f"torch-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")


def report(monkeypatch: pytest.MonkeyPatch, folder: Path) -> str:
    """Return what is reported if the packages of `folder` are the only ones."""
    assert TORCH.required_package is not None
    monkeypatch.setattr(sys, "path", [str(folder)])
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    diagnostics = Diagnostics()
    report_required_package(TORCH.required_package, "/usr/bin/python", diagnostics)
    return render_human(diagnostics)


def test_no_torch_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    output = report(monkeypatch, tmp_path)
    assert "error[E0916]: torch is not installed for /usr/bin/python\n" in output
    assert "help: /usr/bin/python -m pip install 'torch>=2.9'" in output


@pytest.mark.parametrize(
    ("version", "code", "words"),
    [
        ("2.8.0", "E0916", "torch 2.8.0 is too old: opgen needs 2.9 or newer"),
        ("1.13.0+cu117", "E0916", "torch 1.13.0+cu117 is too old"),
        (
            "2.16.0.dev20270801",
            "W0917",
            "newer than 2.15, the newest release that opgen was tested with",
        ),
        ("2.13.0+cpu", None, ""),
        ("2.9.1", None, ""),
        ("2.15.1", None, ""),
        (None, None, ""),
    ],
)
def test_releases(
    version: str | None,
    code: str | None,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Protects the supported range; without pip's metadata, CMake checks the release."""
    fake(tmp_path, version)
    output = report(monkeypatch, tmp_path)
    assert words in output and (f"[{code}]" in output if code else not output)


def test_cmake_checks_a_torch_that_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "torch", raising=False)  # Another test may have imported it.
    for variable, errors in (("", 1), ("/elsewhere/share/cmake/Torch", 0)):
        monkeypatch.setenv("Torch_DIR", variable)
        diagnostics = Diagnostics()
        check_required_package(aten_inputs((), target="torch"), diagnostics)
        check_required_package(aten_inputs(()), diagnostics)
        assert diagnostics.error_count == errors


def test_cmake_promises_the_same() -> None:
    assert TORCH.required_package is not None
    text = (cmake_dir() / "opgen_torchConfig.cmake").read_text()
    output = dict(re.findall(r"set\(opgen_torch_(oldest|newest) ([0-9.]+)\)", text))
    world = {"oldest": TORCH.required_package.oldest, "newest": TORCH.required_package.newest}
    assert output == {name: ".".join(map(str, release)) for name, release in world.items()}
