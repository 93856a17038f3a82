"""The schemas of 33 public projects: opgen accepts those that PyTorch's parser accepts, except two."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from support.library_schemas import accepted, schemas_of_projects
from support.pytorch import torch_folder


@pytest.mark.slow
def test_rejected_schemas(tmp_path: Path) -> None:
    """Protects the figures of docs/reference/torchgen-differences.md."""
    groups = schemas_of_projects()
    kept, refused = accepted(groups, tmp_path)
    assert sum(map(len, groups.values())) == 1816
    assert list(refused.values()) == ["E0307", "E0307"]
    assert all(schema.endswith("-> None") for schema in refused)
    assert sum(map(len, kept.values())) == 1814


def test_pytorchs_parser_accepts_them() -> None:
    """Protects the committed schemas against mistakes made when names were replaced. The classes of other projects are
    not known to PyTorch.
    """
    torch_folder()
    torch: Any = importlib.import_module("torch")
    for schemas in schemas_of_projects().values():
        for schema in schemas:
            if "__torch__" not in schema:
                torch._C.parse_schema(schema)
