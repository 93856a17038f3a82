"""`opgen verify --framework`: operators are called through JAX and TVM-FFI, and their mistakes are found there."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="opgen[verify] is not installed")

from opgen.verify.api import Report, verify
from opgen.verify.runner.messages import FAILED, NOT_APPLICABLE
from opgen.verify.runner.session import VerificationError
from support.build import REPOSITORY
from support.python_package import jax_packages

pytestmark = pytest.mark.slow

EVERYWHERE = REPOSITORY / "examples" / "everywhere" / "native_functions.yaml"
FORMS = REPOSITORY / "tests" / "integration" / "run" / "jax" / "native_functions.yaml"
MODULES = {"jax": "jax", "tvm-ffi": "tvm_ffi"}
# Some of each kind that one of the frameworks has.
KEPT = (
    *("undeclared-write", "out-agrees", "meta-shape", "concurrent", "backward-gradient"),
    *("forward-gradient", "internal-error"),
)
# The mistakes of three operators, and the properties that each framework says do not apply.
WRONG = {
    "jax": {
        ("buffered", "concurrent"),
        ("doubled", "backward-gradient"),
        ("liar", "meta-shape"),
        ("liar", "internal-error"),
    },
    "tvm-ffi": {("buffered", "concurrent")},
}
LEFT_OUT = {
    "jax": {},
    "tvm-ffi": {
        "backward-gradient": "TVM-FFI computes no gradients",
        "meta-shape": "TVM-FFI calls no Meta kernel",
    },
}


def verified(framework: str, yaml: Path, package: str, **options: object) -> Report:
    pytest.importorskip(MODULES[framework])
    folders = jax_packages()
    options = {"mode": "quick", "jobs": 2, **options}
    return verify(
        yaml, load=package, target="runtime", framework=framework, folders=folders, **options  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("framework", MODULES)
def test_mistakes_are_found(framework: str) -> None:
    """Protects a wrong Meta kernel, a formula with a wrong factor and a race on a buffer from going unnoticed."""
    properties = ["backward-gradient", "concurrent", "internal-error", "meta-shape"]
    only = ["buffered", "doubled", "liar"]
    report = verified(framework, FORMS, "forms", only=only, properties=properties)
    verdicts = [(r.name.partition("::")[2], v) for r in report.operators for v in r.verdicts]
    found = {(name, v.property) for name, v in verdicts if v.status == FAILED}
    assert found == WRONG[framework], report.text
    reasons = {v.property: v.reason for _, v in verdicts if v.status == NOT_APPLICABLE}
    assert reasons.items() >= LEFT_OUT[framework].items()


@pytest.mark.parametrize("framework", MODULES)
def test_the_example_keeps_its_promises(framework: str) -> None:
    """Protects the operators of examples/everywhere, and the checks from false alarms."""
    report = verified(framework, EVERYWHERE, "everywhere", properties=KEPT)
    assert report.ok, report.text


def test_a_package_that_was_not_built_for_it(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    (tmp_path / "plain.py").write_text("class Tensor: ...\n")
    with pytest.raises(VerificationError, match="plain was not built with --frameworks jax"):
        verify(
            EVERYWHERE, load="plain", target="runtime", framework="jax", folders=[tmp_path], jobs=1
        )
