"""Parse and resolve schema files."""

from __future__ import annotations

from msgspec.structs import replace

from opgen.diagnostics import MAX_ERRORS, Diagnostics, until_too_many
from opgen.lints import lint_blanks
from opgen.model.registry import Registry
from opgen.parse import (
    SPACING,
    decode_source,
    parse_entries,
)
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.reading import ignored_keys, read_bytes, read_tags
from opgen.resolve import resolve
from opgen.targets import TARGETS

# `opgen format` skips a file with more misplaced blanks; `opgen lint --fix` fixes some of them at a time.
MAX_BLANKS = 10_000


def load(inputs: Inputs, diagnostics: Diagnostics) -> Registry | None:
    """Parse and resolve; return None if there are errors, which `diagnostics` then holds."""
    registry = read_registry(inputs, diagnostics)
    return None if diagnostics.has_errors else registry


def misplaced_blanks(inputs: Inputs) -> tuple[Diagnostics, Diagnostics]:
    """Return diagnostics for white space in schemas that differs from the canonical spelling, and all diagnostics.

    If there are other errors, or more than MAX_BLANKS, the former are empty: such files are not formatted.
    """
    found = Diagnostics()
    registry = read_registry(inputs, found)
    if not found.has_errors:
        blanks_of_libraries = Diagnostics()
        for f in registry.functions:
            lint_blanks(f, blanks_of_libraries)
        return blanks_of_libraries, found
    blanks = all(item.code == SPACING for item in found.errors())
    if blanks and found.error_count == MAX_ERRORS:
        found = Diagnostics(most=MAX_BLANKS)
        read_registry(inputs, found)
        blanks = found.error_count < MAX_BLANKS and all(
            item.code == SPACING for item in found.errors()
        )
    return found if blanks else Diagnostics(), found.shown()


def _where_no_outless(inputs: Inputs) -> str | None:
    """Describe where structured operators need an out variant; None if they do not."""
    return None if TARGETS[inputs.target].schema.makes_outless else f"for target {inputs.target}"


@until_too_many(lambda: Registry((), (), (), ()))
def read_registry(inputs: Inputs, diagnostics: Diagnostics) -> Registry:
    """Parse and resolve; return the registry of the entries without errors."""
    ignored = ignored_keys(inputs, diagnostics)
    tags = read_tags(inputs, diagnostics)
    texts = [(path, read_bytes(path, diagnostics, inputs.overlay)) for path in inputs.yaml]
    sources = [
        decode_source(str(path), text, diagnostics) for path, text in texts if text is not None
    ]
    parsed = parse_entries(
        sources,
        tags,
        ignored,
        diagnostics,
        strict_torchgen=inputs.strict_torchgen,
        namespace=inputs.namespace,
        no_outless=_where_no_outless(inputs),
    )
    # A file that cannot be read may define anything.
    unknown = parsed.invalid.unknown or len(sources) < len(texts)
    invalid = replace(parsed.invalid, unknown=unknown)
    return resolve(parsed.functions, diagnostics, tags.names, invalid)
