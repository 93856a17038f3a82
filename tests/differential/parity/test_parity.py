"""For every function, opgen derives every field that torchgen derives, with the same value.

The fields are those of torchgen_facts.py, which calls torchgen itself. Only white space is normalised and, for older
releases, the C++ types that torchgen spelled differently then.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from compare import differences, report
from loading import load_registry

from opgen.emit.reports.dump import dump_rows
from opgen.targets import TARGETS
from support.releases import RELEASES, facts_of, write_files

# Spellings of older releases, and those of today.
_OLD_SPELLINGS = (
    ("c10::optional", "::std::optional"),
    ("c10::nullopt", "::std::nullopt"),
    ("=MemoryFormat::Contiguous", "=c10::MemoryFormat::Contiguous"),
)


def test_installed_torch(source: Path, torchgen_facts: list[dict[str, object]]) -> None:
    """Protects the claim itself: no field of any function differs from the installed torchgen's."""
    registry = load_registry(source / "native")
    ours = dump_rows(registry, TARGETS["torch"], "signatures", None)
    found = differences(ours, torchgen_facts)
    assert not found, report(found)
    assert len(ours) == len(torchgen_facts)


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_older_releases(tmp_path: Path, release: str) -> None:
    """Protects against rules tuned to one file: types, keys and tags came and went."""
    theirs = facts_of(release)
    registry = load_registry(write_files(release, tmp_path))
    ours = dump_rows(registry, TARGETS["torch"], "signatures", None)
    found = differences(ours, theirs, _OLD_SPELLINGS)
    assert not found, report(found)
    assert len(ours) == len(theirs)
