"""FileViews into text: the only module that knows Jinja."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import jinja2

from opgen.views.base import FileView


class Renderer:
    """Renders the templates under one directory or several, each compiled once: the first that has it counts.

    A template receives one name, `file`, the FileView it is rendered for. An undefined name is an
    error (`jinja2.UndefinedError`), never an empty string: a field that is missing is a bug here.
    """

    def __init__(self, *templates: Path) -> None:
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(templates),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,
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
