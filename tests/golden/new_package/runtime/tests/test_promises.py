"""What the schemas promise, on calls drawn from them: what is written, what aliases what, what Meta says, gradients.

`opgen verify --load mylib native_functions.yaml` prints the same; `opgen docs verify` explains it.
"""

from pathlib import Path

from opgen.verify import verify

SCHEMAS = Path(__file__).parents[1] / "native_functions.yaml"


def test_promises() -> None:
    report = verify(SCHEMAS, load="mylib", target="runtime")
    assert report.ok, report.text
