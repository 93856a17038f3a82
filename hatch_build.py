"""When a wheel is built: compiles the templates, so that an installed opgen never waits for Jinja's compiler, and
makes the links of README.md work on the page of a package index.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!https?:|#)([^)\s]+)\)")


class ReadmeOfAnIndex(MetadataHookInterface):
    """Gives the package README.md as its text, with links into the repository that `[project.urls]` names."""

    def update(self, metadata: dict[str, Any]) -> None:
        repository = metadata["urls"]["Repository"]
        text = Path(self.root, "README.md").read_text(encoding="utf-8")

        def absolute(link: re.Match[str]) -> str:
            kind = "raw" if link[1] else "blob"
            return f"{link[1]}{link[2]}({repository}/{kind}/main/{link[3]})"

        metadata["readme"] = {"content-type": "text/markdown", "text": _LINK.sub(absolute, text)}


class CompiledTemplates(BuildHookInterface):  # type: ignore[type-arg]
    """Adds `opgen/compiled_templates` to the wheel. An editable install reads the templates themselves."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        source = Path(self.root, "src")
        sys.path.insert(0, str(source))
        try:
            from opgen.templating.environment import compile_templates  # noqa: PLC0415
        finally:
            sys.path.remove(str(source))
        self._folder = tempfile.TemporaryDirectory()
        templates = Path(self.root, "templates")
        new = templates / "new"
        folders = [path for path in (*templates.iterdir(), *new.iterdir()) if path.is_dir()]
        compile_templates(folders, Path(self._folder.name))
        build_data["force_include"][self._folder.name] = "opgen/compiled_templates"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._folder.cleanup()
