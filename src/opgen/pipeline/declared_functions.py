"""Find out whether a header declares a function that a formula calls.

Headers are not parsed: a name that one of them contains counts as declared.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from opgen.io.resources import runtime_dir
from opgen.pipeline.author_headers import Include, includes_a_macro, includes_in
from opgen.pipeline.cpp_text import find_cpp_text
from opgen.pipeline.inputs import Inputs, author_headers
from opgen.pipeline.installed import installed_include
from opgen.targets import TARGETS

# Members of the standard library's classes that formulas see: containers, optionals, strings, complex numbers.
_OF_STD = frozenset(
    (
        *("at", "back", "begin", "data", "emplace_back", "empty", "end", "front", "push_back"),
        *("has_value", "reserve", "resize", "size", "substr", "value", "value_or", "real", "imag"),
        # opgen replaces it by a function.
        "sym_blocksize",
        # Of class Scalar, whose members are declared by macros.
        *("toBool", "toComplexDouble", "toComplexFloat", "toDouble", "toFloat", "toInt", "toLong"),
    )
)
_COMMENT = re.compile(r"//[^\n]*")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
# The folders of PyTorch's headers whose functions formulas may call.
_OF_PYTORCH = ("ATen", "ATen/core", "c10/core", "c10/util", "torch/csrc/autograd")


class DeclaredFunctions:
    """Looks for functions in the headers of the target, and in those that the author includes.

    If a header is not found, every function may be declared there.
    """

    def __init__(self, inputs: Inputs, includes: Sequence[str]) -> None:
        self._inputs = inputs
        self._names = self._of_author(includes)
        self._knows_all = self._names is not None and inputs.extends is None

    def __contains__(self, name: str) -> bool:
        if not self._knows_all or self._names is None or name in self._names:
            return True
        if TARGETS[self._inputs.target].installed is None:
            return name in _words_reached(runtime_dir() / "include", "opgen/autograd/derived.h")
        installed = installed_include(self._inputs.target)
        if installed is None or (installed / "ATen" / "ops" / f"{name}.h").is_file():
            return True
        own = _words_below(runtime_dir() / "torch" / "include")
        return name in own or any(name in _words_in(installed / f) for f in _OF_PYTORCH)

    def needs_symint(self, name: str) -> bool:
        """Return whether PyTorch's function or method takes symbolic sizes only with the suffix `_symint`."""
        installed = installed_include(self._inputs.target)
        if installed is None or name in (self._names or ()):
            return False
        paths = (f"ATen/ops/{name}.h", "ATen/core/TensorBody.h")
        return f"{name}_symint" in _words_in_files(installed, paths)

    def members(self) -> frozenset[str] | None:
        """Return the names of members that formulas may call, and others; None if a class may have any."""
        if not self._knows_all or self._names is None:
            return None
        target = TARGETS[self._inputs.target]
        folder = (
            runtime_dir() / "include"
            if target.installed is None
            else installed_include(target.name)
        )
        if folder is None:
            return None
        return self._names | _OF_STD | _words_in_files(folder, target.plan.formula_headers)

    def _of_author(self, includes: Sequence[str]) -> frozenset[str] | None:
        """Return the names in the author's headers; None if one is not found."""
        found = author_headers(self._inputs, includes)
        if any(includes_a_macro(header.text) for header in found):
            return None
        there = {header.written for header in found}
        named = [Include(text.strip('"<>'), text[0] == '"') for text in includes]
        named += [include for header in found for include in includes_in(header.text)]
        for include in named:
            name = include.name
            is_found = f'"{name}"' in there or f"<{name}>" in there
            is_plain = not include.quoted and "/" not in name and "." not in name
            if not is_found and not is_plain and not self._is_known(name):
                return None
        return frozenset(word for header in found for word in _CALLED.findall(header.text))

    def _is_known(self, header: str) -> bool:
        """Return whether a header is one of the target's."""
        installed = installed_include(self._inputs.target)
        tops = [runtime_dir() / "include", runtime_dir() / "torch" / "include"]
        return any((top / header).is_file() for top in (*tops, *filter(None, [installed])))


def aten_operators() -> frozenset[str]:
    """Return the names of PyTorch's operators; none if it is not installed."""
    installed = installed_include("torch")
    headers = () if installed is None else (installed / "ATen" / "ops").glob("*.h")
    return frozenset(path.stem for path in headers)


@cache
def _words_below(top: Path) -> frozenset[str]:
    return frozenset(word for path in top.rglob("*.h") for word in _words(path))


@cache
def _words_reached(top: Path, header: str) -> frozenset[str]:
    """Return the words of a header and of those below `top` that it includes."""
    texts: dict[str, str] = {}
    pending = [header]
    while pending:
        name = pending.pop()
        if name not in texts:
            texts[name] = find_cpp_text(top / name) or ""
            pending += [include.name for include in includes_in(texts[name])]
    plain = (_COMMENT.sub("", text) for text in texts.values())
    return frozenset(word for text in plain for word in _CALLED.findall(text))


@cache
def _words_in(folder: Path) -> frozenset[str]:
    paths = (entry.path for entry in os.scandir(folder)) if folder.is_dir() else ()
    return frozenset(w for path in paths if path.endswith(".h") for w in _words(Path(path)))


@cache
def _words_in_files(folder: Path, names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for name in names for word in _words(folder / name))


def _words(path: Path) -> Iterator[str]:
    yield from _CALLED.findall(find_cpp_text(path) or "")
