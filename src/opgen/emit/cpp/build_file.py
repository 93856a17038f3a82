"""CMakeLists.txt: the generated sources as one shared library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opgen.emit.common.base import GeneratedFile
from opgen.emit.common.context import Context


class BuildFile(GeneratedFile, frozen=True):
    library: str
    extends: str
    sources: tuple[str, ...]
    python: bool
    python_sources: tuple[str, ...]


def build_build_file(context: Context, paths: Iterable[str]) -> Iterator[GeneratedFile]:
    """Build CMakeLists.txt for the sources among `paths`."""
    sources = sorted(path for path in paths if path.endswith(".cpp"))
    yield BuildFile(
        path="CMakeLists.txt",
        template="CMakeLists.txt.j2",
        library=context.library.name,
        extends=context.library.extends or "",
        sources=tuple(path for path in sources if not path.startswith("python/")),
        python=context.library.python,
        python_sources=tuple(path for path in sources if path.startswith("python/")),
    )
