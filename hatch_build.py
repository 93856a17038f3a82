"""Compiles the templates when a wheel is built, so that an installed opgen never waits for Jinja's compiler."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


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
