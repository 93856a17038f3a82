"""Find and read the settings of a project: `[tool.opgen]` in pyproject.toml, or opgen.toml.

A command takes a setting where the command line has no option for it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec import Struct

from opgen.diagnostics import Diagnostics, Source, Span
from opgen.diagnostics.suggestions import did_you_mean, shorten
from opgen.pipeline.inputs import OPTIONS, Form
from opgen.pipeline.loading import read_source
from opgen.targets import TARGETS

OWN_FILE, SHARED_FILE = "opgen.toml", "pyproject.toml"

_HEADER = re.compile(r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*opgen[ \t]*\]", re.MULTILINE)
_NEXT_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_PLACE = re.compile(r" ?\(at (?:line (\d+), column (\d+)|end of document)\)$")


# The form of each setting, by its name, which is that of an option; docs/reference/project.md says what they do. Paths are
# relative to the folder of the file.
SETTINGS: Mapping[str, Form] = {
    "yaml": Form.paths,
    **{
        name: OPTIONS[name].form
        for name in ("target", "torch", "namespace", "name", "derivatives", "include")
    },
    "kernels": Form.paths,
    "output": Form.path,
    "python": Form.flag,
    "python-folder": Form.path,
    "frameworks": Form.names,
    "deny-warnings": Form.flag,
}

# Settings that also hold for schema files of the folder that `yaml` does not list.
_OF_EVERY_FILE = frozenset(("target", "torch", "namespace", "deny_warnings"))


class Project(Struct, frozen=True):
    """The settings of a project, by the names of the options: `deny_warnings` for `deny-warnings`.

    Only those that are written. A path is a Path, a list of paths a tuple of them.
    """

    file: Path
    values: Mapping[str, Any]

    @property
    def yaml(self) -> tuple[Path, ...]:
        """The schema files; none if the settings name none."""
        found: tuple[Path, ...] = self.values.get("yaml", ())
        return found

    def values_for(self, yaml: Sequence[Path]) -> Mapping[str, Any]:
        """Return the settings that hold for a run that reads these schema files."""
        own = {os.path.abspath(path) for path in self.yaml}
        if not own or own.issuperset(map(os.path.abspath, yaml)):
            return self.values
        return {name: value for name, value in self.values.items() if name in _OF_EVERY_FILE}


def find_project(folder: Path, diagnostics: Diagnostics) -> Project | None:
    """Return the settings for the schema files of a folder: those in itself, or in the nearest folder above it.

    The search ends at the top of a repository. Invalid settings are reported and left out. Paths are absolute if `folder`
    is, or relative to the current folder if they are in it.
    """
    top, here = Path(os.path.abspath(folder)), Path.cwd()
    for above in (top, *top.parents):
        for name in (OWN_FILE, SHARED_FILE):
            file = above / name
            if os.path.isfile(file):
                is_shown = not folder.is_absolute() and file.is_relative_to(here)
                project = _read(file.relative_to(here) if is_shown else file, diagnostics)
                if project is not None:
                    return project
        if os.path.lexists(above / ".git"):
            return None
    return None


def _read(file: Path, diagnostics: Diagnostics) -> Project | None:
    """Read a file of settings; None if it is one of another tool."""
    is_own = file.name == OWN_FILE
    source = read_source(file, diagnostics if is_own else Diagnostics())
    if source is None or not (is_own or _HEADER.search(source.text)):
        return None
    # The same module; Python 3.10 does not have it. Most runs find no settings, and do without it.
    toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table = toml.loads(source.text)
    except (ValueError, RecursionError) as error:
        place, offset = _PLACE.search(str(error)), len(source.text)
        if place is not None and place[1]:
            line = min(int(place[1]), len(source.line_starts()))
            offset = min(source.line_starts()[line - 1] + int(place[2]) - 1, offset)
        message = f"this is not TOML: {_PLACE.sub('', str(error))}"
        diagnostics.error("E0924", message, Span(source, offset, offset))
        return Project(file, {})
    for key in () if is_own else ("tool", "opgen"):
        # The line that looks like a header may be in a string.
        table = table.get(key) if isinstance(table, dict) else None
    if not isinstance(table, dict):
        return None
    return Project(file, _values(table, source, file.parent, diagnostics))


def _find_places(source: Source, name: str) -> tuple[Span, Span]:
    """Return the key and the first line of the value of a setting; the header of the table if there is no line.

    They are found line by line: the parser of TOML does not tell them.
    """
    header = _HEADER.search(source.text)
    start = 0 if header is None or source.path.endswith(OWN_FILE) else header.end()
    end = _NEXT_HEADER.search(source.text, start)
    key = re.escape(name)
    line = re.compile(
        rf"^[ \t]*(['\"]?{key}['\"]?)[ \t]*=[ \t]*([^\n]*?)[ \t]*(?=[ \t]#|\r?$)", re.M
    )
    found = line.search(source.text, start, len(source.text) if end is None else end.start())
    if found is None:
        span = Span(source, *(header.span() if header is not None else (0, 0)))
        return span, span
    return Span(source, *found.span(1)), Span(source, *found.span(2))


def _values(
    table: Mapping[str, Any], source: Source, folder: Path, diagnostics: Diagnostics
) -> dict[str, Any]:
    found = {}
    for name, value in table.items():
        key, place = _find_places(source, name)
        if name not in SETTINGS:
            message = f"there is no setting '{shorten(name)}'"
            notes = (f"settings are {', '.join(SETTINGS)}",)
            hint = did_you_mean(name, SETTINGS)
            diagnostics.error("E0925", message, key, hint=hint, notes=() if hint else notes)
            continue
        read, expected = _convert(name, value, folder)
        if read is None:
            is_target = name == "target" and isinstance(value, str)
            hint = did_you_mean(value, TARGETS) if is_target else None
            diagnostics.error("E0926", f"'{name}' takes {expected}", place, hint=hint)
        else:
            found[name.replace("-", "_")] = read
    return found


def _convert(name: str, value: object, folder: Path) -> tuple[Any, str]:
    """Return the value of a setting, None if it has the wrong type, and what it takes."""
    form = SETTINGS[name]
    if form is Form.flag:
        return (value if isinstance(value, bool) else None), "true or false"
    if form in (Form.paths, Form.names):
        items = value if isinstance(value, list) else [value]
        words = [str(item) for item in items if _is_text(item)]
        kind = "path" if form is Form.paths else "name"
        read = tuple(folder / word for word in words) if form is Form.paths else tuple(words)
        return (read if len(read) == len(items) else None), f"a {kind} or a list of {kind}s"
    if name == "target":
        return (value if value in list(TARGETS) else None), f"one of {', '.join(sorted(TARGETS))}"
    text = str(value) if _is_text(value) else None
    if form is Form.path:
        return (None if text is None else folder / text), "a path"
    return text, "a string"


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value) and "\0" not in value
