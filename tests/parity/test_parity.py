"""Every field that torchgen derives, for every function: opgen derives the same.

The fields are those of torchgen_facts.py, which asks torchgen itself. Only blanks are normalised, and
for older versions the spellings that torchgen had then.
"""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from compare import differences, report
from loading import load_registry

from opgen.targets import TARGETS
from opgen.views.dump import dump_rows

# What torchgen wrote in older versions, and what it writes for the same since.
_OLD_SPELLINGS = (
    ("c10::optional", "::std::optional"),
    ("c10::nullopt", "::std::nullopt"),
    ("=MemoryFormat::Contiguous", "=c10::MemoryFormat::Contiguous"),
)

# More folders `pytorch-<version>` of OPGEN_CORPORA are compared as well.
_FOUND = sorted(Path(os.environ.get("OPGEN_CORPORA", "/nowhere")).glob("pytorch-*"))
_VERSIONS = dict.fromkeys(
    ("2.0.1", "2.4.1", "2.8.0", *(found.name.removeprefix("pytorch-") for found in _FOUND))
)


def test_installed_torch(packaged: Path, torchgen_facts: list[dict[str, object]]) -> None:
    """Protects the claim itself: no field of any function differs from the installed torchgen's."""
    registry = load_registry(packaged / "native")
    ours = dump_rows(registry, TARGETS["torch"], "signatures", None)
    found = differences(ours, torchgen_facts)
    assert not found, report(found)
    assert len(ours) == len(torchgen_facts)


@pytest.mark.parametrize("version", _VERSIONS)
def test_older_versions(corpora: Path, version: str) -> None:
    """Protects against rules tuned to one file: types, keys and tags came and went."""
    folder = corpora / f"pytorch-{version}"
    with gzip.open(folder / "facts.json.gz", "rt", encoding="utf-8") as facts:
        theirs = json.load(facts)
    ours = dump_rows(load_registry(folder), TARGETS["torch"], "signatures", None)
    found = differences(ours, theirs, _OLD_SPELLINGS)
    assert not found, report(found)
    assert len(ours) == len(theirs)
