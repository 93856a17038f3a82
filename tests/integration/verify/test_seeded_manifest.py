"""The manifest of seeded defects: 121 of them, with properties that exist and operators that are defined."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy", reason="opgen[verify] is not installed")

from seeded_libraries import SEEDED, manifest, properties_of_manifest

from opgen.diagnostics import properties


def test_the_manifest_and_the_checks_name_the_same_properties() -> None:
    """Protects the score: the names were written down before the first check."""
    assert set(properties_of_manifest()) == set(properties.PROPERTIES)
    seeded = {defect.property for defect in manifest()}
    assert seeded == set(properties.PROPERTIES), "a property that no defect violates"


def test_there_are_121_defects_of_many_kinds() -> None:
    defects = manifest()
    assert len(defects) == len({defect.id for defect in defects}) == 121
    assert sum(defect.id.startswith("A") for defect in defects) == 60
    assert len({defect.kind for defect in defects}) >= 20


def test_every_defect_has_an_operator_and_a_twin() -> None:
    sources = {
        "runtime": (SEEDED / "runtime.yaml").read_text(),
        "torch": (SEEDED / "torch.yaml").read_text(),
        # hand.h defines the twin, too.
        "hand": "".join(path.read_text() for path in sorted(SEEDED.glob("hand_*.cpp"))),
    }
    for defect in manifest():
        text = sources[defect.library]
        if defect.library == "hand":
            assert f'"{defect.operator}"' in text or f'"{defect.operator}.out"' in text, defect
        else:
            twin = f"{defect.base}_ok" + "_" * defect.operator.endswith("_")
            assert f"{defect.operator}(" in text and f"{twin}(" in text, defect
