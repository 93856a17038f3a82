"""What processes tell one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

MODES: tuple[str, ...] = ("quick", "default", "thorough")

PASSED, FAILED = "passed", "failed"
NOT_APPLICABLE, NOT_TESTED, EXCLUDED = "not applicable", "not tested", "excluded"


class Request(Struct, frozen=True, repr_omit_defaults=True):
    """What is verified: a package of target runtime, or operators that PyTorch has loaded, and how.

    `framework` is what calls the package, if it does not itself. `replayed` is a call that was pickled, and its number, as hexadecimal digits: nothing else is checked.
    """

    target: str = "torch"
    framework: str = ""
    loads: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    yaml: tuple[str, ...] = ()
    derivatives: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    mode: str = "default"
    seed: int = 0
    guard: str = ""
    replayed: str = ""


class Loaded(Struct, frozen=True):
    """What a worker has loaded: the groups of operators, the arguments of operators by their names, and unused patterns."""

    groups: Sequence[str]
    names: Mapping[str, Sequence[str]]
    unused: Sequence[str]
    has_guard: bool


class Shown(Struct, frozen=True):
    """A finding: what is wrong, the call in one line, and a program that shows it."""

    message: str
    call: str
    program: str
    shrunk: bool = False


class Verdict(Struct, frozen=True):
    """What was found for one property: `count` calls were checked."""

    property: str
    status: str
    count: int = 0
    reason: str = ""
    findings: tuple[Shown, ...] = ()


class OperatorReport(Struct):
    """What was done for one overload of an operator. `reached` is how many of its accepted calls had what.

    `seconds` is the time of the processor; 0 until the overload is done.
    """

    name: str
    group: str = ""
    verdicts: list[Verdict] = field(default_factory=list)
    drawn: int = 0
    accepted: int = 0
    plans: int = 0
    reached: dict[str, int] = field(default_factory=dict)
    takes_tensors: bool = True
    refusals: list[tuple[str, int]] = field(default_factory=list)
    narrowings: tuple[str, ...] = ()
    seconds: float = 0.0
    file: str = ""
    line: int = 0

    def verdict(self, name: str) -> Verdict | None:
        """Return the verdict for a property, or None if it was not asked for."""
        return next((v for v in self.verdicts if v.property == name), None)


class Crash(Struct, frozen=True):
    """A process that ended, or a call that did not return: in which overload and stage, and at which number.

    `call` is the last call that was made; None if that is not known.
    """

    operator: str
    stage: str
    number: int
    property: str
    kind: str
    note: str = ""
    call: dict[str, Any] | None = None
