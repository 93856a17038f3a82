"""When a wheel is built: compiles the templates, so that an installed opgen never waits for Jinja's compiler, and
makes the links of README.md work on the page of a package index.

With the environment variable OPGEN_WHEEL_PARTS=1, compiles the runtime and the common part of Python modules, too, so
that builds with this wheel need not. Such a wheel is for one platform and one version of Python.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
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


class CompiledFiles(BuildHookInterface):  # type: ignore[type-arg]
    """Adds `opgen/compiled_templates` to the wheel, and `opgen/parts` if it is asked for. An editable install reads the
    templates themselves.
    """

    def dependencies(self) -> list[str]:
        return ["cmake>=3.24", "ninja>=1.11"] if _has_parts() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        files = Path(self._folder.name)
        added = {"compiled_templates": self._compile_templates}
        if _has_parts():
            added["parts"] = self._compile_parts
            build_data.update(pure_python=False, infer_tag=True)
        for name, compile_into in added.items():
            compile_into(files / name)
            build_data["force_include"][str(files / name)] = f"opgen/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._folder.cleanup()

    def _compile_templates(self, folder: Path) -> None:
        source = Path(self.root, "src")
        sys.path.insert(0, str(source))
        try:
            from opgen.templating.environment import compile_templates  # noqa: PLC0415
        finally:
            sys.path.remove(str(source))
        templates = Path(self.root, "templates")
        new = templates / "new"
        folders = [path for path in (*templates.iterdir(), *new.iterdir()) if path.is_dir()]
        compile_templates(folders, folder)

    def _compile_parts(self, folder: Path) -> None:
        """Fill `folder` with entries as in the cache of runtime/cmake/opgenCache.cmake.

        Raises CalledProcessError if they do not compile, RuntimeError if they would not fit users' projects.
        """
        runtime = Path(self.root, "runtime")
        build = folder.with_name("build")
        options = {
            "CMAKE_MAKE_PROGRAM": _tool("ninja"),
            "CMAKE_BUILD_TYPE": "Release",
            "opgen_DIR": runtime / "cmake",
            "Python_EXECUTABLE": sys.executable,
            "OPGEN_PACK": folder,
            # Users have another BLAS than this machine.
            "CMAKE_DISABLE_FIND_PACKAGE_BLAS": "ON",
        }
        given = [f"-D{name}={value}" for name, value in options.items()]
        configure = ["-S", str(runtime / "parts"), "-B", str(build), "-G", "Ninja", *given]
        subprocess.run([_tool("cmake"), *configure], check=True)
        subprocess.run([_tool("cmake"), "--build", str(build)], check=True)
        for part in ("opgen_core", "opgen_kernels", "opgen_runtime", "opgen_python"):
            if not [*folder.glob(f"{part}-*/entry.json")]:
                raise RuntimeError(
                    f"OPGEN_WHEEL_PARTS: {part} is not in {folder}: it needs Python's headers, and a compiler without flags "
                    "(CXXFLAGS, LDFLAGS), because parts with flags fit no other project"
                )


def _has_parts() -> bool:
    return os.environ.get("OPGEN_WHEEL_PARTS") == "1"


def _tool(name: str) -> str:
    """Find the program `name`: in the folder of this Python, where pip installs it, then on the PATH."""
    beside = str(Path(sys.executable).parent)
    found = shutil.which(name, path=beside) or shutil.which(name)
    if found is None:
        raise RuntimeError(f"OPGEN_WHEEL_PARTS: {name} is not installed")
    return found
