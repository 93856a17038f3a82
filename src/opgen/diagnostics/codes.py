"""The record of a diagnostic code, from which `opgen explain CODE` prints its page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct


class Example(Struct, frozen=True):
    """Contents of a file: the shortest that is reported, and the same after the fix."""

    failing: str
    fixed: str


class Code(Struct, frozen=True):
    """One diagnostic code, defined beside the check that reports it.

    `example` holds contents of `file`; it is None where no short file is reported.
    `target` is the only target that reports the code, or None if all do.
    With `of_torchgen`, the rule holds in namespace `aten`, and everywhere under --strict-torchgen. In the examples,
    names without a namespace are in `aten`.
    `facts` lists the numbers of the recorded cases of torchgen's behaviour (docs/reference/torchgen-differences.md).
    """

    code: str
    title: str
    explanation: str
    example: Example | None = None
    facts: tuple[str, ...] = ()
    file: str = "native_functions.yaml"
    target: str | None = None
    of_torchgen: bool = False

    def __str__(self) -> str:
        return self.code


def collect_codes(*groups: Iterable[Code]) -> Mapping[str, Code]:
    """Return all codes by name, sorted. Asserts that no name is defined twice."""
    records: dict[str, Code] = {}
    for record in (record for group in groups for record in group):
        assert records.setdefault(record.code, record) is record, f"{record.code} has two records"
    return dict(sorted(records.items()))
