"""Operators with the forms that PyTorch libraries use, and everything that PyTorch then does with them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.torch_extension import build_extension, keep_no_graphs, require_torch, run_script

HERE = Path(__file__).parent
pytestmark = pytest.mark.slow


def test_forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects operators that write, view and return arguments: values, opcheck, torch.compile, torch.export."""
    require_torch()
    keep_no_graphs(monkeypatch)
    folder = HERE / "torch_library"
    library = build_extension(folder / "forms.yaml", folder / "forms.cpp", tmp_path)
    assert run_script(folder / "forms.py", library) == "ok\n"


def test_forms_of_the_stable_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the same forms on PyTorch's stable C functions, except those that the target rejects."""
    require_torch()
    keep_no_graphs(monkeypatch)
    folder = HERE / "torch_library"
    yaml = tmp_path / "forms.yaml"
    entries = re.split(r"(?m)^(?=- func: )", (folder / "forms.yaml").read_text())
    rejected = re.compile(r"- func: (attend|softmax_into|append|words|total)\(")
    yaml.write_text("".join(entry for entry in entries if not rejected.match(entry)))
    kernels = folder / "forms_stable.cpp"
    library = build_extension(yaml, kernels, tmp_path / "tree", target="torch-stable")
    assert run_script(folder / "forms.py", library, "--stable") == "ok\n"


def test_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects rows of every kind of key, custom classes, and namespaces that share names of operators and kernels."""
    require_torch()
    keep_no_graphs(monkeypatch)
    folder = HERE / "torch_rows"
    library = build_extension(folder / "rows.yaml", folder / "rows.cpp", tmp_path, "--name", "rows")
    assert run_script(folder / "rows.py", library) == "ok\n"
