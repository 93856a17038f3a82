"""FileViews into text, by templates that are compiled once and kept."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import marshal
import os
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import CodeType, MappingProxyType
from typing import Any, TypeAlias

from opgen.dataclasses import dataclass
from opgen.files import replace_file, state_of
from opgen.views.base import FileView

# What a template is compiled to (`compiling.py`): it writes texts, and asks for the templates that it includes.
_Function: TypeAlias = Callable[[FileView, Callable[[str], None], Any], None]

# Where a text made by marked templates has the text of an item begin and end.
ITEM_BEGINS, ITEM_ENDS = "\x02", "\x03"
_ITEM_COMMENT = re.compile(r"[ \t]*\{# (item|end) #\}\n")
_ITEM_MARKS = MappingProxyType({"item": ITEM_BEGINS, "end": ITEM_ENDS})


class Renderer:
    """Renders the templates under one directory or several: the first that has one counts.

    A template receives one name, `file`, the FileView it is rendered for. A name or a field that is missing is an error
    (`jinja2.UndefinedError` where it is compiled, AttributeError where it is rendered), never an empty string: it is
    a bug here.

    Templates of files that all operators share say by comments, `{# item #}` and `{# end #}`, what is of one
    operator alone. With `marked` these become marks in the texts, which `items_of` takes out again.
    """

    def __init__(self, *templates: Path, marked: bool = False) -> None:
        self._folders = templates
        self._marked = marked
        self._made_by = _made_by()
        self._functions: dict[str, _Function] = {}

    def render(self, view: FileView) -> str:
        """The text of the file that `view` describes."""
        texts: list[str] = []
        self._function(view.template)(view, texts.append, self._function)
        return "".join(texts)

    def render_all(self, views: Iterable[FileView]) -> dict[str, str]:
        """Path to text for every view; two views of one path are a bug.

        Raises AssertionError when a path is made twice: E0713 reports it to users earlier.
        """
        texts: dict[str, str] = {}
        for view in views:
            assert view.path not in texts, f"{view.path} is made by two views"
            texts[view.path] = self.render(view)
        return texts

    def _function(self, template: str) -> _Function:
        """Raises FileNotFoundError if no directory has the template."""
        found = self._functions.get(template)
        if found is None:
            paths = [folder / template for folder in self._folders]
            path = next((path for path in paths if path.exists()), paths[0])
            names: dict[str, Any] = {}
            exec(_compiled(path, self._made_by, self._marked), names)
            found = self._functions[template] = names["render"]
        return found


@dataclass(frozen=True, slots=True)
class Items:
    """The items of a text, and what is `around` them: one piece more than items."""

    items: tuple[str, ...]
    around: tuple[str, ...]


def items_of(text: str) -> Items | None:
    """The items of a text that was made with marks.

    None if the marks are not such that one ends before the next begins: the operators brought some along.
    """
    pieces = re.split(f"([{ITEM_BEGINS}{ITEM_ENDS}])", text)
    marks = pieces[1::2]
    if marks != [ITEM_BEGINS, ITEM_ENDS] * (len(marks) // 2):
        return None
    return Items(tuple(pieces[2::4]), tuple(pieces[::4]))


# Compiled templates, kept as Python keeps its modules: beside those of opgen, and none with `python -B`. One is found
# only by the template's own text and all else that it is made of. Where it cannot be kept, each run compiles it: that
# takes a tenth of the time of a small run, and to import what compiles as long again.


def _compiled(path: Path, made_by: str, marked: bool) -> CodeType:
    source = path.read_text(encoding="utf-8")
    if marked:
        source = _ITEM_COMMENT.sub(lambda found: _ITEM_MARKS[found[1]], source)
    checksum = hashlib.sha256(f"{made_by}\n{source}".encode()).digest()
    kept = _place(path, marked)
    code = _find_kept(kept, checksum)
    if code is None:
        compiling = importlib.import_module("opgen.compiling")
        code = compiling.compile_template(source, str(path))
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                replace_file(kept, checksum + marshal.dumps(code))
    return code


def _find_kept(place: str, checksum: bytes) -> CodeType | None:
    # What another program has spoiled is no reason to fail.
    with suppress(OSError, EOFError, ValueError, TypeError), open(place, "rb") as file:
        if file.read(len(checksum)) == checksum:
            code: CodeType = marshal.load(file)
            return code
    return None


def _made_by() -> str:
    """Python, Jinja and the module that compiles."""
    specs = map(importlib.util.find_spec, ("jinja2", "opgen.compiling"))
    states = [state_of(os.stat(spec.origin)) for spec in specs if spec and spec.origin]
    return repr((importlib.util.MAGIC_NUMBER, states))


def _place(path: Path, marked: bool) -> str:
    """Where a template's code is kept."""
    key = hashlib.sha256(os.fsencode(path)).hexdigest()[:40]
    module = importlib.util.cache_from_source(__file__)
    form = "marked" if marked else "template"
    name = f"{form}-{key}.{sys.implementation.cache_tag}"
    return os.path.join(os.path.dirname(module), name)
