"""SelectedDtypes.h: the element types for which the dispatch macros compile code in a selective build."""

from __future__ import annotations

from collections.abc import Iterator

from opgen.emit.common.base import GeneratedFile, Record, cpp_string
from opgen.emit.common.context import Context
from opgen.emit.common.kernel_set import continued
from opgen.emit.common.layout import wrap_disjunction


class SelectedTag(Record, frozen=True):
    """The element types of the dispatch macros with the name `tag`."""

    tag: str
    dtypes: tuple[str, ...]

    @property
    def statement(self) -> str:
        """`return dtype == opgen::ScalarType::Float || ...;`."""
        terms = [f"dtype == opgen::ScalarType::{dtype}" for dtype in self.dtypes]
        return wrap_disjunction("    return ", terms)


class SelectedDtypesHeader(GeneratedFile, frozen=True):
    library: str
    tags: tuple[SelectedTag, ...]

    @property
    def any_statement(self) -> str:
        """`return is_selected("add", dtype) || ...;`, or `return false;`."""
        terms = [f'is_selected("{tag.tag}", dtype)' for tag in self.tags]
        return wrap_disjunction("  return ", terms or ["false"])

    @property
    def filter_lines(self) -> tuple[str, ...]:
        """The macro that a case of a dispatch macro begins with."""
        own = f"opgen_selected_{self.library}"
        return continued(
            "#define OPGEN_DISPATCH_FILTER(dtype)",
            f"  if constexpr (!(opgen_is_known ? {own}::is_selected(opgen_tag, dtype)",
            f"                                 : {own}::is_selected_of_any(dtype))) {{",
            f"    {own}::throw_unselected(opgen_name, dtype);",
            f"  }} else if (!opgen_is_known && !{own}::is_selected(opgen_name, dtype)) {{",
            f"    {own}::throw_unselected(opgen_name, dtype);",
            "  } else",
        )


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
