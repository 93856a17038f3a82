"""What is registered with PyTorch for a library's schema is what PyTorch makes of its text.

The schemas are forms of everyone's operators, in names of our own; the nightly test takes real ones, where there are
some: a JSON file of rows with `project`, `schema` and `torch` (what PyTorch's parser makes of it, or null), whose path
is in OPGEN_SCHEMAS.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from opgen.diagnostics import Diagnostics
from opgen.pipeline import Inputs
from opgen.pipeline.linting import inspect
from support.library_schemas import FORMS, group_rows, write_files
from support.torch_extension import build_extension, require_torch, run_script

HERE = Path(__file__).parent / "torch_schemas"

# Forms that PyTorch's parser takes and opgen refuses, by name: docs/torchgen-differences.md has the reasons.
REFUSED = {
    "no_value": "E0325",
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
    """Protects "paste a schema and it works": kept as written, compiled, and called with what it takes."""
    groups, refused = accepted({"forms": FORMS}, tmp_path)
    assert {schema.partition("(")[0]: code for schema, code in refused.items()} == REFUSED
    counts = register(groups, tmp_path)
    assert counts["wrong"] == []
    assert counts["schemas"] == len(FORMS) - len(REFUSED)


@pytest.mark.nightly
@pytest.mark.skipif("OPGEN_SCHEMAS" not in os.environ, reason="no file of schemas in OPGEN_SCHEMAS")
def test_real_schemas(tmp_path: Path) -> None:
    """Protects the figures of docs/torchgen-differences.md: 99.5 % are taken, and none differs."""
    rows = json.loads(Path(os.environ["OPGEN_SCHEMAS"]).read_text())
    rows = [row for row in rows if not row["schema"].startswith("aten::")]
    groups, refused = accepted(group_rows(rows), tmp_path)
    print(f"{len(rows)} schemas, refused: {refused}")
    assert len(refused) <= 0.005 * len(rows)
    counts = register(groups, tmp_path)
    print(counts)
    assert counts["wrong"] == []
    assert counts["schemas"] == len(rows) - len(refused)
    assert counts["not called"] <= 8, "classes of PyTorch's own that nothing makes"


def accepted(
    groups: Mapping[str, Sequence[str]], folder: Path
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The schemas of each namespace without those that are refused, and the code of each that is."""
    kept, refused = {}, {}
    for file in write_files(groups, folder):
        diagnostics = Diagnostics()
        inspect(Inputs((file.path,), target="torch"), diagnostics, refused=True)
        lines = file.path.read_text().splitlines()
        starts = [i for i, line in enumerate(lines, 1) if line.startswith("- func:")]
        namespace = file.path.stem
        codes: dict[int, str] = {}
        for one in diagnostics:
            if one.severity.value == "error":
                line = one.span.source.text.count("\n", 0, one.span.start) + 1
                codes.setdefault(max(i for i, at in enumerate(starts) if at <= line), one.code)
        schemas = groups[namespace]
        refused |= {schemas[i]: code for i, code in codes.items()}
        kept[namespace] = [s for i, s in enumerate(schemas) if i not in codes]
    return kept, refused


def register(groups: Mapping[str, Sequence[str]], folder: Path) -> dict[str, Any]:
    """What the script finds in the library of all."""
    require_torch()
    files = write_files(groups, folder)
    shards = str(1 + sum(map(len, groups.values())) // 300)
    # The headers of custom classes are in the folder.
    options = ("--name", "schemas", "--shards", shards, "-I", str(folder))
    library = build_extension([f.path for f in files], None, folder / "tree", *options)
    texts = folder / "schemas.json"
    texts.write_text(json.dumps({name: text for f in files for name, text in f.schemas.items()}))
    found: dict[str, Any] = json.loads(run_script(HERE / "check.py", library, texts))
    return found
