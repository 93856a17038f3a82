"""Check that the operators do what their schemas say, with `opgen verify`: it draws calls, and checks 56 properties.

The report of a failure ends with the command that explains it. domains.yaml says more about arguments:
`opgen docs verify`.
"""

from pathlib import Path

import pytest

pytest.importorskip("opgen.verify", reason="opgen is not installed")
pytest.importorskip("hypothesis", reason="opgen[verify] is not installed")

from opgen.verify import verify

SCHEMAS = Path(__file__).parents[1] / "native_functions.yaml"


def test_promises() -> None:
    report = verify(SCHEMAS, load="mylib", target="runtime", mode="quick", jobs=1)
    assert report.ok, report.text
