"""Render generated files to text with Jinja."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from opgen.data import compiled_templates_dir, runtime_dir
from opgen.emit.common.base import GeneratedFile, number_lines
from opgen.templating.environment import make_environment


class Renderer:
    """Renders the templates of one folder or several; the first folder that has a template counts.

    A template receives one name, `file`, the GeneratedFile it is rendered for. An unknown name is a jinja2.UndefinedError and
    a missing field an AttributeError, never an empty string: either is a bug of opgen.
    """

    def __init__(self, *folders: Path) -> None:
        self._template = cache(make_environment(folders, compiled_templates_dir()).get_template)

    def render(self, file: GeneratedFile) -> str:
        """Return the text of `file`. Raises jinja2.TemplateNotFound."""
        if not file.template.endswith(".j2"):
            return (runtime_dir() / file.template).read_text(encoding="utf-8")
        text = self._template(file.template).render(file=file)
        if file.template.endswith(".cpp.j2"):
            text = number_lines(text)
        # Documented functions of a stub have a blank line after them.
        return f"{text.rstrip(chr(10))}\n" if text.endswith("\n\n") else text

    def render_all(self, files: Iterable[GeneratedFile]) -> dict[str, str]:
        """Return the text of each file by its path.

        Raises AssertionError if two files have one path: E0713 reports that to users earlier.
        """
        texts: dict[str, str] = {}
        for file in files:
            assert file.path not in texts, f"{file.path} is made twice"
            texts[file.path] = self.render(file)
        return texts
