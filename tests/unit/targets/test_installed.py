"""Whether the PyTorch that libraries are compiled against is there, and new enough: with one that is made up."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics, render_human
from opgen.pipeline import check_world
from opgen.resources import cmake_dir
from opgen.targets.installed import report_world
from opgen.targets.torch import TORCH
from support.inputs import aten_inputs


def fake(folder: Path, version: str | None) -> None:
    """A torch in `folder`: a package, and what pip says of it."""
    (folder / "torch").mkdir(parents=True)
    (folder / "torch" / "__init__.py").write_text("raise AssertionError('imported')\n")
    if version is not None:
        info = folder / f"torch-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")


def report(monkeypatch: pytest.MonkeyPatch, folder: Path) -> str:
    """What is said where the packages of `folder` are the only ones."""
    assert TORCH.world is not None
    monkeypatch.setattr(sys, "path", [str(folder)])
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    diagnostics = Diagnostics()
    report_world(TORCH.world, "/usr/bin/python", diagnostics)
    return render_human(diagnostics)


def test_none_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said = report(monkeypatch, tmp_path)
    assert "error[E0916]: torch is not installed for /usr/bin/python\n" in said
    assert "help: /usr/bin/python -m pip install 'torch>=2.9'" in said


@pytest.mark.parametrize(
    ("version", "code", "words"),
    [
        ("2.8.0", "E0916", "torch 2.8.0 is too old: opgen needs 2.9 or newer"),
        ("1.13.0+cu117", "E0916", "torch 1.13.0+cu117 is too old"),
        ("2.16.0.dev20270801", "W0917", "newer than 2.15, the last that opgen was tried with"),
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
    """Protects the range that is promised; without a word of pip's, CMake looks at the release."""
    fake(tmp_path, version)
    said = report(monkeypatch, tmp_path)
    assert words in said and (f"[{code}]" in said if code else not said)


def test_one_that_is_named_is_cmakes_to_look_at(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "torch", raising=False)  # another test may have imported it
    for variable, errors in (("", 1), ("/elsewhere/share/cmake/Torch", 0)):
        monkeypatch.setenv("Torch_DIR", variable)
        diagnostics = Diagnostics()
        check_world(aten_inputs((), target="torch"), diagnostics)
        check_world(aten_inputs(()), diagnostics)
        assert diagnostics.error_count == errors


def test_cmake_promises_the_same() -> None:
    assert TORCH.world is not None
    text = (cmake_dir() / "opgen_torchConfig.cmake").read_text()
    said = dict(re.findall(r"set\(opgen_torch_(oldest|newest) ([0-9.]+)\)", text))
    world = {"oldest": TORCH.world.oldest, "newest": TORCH.world.newest}
    assert said == {name: ".".join(map(str, release)) for name, release in world.items()}
