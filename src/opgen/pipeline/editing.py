"""Update a tree after an edit of few entries, without generating the whole library.

The entries that differ between the last run's schemas and the current ones are extracted, with all entries that they may be
related to, from both. Both small libraries are generated, and the differences between their trees are applied to the large tree:

* If a file of the large tree is equal to the small library's old file, it contains only these entries, and is replaced.
* If a file is shared by all operators, it must contain each item that differs exactly once, and these items are replaced.

In all other cases, the result is None, and the whole library is generated: if operators or items come or go, if there is
anything to report, or if a file is not as expected. `opgen check` always generates the whole library.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from opgen.diagnostics import Diagnostics
from opgen.io.digests import read_digests
from opgen.io.files import read_regular
from opgen.io.manifest import MANIFEST, MAX_MANIFEST_BYTES
from opgen.io.writer import Tree
from opgen.model.profile import ATEN
from opgen.parse import is_pytorchs_file
from opgen.parse.yaml.nodes import may_be_too_large
from opgen.pipeline.entries import Edit, split_entries
from opgen.pipeline.generating import build_tree
from opgen.pipeline.inputs import Inputs, derivatives_paths, tags_path
from opgen.pipeline.reading import MAX_BYTES
from opgen.pipeline.splicing import splice
from opgen.pipeline.stamp import Request, Stamp


def edited_tree(request: Request, stamp: Stamp, directory: Path) -> Tree | None:
    """Return the tree of a run in `directory`, whose stamp is `stamp`, with only the texts that change.

    Return None if the whole library has to be generated.
    """
    manifest = _read_manifest(directory, stamp)
    # Formulas may be those of operators that are not extracted.
    if manifest is None or stamp.report or derivatives_paths(request.inputs):
        return None
    inputs = replace(request.inputs, name=manifest["name"], tags=tags_path(request.inputs))
    edit = _find_edit(inputs, stamp.schemas)
    if edit is None:
        return None
    digests = read_digests(directory)
    if digests.keys() != set(manifest.pop("files")):
        return None
    del manifest["format"]
    edited = edit.edited()
    if not edited:
        return Tree({}, manifest, digests)
    chosen = edit.with_neighbours(edited)
    if chosen is None:
        return None
    old, new = (_small_tree(edit.inputs_of(chosen, side)) for side in (0, 1))
    if old is None or new is None:
        return None
    texts, header = _new_texts(old, new, directory), _new_header(manifest, old, new)
    return None if texts is None or header is None else Tree(texts, header, digests)


def _read_manifest(directory: Path, stamp: Stamp) -> dict[str, Any] | None:
    """Read the manifest of a folder; return None if it has changed since the stamp."""
    try:
        state, content = read_regular(directory / MANIFEST, MAX_MANIFEST_BYTES)
        if state != tuple(stamp.outputs.get(MANIFEST, ())):
            return None
        found = json.loads(content)
    except (OSError, ValueError, RecursionError):
        return None
    return found if _is_whole(found) else None


def _is_whole(manifest: Any) -> bool:
    """Return whether a manifest has every value that this module needs."""
    kinds = {"name": str, "files": list, "operators": dict, "format": int}
    return isinstance(manifest, dict) and all(
        isinstance(manifest.get(key), kind) for key, kind in kinds.items()
    )


def _find_edit(inputs: Inputs, schemas: Iterable[str]) -> Edit | None:
    """Compare the old `schemas` with the inputs; return None if a file cannot be split into as many entries as before."""
    befores, rows = [], []
    contents = [inputs.overlay[path] for path in inputs.yaml]
    try:
        texts = [content.decode() for content in contents]
    except UnicodeDecodeError:
        return None
    if any(map(may_be_too_large, texts)) or any(len(content) > MAX_BYTES for content in contents):
        return None
    for before, after in zip(schemas, texts):
        old, new = split_entries(before), split_entries(after)
        if old is None or new is None or old.before != new.before:
            return None
        if len(old.entries) != len(new.entries):
            return None
        befores.append(new.before)
        rows.append(tuple(zip(old.entries, new.entries)))
    if inputs.namespace is None and all(
        any(map(is_pytorchs_file, side)) for side in (schemas, texts)
    ):
        inputs = replace(inputs, namespace=ATEN)
    return Edit(inputs, tuple(befores), tuple(rows))


def _small_tree(inputs: Inputs | None) -> Tree | None:
    """Generate a small library, with marks; return None if there is anything to report."""
    diagnostics = Diagnostics()
    if inputs is None:
        return None
    tree = build_tree(inputs, diagnostics, marked=True)
    return None if len(diagnostics) else tree


def _new_header(header: Mapping[str, Any], old: Tree, new: Tree) -> dict[str, Any] | None:
    """Return the header of the large tree's manifest with the operators of the new small one.

    Return None if the headers differ in more than operators, or if the large library has other values for these operators
    than the old small one.
    """
    operators = header["operators"]
    if any(operators.get(name) != was for name, was in _as_read(old.header["operators"]).items()):
        return None
    others = [{k: v for k, v in t.header.items() if k != "operators"} for t in (old, new)]
    if others[0] != others[1]:
        return None
    return {**header, "operators": {**operators, **new.header["operators"]}}


def _as_read(value: Any) -> Any:
    """Return `value` as it is after writing and reading it."""
    return json.loads(json.dumps(value))


def _new_texts(old: Tree, new: Tree, directory: Path) -> dict[str, str] | None:
    """Return the new texts of the files in `directory` that differ between the small trees; None if that is not
    possible.
    """
    if old.files.keys() != new.files.keys():
        return None
    found = {}
    for path, after in new.files.items():
        before = old.files[path]
        if before != after:
            whole = _read_text(directory / path)
            text = None if whole is None else splice(whole, before, after)
            if text is None:
                return None
            found[path] = text
    return found


def _read_text(path: Path) -> str | None:
    """Read a file; return None if it cannot be read or is not text."""
    try:
        return read_regular(path)[1].decode()
    except (OSError, UnicodeDecodeError):
        return None
