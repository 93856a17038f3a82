"""The edit of a few entries, made alone: what a run would change of a tree, without the rest of the library.

From the last run's schemas and from these, the entries that differ are taken out, with all that may have to do
with them, and each of the two small libraries is generated as any other. What differs between their trees
is what the edit changes in the large one:

* A file that the small library made as the large one did is of these entries alone, and replaced.
* In a file of all operators, the items of these entries are, word for word and each once, and are replaced.

Nothing is guessed. Where the small library did not make what is in the folder, where operators or items come or go,
or where there is a word to say to the author, the answer is None, and the whole library is generated. So is
every file that `opgen check` compares.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from opgen.dataclasses import replace
from opgen.diagnostics import Diagnostics
from opgen.files import read_regular
from opgen.manifest import MANIFEST, MAX_MANIFEST_BYTES
from opgen.parse import is_of_pytorchs_file
from opgen.parse.yaml_nodes import may_be_too_large
from opgen.pipeline.entries import Edit, split_entries
from opgen.pipeline.generating import build_tree
from opgen.pipeline.inputs import Inputs, tags_path
from opgen.pipeline.splicing import spliced
from opgen.pipeline.stamp import Request, Stamp
from opgen.reading import MAX_BYTES
from opgen.writer import Tree


def edited_tree(
    request: Request, stamp: Stamp, directory: Path, *, shards: int, python: bool
) -> Tree | None:
    """The tree of a run in `directory`, which is as `stamp` says, with the texts of what changes alone.

    None if that cannot be told without generating everything.
    """
    manifest = _read_manifest(directory, stamp)
    if manifest is None or stamp.report:
        return None
    inputs = replace(request.inputs, name=manifest["name"], tags=tags_path(request.inputs))
    edit = _find_edit(inputs, stamp.schemas)
    if edit is None:
        return None
    files = manifest.pop("files")
    del manifest["format"]
    edited = edit.edited()
    if not edited:
        return Tree({}, manifest, files)
    chosen = edit.with_neighbours(edited)
    if chosen is None:
        return None
    old, new = (
        _small_tree(edit.inputs_of(chosen, side), shards=shards, python=python) for side in (0, 1)
    )
    if old is None or new is None:
        return None
    texts, header = _new_texts(old, new, directory), _new_header(manifest, old, new)
    return None if texts is None or header is None else Tree(texts, header, files)


def _read_manifest(directory: Path, stamp: Stamp) -> dict[str, Any] | None:
    """The manifest of a folder; None if it is no longer as it was."""
    try:
        state, content = read_regular(directory / MANIFEST, MAX_MANIFEST_BYTES)
        if state != tuple(stamp.outputs.get(MANIFEST, ())):
            return None
        found = json.loads(content)
    except (OSError, ValueError, RecursionError):
        return None
    return found if _is_whole(found) else None


def _is_whole(manifest: Any) -> bool:
    """Whether a manifest has all that a run writes into one."""
    kinds = {"name": str, "files": dict, "operators": dict, "format": int}
    return isinstance(manifest, dict) and all(
        isinstance(manifest.get(key), kind) for key, kind in kinds.items()
    )


def _find_edit(inputs: Inputs, schemas: Iterable[str]) -> Edit | None:
    """From what the schemas were to what they are; None if a file is no plain list of as many entries."""
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
        any(map(is_of_pytorchs_file, side)) for side in (schemas, texts)
    ):
        inputs = replace(inputs, namespace="aten")
    return Edit(inputs, tuple(befores), tuple(rows))


def _small_tree(inputs: Inputs | None, *, shards: int, python: bool) -> Tree | None:
    """A tree of few operators, its texts with marks; None if anything is to be said of them."""
    diagnostics = Diagnostics()
    if inputs is None:
        return None
    tree = build_tree(inputs, diagnostics, shards=shards, python=python, marked=True)
    return None if len(diagnostics) else tree


def _new_header(header: Mapping[str, Any], old: Tree, new: Tree) -> dict[str, Any] | None:
    """The header of the large tree's manifest, with the operators as they are now; None if more of it differs.

    Nor is there one if the large library has something else for these operators than the small one has.
    """
    operators = header["operators"]
    if any(operators.get(name) != was for name, was in _as_read(old.header["operators"]).items()):
        return None
    others = [{k: v for k, v in t.header.items() if k != "operators"} for t in (old, new)]
    if others[0] != others[1]:
        return None
    return {**header, "operators": {**operators, **new.header["operators"]}}


def _as_read(value: Any) -> Any:
    """`value` as it is when it has been written and read."""
    return json.loads(json.dumps(value))


def _new_texts(old: Tree, new: Tree, directory: Path) -> dict[str, str] | None:
    """The new texts of the files in `directory` that differ between the small trees."""
    if old.files.keys() != new.files.keys():
        return None
    found = {}
    for path, after in new.files.items():
        before = old.files[path]
        if before != after:
            whole = _read_text(directory / path)
            text = None if whole is None else spliced(whole, before, after)
            if text is None:
                return None
            found[path] = text
    return found


def _read_text(path: Path) -> str | None:
    """The text of a file; None if it cannot be read, or is no longer one."""
    try:
        return read_regular(path)[1].decode()
    except (OSError, UnicodeDecodeError):
        return None
