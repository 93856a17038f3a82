"""SelectedDtypes.h: which element types the dispatch macros make code for, in a selective build."""

from __future__ import annotations

from collections.abc import Iterator

from opgen.views.base import FileView, cpp_string, view
from opgen.views.context import Context


@view
class SelectedTagView:
    """The element types for the dispatch macros that are called `tag`."""

    tag: str
    dtypes: tuple[str, ...]


@view
class SelectedDtypesView(FileView):
    library: str
    tags: tuple[SelectedTagView, ...]


def build_selected_dtypes(context: Context) -> Iterator[FileView]:
    """The header, if element types are selected."""
    if not context.selects_dtypes:
        return
    assert context.selection is not None
    known = context.target.element_types
    yield SelectedDtypesView(
        path=f"include/{context.library.name}/SelectedDtypes.h",
        template="SelectedDtypes.h.j2",
        library=context.library.name,
        tags=tuple(
            SelectedTagView(cpp_string(tag), kept)
            for tag, dtypes in sorted(context.selection.selector.kernel_metadata.items())
            if (kept := tuple(dtype for dtype in dtypes if dtype in known))
        ),
    )
