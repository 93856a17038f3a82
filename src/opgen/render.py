"""FileViews into text: the only module that knows Jinja."""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jinja2
import jinja2.compiler
from jinja2.bccache import Bucket

from opgen.files import replace_file, state_of
from opgen.views.base import FileView

_OPTIONS: Mapping[str, Any] = MappingProxyType(
    {
        "undefined": jinja2.StrictUndefined,
        "trim_blocks": True,
        "lstrip_blocks": True,
        "keep_trailing_newline": True,
        "autoescape": False,
        # Or the file of each template that is included is asked for its age, each time.
        "auto_reload": False,
    }
)


class Renderer:
    """Renders the templates under one directory or several, each compiled once: the first that has it counts.

    A template receives one name, `file`, the FileView it is rendered for. An undefined name is an
    error (`jinja2.UndefinedError`), never an empty string: a field that is missing is a bug here.
    """

    def __init__(self, *templates: Path) -> None:
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(templates), bytecode_cache=_Kept(), **_OPTIONS
        )
        self._compiled: dict[str, jinja2.Template] = {}

    def render(self, view: FileView) -> str:
        """The text of the file that `view` describes."""
        template = self._compiled.get(view.template)
        if template is None:
            template = self._environment.get_template(view.template)
            self._compiled[view.template] = template
        return template.render(file=view)

    def render_all(self, views: Iterable[FileView]) -> dict[str, str]:
        """Path to text for every view; two views of one path are a bug.

        Raises AssertionError when a path is made twice: E0713 reports it to users earlier.
        """
        texts: dict[str, str] = {}
        for view in views:
            assert view.path not in texts, f"{view.path} is made by two views"
            texts[view.path] = self.render(view)
        return texts


class _Kept(jinja2.BytecodeCache):
    """Compiled templates, kept as Python keeps its modules: beside those of opgen, and none with `python -B`.

    To compile them takes a tenth of the time of a small run. One is found only by the template's own text and
    all else that it is made of: Jinja, Python and the options. Where it cannot be kept, each run compiles it.
    """

    def __init__(self) -> None:
        jinja = state_of(os.stat(jinja2.compiler.__file__))
        self._made_by = repr((jinja, importlib.util.MAGIC_NUMBER, sorted(_OPTIONS.items())))

    def get_source_checksum(self, source: str) -> str:
        return hashlib.sha256(f"{self._made_by}\n{source}".encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        # What another program has spoiled is no reason to fail.
        with suppress(OSError, EOFError, ValueError, TypeError), open(_place(bucket), "rb") as file:
            if file.read(len(bucket.checksum)) == bucket.checksum.encode():
                bucket.code = marshal.load(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        if sys.dont_write_bytecode:
            return
        with suppress(OSError):
            replace_file(_place(bucket), bucket.checksum.encode() + marshal.dumps(bucket.code))


def _place(bucket: Bucket) -> str:
    """Where a template's code is kept; its key is of the template's path."""
    module = importlib.util.cache_from_source(__file__)
    return os.path.join(
        os.path.dirname(module), f"template-{bucket.key}.{sys.implementation.cache_tag}"
    )
