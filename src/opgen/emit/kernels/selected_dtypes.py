"""SelectedDtypes.h: the element types for which the dispatch macros compile code in a selective build."""

from __future__ import annotations

from collections.abc import Iterator

from opgen.emit.common.base import GeneratedFile, Record, cpp_string
from opgen.emit.common.context import Context


class SelectedTag(Record, frozen=True):
    """The element types of the dispatch macros with the name `tag`."""

    tag: str
    dtypes: tuple[str, ...]

    @property
    def condition(self) -> str:
        """`dtype == opgen::ScalarType::Float || ...`."""
        return " || ".join(f"dtype == opgen::ScalarType::{dtype}" for dtype in self.dtypes)


class SelectedDtypesHeader(GeneratedFile, frozen=True):
    library: str
    tags: tuple[SelectedTag, ...]

    @property
    def condition(self) -> str:
        """`is_selected("add", dtype) || ...`, or `false`."""
        return " || ".join(f'is_selected("{tag.tag}", dtype)' for tag in self.tags) or "false"


def build_selected_dtypes(context: Context) -> Iterator[GeneratedFile]:
    """Yield the header, if element types are selected."""
    if not context.selects_dtypes:
        return
    assert context.selection is not None
    known = context.target.cpp.element_types
    yield SelectedDtypesHeader(
        path=f"include/{context.library.name}/SelectedDtypes.h",
        template="SelectedDtypes.h.j2",
        library=context.library.name,
        tags=tuple(
            SelectedTag(cpp_string(tag), kept)
            for tag, dtypes in sorted(context.selection.selector.kernel_metadata.items())
            if (kept := tuple(dtype for dtype in dtypes if dtype in known))
        ),
    )
