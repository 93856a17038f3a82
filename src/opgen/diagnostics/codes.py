"""What is known about each diagnostic code: the text that `opgen explain CODE` prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from opgen.dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """The record of one code. It stands beside the check that reports it.

    `failing` and `mended` are texts of `file`: the least that is reported, and the same put right.
    `target` names the only target that reports it, if not all do. One `of_torchgen` is reported where torchgen's rules
    hold: in namespace `aten`, and under --strict-torchgen. In the texts, names without a namespace are in `aten`.
    `facts` lists the numbers under which torchgen's behaviour in the same case is recorded.
    """

    code: str
    title: str
    explanation: str
    failing: str
    mended: str
    facts: tuple[str, ...] = ()
    file: str = "native_functions.yaml"
    target: str | None = None
    of_torchgen: bool = False

    def __str__(self) -> str:
        return self.code


def collect_codes(*groups: Iterable[Code]) -> Mapping[str, Code]:
    """All records by code, sorted. Two records of one code are a bug."""
    records: dict[str, Code] = {}
    for record in (record for group in groups for record in group):
        assert records.setdefault(record.code, record) is record, f"{record.code} has two records"
    return dict(sorted(records.items()))
