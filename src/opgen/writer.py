"""Texts into files: only what changed is touched, and only what opgen wrote is ever removed.

The manifest (`manifest.py`) says which files of a directory are opgen's. What stands in the way, is a
link, or was not written by opgen is reported before anything is touched. One run at a time writes to
a directory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Diagnostics, until_too_many
from opgen.files import (
    FileState,
    Locked,
    is_temporary,
    locked,
    read_regular,
    remove_temporaries,
    replace_file,
    state_of,
)
from opgen.forking import beside
from opgen.manifest import (
    MANIFEST,
    MANIFEST_FORMAT,
    Manifest,
    digest,
    is_safe_path,
    joined_parts,
    manifest_parts,
    read_manifest,
)

_NO_STATES: Mapping[str, FileState] = MappingProxyType({})
# A second process takes a hundredth of a second, in which a few hundred files are written.
_MANY = 1000


class Outdated(Exception):
    """A folder is no longer as it was when it was looked at."""


@dataclass(frozen=True, slots=True)
class Tree:
    """What one run makes: texts by path (posix, relative), and the manifest's other fields.

    `others` are the digests of files that belong to the tree, too, and are in place.
    """

    files: Mapping[str, str]
    header: Mapping[str, Any]
    others: Mapping[str, str] = field(default_factory=dict)

    def contents(self) -> dict[str, bytes]:
        """The bytes of `files`."""
        return {path: text.encode() for path, text in self.files.items()}

    def manifest(self, contents: Mapping[str, bytes] | None = None) -> dict[str, Any]:
        """The manifest as a value: `header` and the digest of every file; `contents` are theirs, if at hand."""
        contents = self.contents() if contents is None else contents
        made = {path: digest(content) for path, content in contents.items()}
        files = {**self.others, **made}
        return {"format": MANIFEST_FORMAT, **self.header, "files": files}


@dataclass(frozen=True, slots=True)
class WriteReport:
    """Paths by what happened to them, each tuple sorted.

    `states` is of every file that is now the tree's, the manifest too: as it was when its bytes were
    seen to be right, or were written.
    """

    written: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    states: Mapping[str, FileState] = field(default_factory=dict)


@until_too_many(WriteReport)
def write(
    tree: Tree,
    directory: Path,
    diagnostics: Diagnostics,
    states: Mapping[str, FileState] = _NO_STATES,
) -> WriteReport:
    """Make `directory` hold `tree`; report E09xx and touch nothing if that would lose something.

    The tree's `others`, and the manifest that they were read from, are in these `states`. Raises Outdated,
    and nothing is touched, if another run has written since.
    """
    try:
        if os.path.lexists(directory) and not os.path.isdir(directory):
            diagnostics.error("E0901", f"{directory} is not a directory", None)
            return WriteReport()
        directory.mkdir(parents=True, exist_ok=True)
        with locked(directory) as check_same:
            written = _write_locked(tree, directory, diagnostics, states, check_same)
            check_same()
            return written
    except Locked:
        message = f"another opgen is writing to {directory}"
        diagnostics.error("E0903", message, None, hint="run it again when that one is done")
    except OSError as error:
        message = f"cannot write {error.filename or directory}: {error.strerror}"
        diagnostics.error("E0904", message, None)
    return WriteReport()


def _write_locked(
    tree: Tree,
    directory: Path,
    diagnostics: Diagnostics,
    known: Mapping[str, FileState],
    check_same: Callable[[], None],
) -> WriteReport:
    check_same()
    for path in tree.files:
        # Names are judged where they are read; whatever comes after that, nothing is written elsewhere.
        if not is_safe_path(path):
            message = f"cannot write {path!a}: it is no path inside of {directory}"
            diagnostics.error("E0904", message, None)
    # Every run that writes makes a new manifest.
    if known and state_of(os.stat(directory / MANIFEST)) != known[MANIFEST]:
        raise Outdated
    manifest = read_manifest(directory, diagnostics)
    if manifest is None:
        return WriteReport()
    if diagnostics.has_errors:
        return WriteReport()
    seen = look(directory, (*tree.files, *manifest.paths))
    old = _settled(manifest, directory, seen)
    contents = tree.contents()
    states = {path: known[path] for path in tree.others if path not in contents}
    states |= _unchanged(contents, directory, seen)
    changed = [path for path in contents if path not in states]
    _refuse_foreign_files(tree, changed, directory, old, seen, diagnostics)
    if diagnostics.has_errors:
        return WriteReport()
    for path in seen.temporaries:
        Path(directory / path).unlink(missing_ok=True)
    check_same()
    return _write_all(tree, contents, states, directory, old, seen)


# What is there


@dataclass(frozen=True, slots=True)
class Seen:
    """What stands in the folders that matter, by path from the top.

    A symbolic link is neither a file nor a folder: what is behind it is somebody else's.
    """

    files: frozenset[str]
    folders: frozenset[str]
    links: frozenset[str]
    others: frozenset[str]
    temporaries: tuple[str, ...]

    def other_kind(self, path: str) -> str | None:
        """What stands at `path` if it is neither a file nor nothing."""
        if path in self.folders:
            return "a folder"
        if path in self.links:
            return "a link"
        return "not a regular file" if path in self.others else None


def look(directory: Path, paths: Iterable[str]) -> Seen:
    """Read the folders of `paths`, each once: that costs less than a question for each file."""
    wanted = _folders(paths)
    files, links, others = set[str](), set[str](), set[str]()
    temporaries = list[str]()
    folders = {"."}
    for folder in sorted(wanted, key=lambda f: (f.count("/"), f)):
        if folder not in folders:
            continue
        prefix = "" if folder == "." else f"{folder}/"
        with os.scandir(directory / folder) as entries:
            for entry in entries:
                path = prefix + entry.name
                if entry.is_dir(follow_symlinks=False):
                    folders.add(path)
                elif entry.is_symlink():
                    links.add(path)
                elif not entry.is_file(follow_symlinks=False):
                    others.add(path)
                elif is_temporary(entry.name):
                    temporaries.append(path)
                else:
                    files.add(path)
    return Seen(
        frozenset(files),
        frozenset(folders),
        frozenset(links),
        frozenset(others),
        tuple(temporaries),
    )


def _folders(paths: Iterable[str]) -> frozenset[str]:
    """The folders of `paths` and those that these stand in, `.` among them."""
    found = {"."}
    for folder in {path.rpartition("/")[0] for path in paths}:
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)


def _unchanged(contents: Mapping[str, bytes], directory: Path, seen: Seen) -> dict[str, FileState]:
    """The files that hold what they are to hold already, each in the state that it was read in."""
    top = os.fspath(directory)

    def unchanged(paths: Iterable[str]) -> dict[str, FileState]:
        rows = ((path, *read(f"{top}/{path}")) for path in paths)
        return {path: state for path, state, found in rows if found == contents[path]}

    return _in_halves([path for path in contents if path in seen.files], unchanged, unchanged)


_Work = Callable[[Iterable[str]], dict[str, FileState]]


def _in_halves(paths: Sequence[str], work: _Work, instead: _Work) -> dict[str, FileState]:
    """What `work` makes of `paths`. Most of it is the system's work, which two processes can ask for.

    `instead` makes the other half if the second process cannot.
    """
    # In turn, so that both halves have large and small files.
    halves = paths[::2], paths[1::2]
    with beside(lambda: work(halves[1]), worth=len(paths) >= _MANY) as others:
        try:
            states = work(halves[0])
        except OSError:
            # Stopped in the middle of a file, the other process would leave a temporary one.
            others(dict)
            raise
        return {**states, **others(lambda: instead(halves[1]))}


def read(path: str) -> tuple[FileState, bytes | None]:
    """The bytes of a file, None if it cannot be read or is none, and its state before that."""
    try:
        return read_regular(path)
    except OSError:
        return (0, 0, 0), None


def _refuse_foreign_files(
    tree: Tree,
    changed: Iterable[str],
    directory: Path,
    old: Mapping[str, str],
    seen: Seen,
    diagnostics: Diagnostics,
) -> None:
    """E0901 for every path that is taken by something opgen did not write.

    A file whose bytes equal what would be written is adopted, hence not among the `changed`.
    """
    for folder in sorted(_folders(tree.files) - {"."}):
        what = "a file" if folder in seen.files else seen.other_kind(folder)
        if what not in (None, "a folder"):
            message = f"{directory / folder} is {what}, and a folder is needed there"
            diagnostics.error("E0901", message, None)
    for path in sorted((*changed, MANIFEST)):
        what = seen.other_kind(path)
        if what is not None:
            message = f"{directory / path} is {what}, and a file is to be written there"
            diagnostics.error("E0901", message, None)
        elif path not in old and path != MANIFEST and _exists(path, directory, seen):
            diagnostics.error(
                "E0901",
                f"{directory / path} was not written by opgen and would be overwritten",
                None,
                hint="move it away, or generate into another directory",
            )


def _exists(path: str, directory: Path, seen: Seen) -> bool:
    # Asked again: it may be gone since it was seen, and on a file system that takes Foo.h for foo.h
    # the folder's list has another name for it.
    return _folder_of(path) in seen.folders and os.path.lexists(directory / path)


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0] or "."


# What is done


def _settled(manifest: Manifest, directory: Path, seen: Seen) -> dict[str, str]:
    """Path to digest of opgen's files: what a killed run was writing is, where it got that far."""
    files = dict(manifest.files)
    for path, wanted in manifest.pending.items():
        content = read(f"{directory}/{path}")[1] if path in seen.files else None
        if content is not None and digest(content) == wanted:
            files[path] = wanted
    return files


def _write_all(
    tree: Tree,
    contents: Mapping[str, bytes],
    unchanged: Mapping[str, FileState],
    directory: Path,
    old: Mapping[str, str],
    seen: Seen,
) -> WriteReport:
    manifest = tree.manifest(contents)
    new: dict[str, str] = manifest["files"]
    parts = manifest_parts(manifest)
    changed = [path for path in contents if path not in unchanged]
    left_over = sorted(set(old) - set(new))
    if changed or left_over:
        pending = {path: new[path] for path in sorted(changed)}
        done = {path: value for path, value in new.items() if path not in pending}
        begun = {**parts, **manifest_parts({"files": {**old, **done}, "pending": pending})}
        replace_file(directory / MANIFEST, joined_parts(begun).encode())
    for folder in sorted({_folder_of(path) for path in changed} - seen.folders):
        (directory / folder).mkdir(parents=True, exist_ok=True)
    top = os.fspath(directory)
    states = _replace_files(top, {path: contents[path] for path in changed})
    removed, kept = _remove(directory, left_over, old, seen)
    text = joined_parts(parts).encode()
    state, found = read(f"{top}/{MANIFEST}")
    if found != text:
        state = replace_file(f"{top}/{MANIFEST}", text)
    return WriteReport(
        written=tuple(sorted(changed)),
        unchanged=tuple(sorted(unchanged)),
        removed=removed,
        kept=kept,
        states={**unchanged, **states, MANIFEST: state},
    )


def _replace_files(top: str, contents: Mapping[str, bytes]) -> dict[str, FileState]:
    """Make the files under `top` hold `contents`."""

    def replaced(paths: Iterable[str]) -> dict[str, FileState]:
        return {path: replace_file(f"{top}/{path}", contents[path]) for path in paths}

    def instead(paths: Iterable[str]) -> dict[str, FileState]:
        # What the second process was writing when it died.
        for folder in {_folder_of(path) for path in contents}:
            remove_temporaries(f"{top}/{folder}")
        return replaced(paths)

    return _in_halves(tuple(contents), replaced, instead)


def _remove(
    directory: Path, paths: Iterable[str], old: Mapping[str, str], seen: Seen
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Remove `paths`, but keep a file whose bytes are no longer those that opgen wrote."""
    removed, kept = [], []
    for path in paths:
        if path not in seen.files:
            continue
        file = directory / path
        found = read(os.fspath(file))[1]
        if found is None or digest(found) != old[path]:
            kept.append(path)
            continue
        file.unlink()
        removed.append(path)
        _prune_empty_parents(file.parent, directory)
    return tuple(removed), tuple(kept)


def _prune_empty_parents(folder: Path, top: Path) -> None:
    while folder != top:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
