"""What a target fills into the Python signatures of its operators, and into stubs of their calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from opgen.dataclasses import dataclass
from opgen.model.types import BaseTy, Type


@dataclass(frozen=True, slots=True)
class PythonSpelling:
    """`string`, `array` and `optional_tensors` are what the argument parser calls a str, a list of bool
    with a size, and `Tensor?[]`. `return_types` is the module of the named tuples that are returned;
    `stub_defaults` holds the C++ defaults that a stub writes otherwise. `taken` and `returned` annotate
    an argument and a return; both raise NoPythonSignature. `people_say` holds the words of annotations that people are
    told otherwise. `declare` lays out a function of a stub: its name, arguments and what it returns.
    """

    string: str
    array: str
    optional_tensors: str
    return_types: str
    stub_defaults: tuple[tuple[str, str], ...]
    taken: Callable[[Type], str]
    returned: Callable[[Type], str]
    people_say: Mapping[str, str]
    declare: Callable[[str, Sequence[str], str], str]


@dataclass(frozen=True, slots=True)
class CallWords:
    """What the types of a schema are called by type checkers, where operators are functions of a world's
    own Python: `taken` of arguments, `returned` of results that differ. `imports` are those of Python and others, by
    the words that need them, which begin with an underscore: operators may have names like int.
    """

    taken: Mapping[BaseTy, str]
    returned: Mapping[BaseTy, str]
    imports: tuple[Mapping[str, str], ...]
