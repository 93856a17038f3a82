"""What a property is: a name, an explanation, what it needs, and a function from an operator and a call to findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from opgen.verify.calls.specs import Call
from opgen.verify.codes import NAMES
from opgen.verify.subjects import Subject

if TYPE_CHECKING:
    from opgen.verify.lab import Trial


class Run(Struct, frozen=True):
    """One call of a program that shows a finding. `lines` replace the call where it is more than a call."""

    label: str
    call: Call
    lines: tuple[str, ...] = ()


class Finding(Struct, frozen=True):
    """A violated property: what is wrong, and the calls that show it."""

    message: str
    runs: tuple[Run, ...] = ()


class NotApplicable(Exception):
    """The property says nothing about this operator, or this call."""


class NotTested(Exception):
    """The property could not be tested with this call."""


Check = Callable[["Trial"], Iterator[Finding]]


class Property(Struct, frozen=True):
    """One property of operators.

    `needs` returns why the property says nothing about an operator, or "". `check` yields findings for one call; it throws
    NotApplicable or NotTested. After `enough` calls (`quickly` of them with --quick) that were checked, the property holds;
    `mode` is the first mode that checks it: "quick", "default" or "thorough". `kinds` are the backends that it is about.
    With `is_ordered`, the check compares results that were computed in different orders of elements.
    `imports` are modules that PyTorch imports when the check first calls it.
    A check takes about `cost` times as long as most: its findings are shrunk with fewer calls.
    `refused` is "only" for a property of refused calls, "also" for one of all calls.
    """

    code: str
    check: Check
    needs: Callable[[Subject], str] = lambda subject: ""
    quickly: int = 3
    enough: int = 8
    mode: str = "quick"
    kinds: tuple[str, ...] = ("torch", "runtime")
    refused: str = ""
    cost: int = 1
    is_ordered: bool = False
    imports: tuple[str, ...] = ()
    # Which calls the property is about; of an operator that accepts no such call it says nothing.
    about: Callable[[Call], bool] = lambda call: True

    @property
    def name(self) -> str:
        """The name on the command line and in reports: "out-agrees"."""
        return NAMES[self.code]


def always(subject: Subject) -> str:
    return ""


def describe_value(value: Any) -> str:
    """Return a short text for a value that is no tensor."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
