"""Read the files that are given on the command line; parse and resolve schema files."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from opgen.diagnostics import MAX_ERRORS, Diagnostics, Source, until_too_many
from opgen.diagnostics.suggestions import did_you_mean, shorten
from opgen.lints import lint_blanks
from opgen.model.cpp_words import is_library_name
from opgen.model.dispatch_key import (
    COMPOSITE_DISPATCH_KEYS,
    LIBRARY_DISPATCH_KEYS,
    SUPPORTED_DISPATCH_KEYS,
    DispatchKey,
)
from opgen.model.profile import TagSet
from opgen.model.registry import Registry
from opgen.parse.files.native_functions import builtin_tags, parse_entries, parse_tags
from opgen.parse.schema.text import SPACING
from opgen.parse.yaml.nodes import decode_source
from opgen.pipeline.inputs import Inputs, Overlay, tags_path
from opgen.resolve import resolve
from opgen.resolve.computed_table import is_backend
from opgen.targets import TARGETS

MAX_BYTES = 10_000_000


def check_library_name(name: str, diagnostics: Diagnostics) -> bool:
    """Return whether a library can have this name; report one that it cannot have."""
    if is_library_name(name):
        return True
    message = f"'{shorten(name)}' cannot be the name of a library"
    hint = "use letters, digits and '_', and no keyword or macro of C++"
    diagnostics.error("E0914", message, None, hint=hint)
    return False


_NO_OVERLAY: Overlay = {}


def read_bytes(
    path: Path, diagnostics: Diagnostics, overlay: Overlay = _NO_OVERLAY, *, most: int = MAX_BYTES
) -> bytes | None:
    """Return the content of a file; report a file that cannot be read or has more than `most` bytes, and return None."""
    try:
        content = overlay.get(path)
        if content is None:
            with open(path, "rb") as file:
                content = file.read(most + 1)
        if len(content) <= most:
            return content
        message = f"{path} has more than {most // 1_000_000} MB"
        diagnostics.error("E0912", message, None)
        return None
    except OSError as error:
        diagnostics.error("E0905", f"cannot read {path}: {error.strerror}", None)
        return None


def read_source(
    path: Path, diagnostics: Diagnostics, overlay: Overlay = _NO_OVERLAY
) -> Source | None:
    """Return the text of a file; report a file that cannot be read, and return None."""
    content = read_bytes(path, diagnostics, overlay)
    return None if content is None else decode_source(str(path), content, diagnostics)


def read_tags(inputs: Inputs, diagnostics: Diagnostics) -> TagSet:
    """Return the tags that entries may have, and report problems of their file."""
    path = tags_path(inputs)
    if path is None:
        return builtin_tags()
    before = diagnostics.error_count
    text = read_bytes(path, diagnostics, inputs.overlay)
    if text is None:
        return replace(builtin_tags(), is_whole=False)
    tags = parse_tags(decode_source(str(path), text, diagnostics), diagnostics)
    return replace(tags, is_whole=diagnostics.error_count == before)


# The prefixes of keys that act for a backend, above its kernels.
_ABOVE = ("Autograd", "Autocast")


def _ignored_keys(inputs: Inputs, diagnostics: Diagnostics) -> frozenset[DispatchKey]:
    """Return the keys whose rows are left out: those in `ignore_keys` and, with `backends`, those of all other backends.

    Keys that act for every backend (Autograd, BackendSelect, Functionalize, ...) stay.
    """
    ignored = {key for name in inputs.ignore_keys if (key := _key(name, diagnostics))}
    kept = {key for name in inputs.backends if (key := _key(name, diagnostics))}
    if inputs.backends:
        kept.update(COMPOSITE_DISPATCH_KEYS)
        ignored.update(key for key in SUPPORTED_DISPATCH_KEYS if key not in kept)
        ignored.update(key for key in LIBRARY_DISPATCH_KEYS if _is_of_others(key, kept))
    return frozenset(ignored)


def _is_of_others(key: DispatchKey, kept: set[DispatchKey]) -> bool:
    """Return whether `key` belongs to a backend that is not kept."""
    prefix = next((prefix for prefix in _ABOVE if key.name.startswith(prefix)), "")
    backend = DispatchKey.__members__.get(key.name.removeprefix(prefix))
    return backend is not None and is_backend(backend) and kept.isdisjoint((key, backend))


def _key(name: str, diagnostics: Diagnostics) -> DispatchKey | None:
    key = DispatchKey.__members__.get(name)
    if key is None:
        hint = did_you_mean(name, [key.name for key in LIBRARY_DISPATCH_KEYS])
        diagnostics.error("E0908", f"there is no dispatch key '{name}'", None, hint=hint)
    return key


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


@until_too_many(lambda: Registry((), (), (), ()))
def read_registry(inputs: Inputs, diagnostics: Diagnostics) -> Registry:
    """Parse and resolve; return the registry of the entries without errors."""
    ignored = _ignored_keys(inputs, diagnostics)
    tags = read_tags(inputs, diagnostics)
    texts = [(path, read_bytes(path, diagnostics, inputs.overlay)) for path in inputs.yaml]
    sources = [
        decode_source(str(path), text, diagnostics) for path, text in texts if text is not None
    ]
    makes_outless = TARGETS[inputs.target].schema.makes_outless
    parsed = parse_entries(
        sources,
        tags,
        ignored,
        diagnostics,
        strict_torchgen=inputs.strict_torchgen,
        namespace=inputs.namespace,
        no_outless=None if makes_outless else f"for target {inputs.target}",
    )
    # A file that cannot be read may define anything.
    unknown = parsed.invalid.unknown or len(sources) < len(texts)
    invalid = replace(parsed.invalid, unknown=unknown)
    return resolve(parsed.functions, diagnostics, tags.names, invalid)
