"""The outcome of a call in the table: its result, what it did to its tensors, or the exception that it raised."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

TABLE = Path(__file__).parent / "call_table.txt"
DIFFERENCES = Path(__file__).parent / "call_differences.txt"

# The tensors that every call may use; the head of the table describes them.
_TENSORS: Mapping[str, tuple[object, str]] = {
    "a": ([1, 2, 3], "float32"),
    "b": ([[1, 2, 3], [4, 5, 6]], "float32"),
    "d": ([1, 2, 3], "float64"),
    "i": ([1, 2, 3], "int64"),
    "h": ([1, 2, 3], "int32"),
    "u": ([1, 2, 3], "uint8"),
    "t": ([True, False, True], "bool"),
    "z": ([1 + 1j, 2, -3j], "complex64"),
    "x": (np.arange(16).reshape(1, 1, 4, 4).tolist(), "float32"),
    "e": ([], "float32"),
    "s": (2.5, "float32"),
    "n": (2, "int64"),
    "k": (True, "bool"),
    "o": ([0, 0, 0], "float32"),
    "p": ([0, 0, 0], "float32"),
    "r": ([0, 0, 0], "int64"),
}
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Call:
    """One line of the table."""

    group: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """`refused` is the name of the exception's class. Two outcomes are equal if users cannot tell them apart, except
    by the message of an exception and the last bits of floats.
    """

    refused: str | None
    message: str
    value: object
    written: object

    def same(self, other: Outcome) -> bool:
        if self.refused or other.refused:
            return self.refused == other.refused
        return _same(self.value, other.value) and _same(self.written, other.written)

    def __str__(self) -> str:
        if self.refused:
            return f"{self.refused}: {self.message}"
        return f"{self.value}" + (f", {self.written}" if self.written else "")


def read_calls(file: Path) -> Iterator[Call]:
    """Read the calls of a file in the form of the table; `group` is the last line before a call that begins with ==."""
    group = ""
    for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if text.startswith("== "):
            group = text[3:]
        elif text and not text.startswith("#"):
            yield Call(group, number, text)


class Caller:
    """Makes calls of one module; `submodules` maps the table's names for its submodules to their names in the module."""

    def __init__(self, module: ModuleType, submodules: Mapping[str, object]) -> None:
        self._module = module
        self._facade = _Facade(module, submodules)
        self._dtypes = {str(getattr(module, name)).removeprefix("torch."): name for name in _DTYPES}

    def outcome(self, call: Call) -> Outcome:
        """Make a call and return its outcome; print nothing."""
        tensors = {
            name: self._module.tensor(data, dtype=getattr(self._module, dtype))
            for name, (data, dtype) in _TENSORS.items()
        }
        before = {name: self._described(tensor, {}) for name, tensor in tensors.items()}
        names = {"m": self._facade, "np": np, **tensors}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                value = self._evaluated(call.text, names)
            except Exception as refused:
                return Outcome(type(refused).__name__, str(refused), None, None)
        owners = {id(tensor): name for name, tensor in tensors.items()}
        written = {
            name: now
            for name, tensor in tensors.items()
            if not _same(now := self._described(tensor, {}), before[name])
        }
        return Outcome(None, "", self._described(value, owners), written)

    def _evaluated(self, text: str, names: dict[str, object]) -> object:
        """Run a statement with exec(); the value is that of the name that it may have bound."""
        if not text.startswith("exec("):
            return eval(text, names)
        statement = eval(text.removeprefix("exec"))
        exec(statement, names)
        return names[re.split(r"\W", statement.removeprefix("del "))[0]]

    def _described(self, value: object, owners: Mapping[int, str]) -> object:
        """Describe `value` without mentioning its module: by name if it is one of the call's own tensors."""
        if id(value) in owners:
            return owners[id(value)]
        match value:
            case self._module.Tensor():
                return self._tensor(value)
            case self._module.dtype():
                return ("dtype", self._dtypes[str(value).removeprefix("torch.")])
            case self._module.device():
                return ("device", str(value))
            case np.ndarray():
                return ("array", str(value.dtype), value.shape, value.tolist())
            case np.generic():
                return ("NumPy's", str(value.dtype), value.item())
            case tuple() | list():
                items = [self._described(item, owners) for item in value]
                return (_container(value), *items)
            case bool() | int() | float() | complex() | str() | None:
                return value
            case _:
                return _ADDRESS.sub("", str(type(value).__name__))

    def _tensor(self, tensor: Any) -> object:
        dtype = str(tensor.dtype).removeprefix("torch.")
        elements = [] if str(tensor.device) == "meta" else tensor.tolist()
        return (
            "tensor",
            self._dtypes[dtype],
            tuple(tensor.shape),
            tuple(tensor.stride()),
            elements,
        )


_DTYPES = (
    *(
        "bool",
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
    ),
    *("complex64", "complex128"),
)


class _Facade:
    """A module of which some submodules are replaced."""

    def __init__(self, module: ModuleType, submodules: Mapping[str, object]) -> None:
        self._found: Callable[[str], object] = lambda name: (
            submodules[name] if name in submodules else getattr(module, name)
        )

    def __getattr__(self, name: str) -> object:
        return self._found(name)


def of_torch(torch: ModuleType) -> Caller:
    """Return a caller of PyTorch, whose submodules are replaced by those with the functions made from schemas."""
    c: Any = torch
    names = {"nn": c._C._nn, "special": c._C._special, "linalg": c._C._linalg}
    return Caller(torch, names)


def of_ours(module: ModuleType) -> Caller:
    return Caller(module, {})


def _container(value: object) -> str:
    """Describe a tuple with named items as such; torch.Size counts as a tuple."""
    fields = getattr(value, "_fields", None) or getattr(type(value), "__match_args__", None)
    if fields:
        return f"named {' '.join(fields)}"
    return "list" if isinstance(value, list) else "tuple"


def _same(a: object, b: object) -> bool:
    match a, b:
        case (tuple(), tuple()) | (list(), list()):
            return len(a) == len(b) and all(map(_same, a, b))
        case dict(), dict():
            return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
        case (float(), float()) | (complex(), complex()):
            return bool(np.isclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True))
        case _:
            return type(a) is type(b) and a == b
