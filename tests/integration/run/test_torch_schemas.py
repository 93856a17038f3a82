"""The schemas registered with PyTorch are those that PyTorch parses from a library's text.

The quick test uses one schema of each form, the nightly one all of 33 projects.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.library_schemas import FORMS, accepted, schemas_of_projects, write_files
from support.torch_extension import build_extension, require_torch, run_script

HERE = Path(__file__).parent / "torch_schemas"

# Forms that PyTorch's parser accepts and opgen rejects, by name: docs/reference/torchgen-differences.md has
# the reasons.
REFUSED = {
    "no_value": "E0307",
    "one_tuple": "E0325",
    "complexes": "E0703",
    "inner_marks": "E0329",
    "numbers": "E0703",
    "mistyped": "E0703",
    "scalars": "E0703",
    "old_words": "E0703",
    "strings": "E0703",
    "tripled": "E0703",
}


@pytest.mark.slow
def test_forms(tmp_path: Path) -> None:
    """Protects "paste a schema and it works": kept as written, compiled, and called with matching arguments."""
    groups, refused = accepted({"forms": FORMS}, tmp_path)
    assert {schema.partition("(")[0]: code for schema, code in refused.items()} == REFUSED
    counts = register(groups, tmp_path)
    assert counts["wrong"] == []
    assert counts["schemas"] == len(FORMS) - len(REFUSED)


@pytest.mark.nightly
def test_schemas_of_projects(tmp_path: Path) -> None:
    """Protects the claim of docs/reference/torchgen-differences.md that registered schemas do not differ."""
    groups, refused = accepted(schemas_of_projects(), tmp_path)
    counts = register(groups, tmp_path)
    assert counts["wrong"] == []
    assert counts["schemas"] == 1816 - len(refused)
    assert counts["not called"] <= 8, "PyTorch's own classes of which Python cannot make objects"


def register(groups: Mapping[str, Sequence[str]], folder: Path) -> dict[str, Any]:
    """Register all schemas in one library and return the script's findings."""
    require_torch()
    files = write_files(groups, folder)
    shards = str(1 + sum(map(len, groups.values())) // 300)
    # The folder has the headers of custom classes.
    options = ("--name", "schemas", "--shards", shards, "-I", str(folder))
    library = build_extension([f.path for f in files], None, folder / "tree", *options)
    texts = folder / "schemas.json"
    texts.write_text(json.dumps({name: text for f in files for name, text in f.schemas.items()}))
    found: dict[str, Any] = json.loads(run_script(HERE / "check.py", library, texts))
    return found
