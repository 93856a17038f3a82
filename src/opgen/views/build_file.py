"""CMakeLists.txt: the generated sources as one shared library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opgen.views.base import FileView, view
from opgen.views.context import Context


@view
class BuildFileView(FileView):
    library: str
    extends: str
    sources: tuple[str, ...]
    python: bool
    python_sources: tuple[str, ...]


def build_build_file(context: Context, paths: Iterable[str]) -> Iterator[FileView]:
    """CMakeLists.txt for the sources among `paths`."""
    sources = sorted(path for path in paths if path.endswith(".cpp"))
    yield BuildFileView(
        path="CMakeLists.txt",
        template="CMakeLists.txt.j2",
        library=context.library.name,
        extends=context.library.extends or "",
        sources=tuple(path for path in sources if not path.startswith("python/")),
        python=context.library.python,
        python_sources=tuple(path for path in sources if path.startswith("python/")),
    )
