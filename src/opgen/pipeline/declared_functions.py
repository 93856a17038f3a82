"""Find out whether a header declares a function that a formula calls.

Headers are not parsed: a name that one of them contains counts as declared.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from opgen.io.resources import runtime_dir
from opgen.pipeline.author_headers import Include, follow_includes
from opgen.pipeline.inputs import Inputs, derivatives_paths
from opgen.pipeline.installed import installed_include
from opgen.pipeline.reading import find_cpp_text
from opgen.targets import TARGETS

_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
# The folders of PyTorch's headers whose functions formulas may call.
_OF_PYTORCH = ("ATen", "ATen/core", "c10/core", "c10/util", "torch/csrc/autograd")


class DeclaredFunctions:
    """Looks for functions in the headers of the target, and in those that the author includes.

    `folders` are those of the author's headers, besides those of the files. If a header is not found, every function may
    be declared there.
    """

    def __init__(
        self, inputs: Inputs, includes: Sequence[str], folders: Sequence[Path] = ()
    ) -> None:
        beside = (path.parent for path in (*derivatives_paths(inputs), *inputs.yaml))
        self._folders = tuple(dict.fromkeys((*beside, *folders)))
        self._target = inputs.target
        self._names = self._of_author(includes)
        self._knows_all = self._names is not None and inputs.extends is None

    def __contains__(self, name: str) -> bool:
        if not self._knows_all or self._names is None or name in self._names:
            return True
        if TARGETS[self._target].installed is None:
            return name in _words_below(runtime_dir() / "include")
        installed = installed_include(self._target)
        if installed is None or (installed / "ATen" / "ops" / f"{name}.h").is_file():
            return True
        own = _words_below(runtime_dir() / "torch" / "include")
        return name in own or any(name in _words_in(installed / f) for f in _OF_PYTORCH)

    def _of_author(self, includes: Iterable[str]) -> frozenset[str] | None:
        """Return the names in the author's headers; None if one is not found."""
        start = [Include(text.strip('"<>'), text[0] == '"') for text in includes]
        found = follow_includes("", None, self._folders, start=start)
        for other in found.others:
            is_file = other.quoted or "/" in other.name or "." in other.name
            if is_file and not self._is_known(other.name):
                return None
        if not found.is_whole:
            return None
        return frozenset(name for text in found.texts for name in _CALLED.findall(text))

    def _is_known(self, header: str) -> bool:
        """Return whether a header is one of the target's."""
        installed = installed_include(self._target)
        tops = [runtime_dir() / "include", runtime_dir() / "torch" / "include"]
        return any((top / header).is_file() for top in (*tops, *filter(None, [installed])))


@cache
def _words_below(top: Path) -> frozenset[str]:
    return frozenset(word for path in top.rglob("*.h") for word in _words(path))


@cache
def _words_in(folder: Path) -> frozenset[str]:
    paths = (entry.path for entry in os.scandir(folder)) if folder.is_dir() else ()
    return frozenset(w for path in paths if path.endswith(".h") for w in _words(Path(path)))


def _words(path: Path) -> Iterator[str]:
    yield from _CALLED.findall(find_cpp_text(path) or "")
