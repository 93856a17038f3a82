"""Write a generated tree to a folder: change only files whose bytes differ, and remove only files that opgen wrote.

The manifest (`manifest.py`) says which files of a folder are opgen's. Everything that stands in the way, whether a link or
a file that opgen did not write, is reported before anything is touched. One run at a time writes to a folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct, field

from opgen.diagnostics import Diagnostics, until_too_many
from opgen.io.files import (
    FileState,
    Locked,
    folders_of,
    is_temporary,
    locked,
    place_new_folder,
    read_regular,
    remove_temporary,
    replace_file,
)
from opgen.io.manifest import (
    MANIFEST,
    MANIFEST_FORMAT,
    digest,
    is_safe_path,
    manifest_bytes,
    read_digests,
    read_manifest,
    write_digests,
)

# Returns those of the given paths whose contents opgen generates from the committed inputs: nobody edited them.
FindUnedited: TypeAlias = Callable[[Collection[str]], Collection[str]]


class Tree(Struct, frozen=True):
    """The output of a run: the text of each file by its path (posix, relative), and the manifest's other values."""

    files: Mapping[str, str]
    header: Mapping[str, Any]

    def contents(self) -> dict[str, bytes]:
        """Return the bytes of `files`."""
        return {path: text.encode() for path, text in self.files.items()}

    def manifest(self) -> dict[str, Any]:
        """Return the manifest of the tree as a JSON value."""
        return {"format": MANIFEST_FORMAT, **self.header, "files": sorted(self.files)}


class WriteReport(Struct, frozen=True):
    """Paths by what happened to them, each tuple sorted.

    `edited` and `unknown` are no longer generated but kept: somebody edited the former, and whether somebody edited the
    latter is unknown. `states` has the state of every file of the tree, and of the manifest, at the time when opgen
    compared or wrote its bytes.
    """

    written: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    states: Mapping[str, FileState] = field(default_factory=dict)


@until_too_many(WriteReport)
def write(
    tree: Tree,
    directory: Path,
    diagnostics: Diagnostics,
    find_unedited: FindUnedited = lambda _: (),
) -> WriteReport:
    """Make `directory` hold `tree`; report E09xx and touch nothing if that would lose something.

    `find_unedited` is asked about files that are no longer generated and have no digest in the folder.
    """
    try:
        if os.path.lexists(directory) and not os.path.isdir(directory):
            diagnostics.error("E0901", f"{directory} is not a directory", None)
            return WriteReport()
        directory.mkdir(parents=True, exist_ok=True)
        with locked(directory) as check_same:
            report = _write_locked(tree, directory, diagnostics, find_unedited, check_same)
            check_same()
            return report
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
    find_unedited: FindUnedited,
    check_same: Callable[[], None],
) -> WriteReport:
    check_same()
    for path in tree.files:
        # Names are checked where they are parsed; should a bad one pass, nothing is written outside of the folder.
        if not is_safe_path(path):
            message = f"cannot write {path!a}: it is not a path inside of {directory}"
            diagnostics.error("E0904", message, None)
    manifest = read_manifest(directory, diagnostics)
    if manifest is None or diagnostics.has_errors:
        return WriteReport()
    found = list_folders(directory, (*tree.files, *manifest.paths))
    # The files that a killed run had finished writing.
    pending = {
        path: wanted
        for path, wanted in manifest.pending.items()
        if path in found.files and _digest_of(directory, path) == wanted
    }
    own = manifest.files.union(pending)
    contents = tree.contents()
    reads = ((path, *read(f"{directory}/{path}")) for path in contents if path in found.files)
    states = {path: state for path, state, content in reads if content == contents[path]}
    changed = [path for path in contents if path not in states]
    _report_foreign_files(tree, changed, directory, own, found, diagnostics)
    if diagnostics.has_errors:
        return WriteReport()
    for path in found.temporaries:
        remove_temporary(f"{directory}/{path}")
    check_same()
    left_over = sorted(own.intersection(found.files) - tree.files.keys())
    kept = {**read_digests(directory), **pending}
    left = _inspect_left_over(directory, left_over, kept, find_unedited)
    new = {path: digest(content) for path, content in contents.items()}
    if changed or left.unedited:
        if pending:
            # The next manifest replaces them. If this run is killed, too, their digests must still be known.
            write_digests(directory, kept, required=True)
        pending = {path: new[path] for path in sorted(changed)}
        before = sorted(own.union(new.keys() - pending.keys()))
        begun = {**tree.manifest(), "files": before, "pending": pending}
        replace_file(directory / MANIFEST, manifest_bytes(begun))
    top = os.fspath(directory)
    written = _write_files(top, {path: contents[path] for path in changed}, found)
    removed = _remove(directory, left.unedited)
    # Before the new manifest: until that is written, what this run wrote is pending, so its digests are known.
    write_digests(directory, new)
    content = manifest_bytes(tree.manifest())
    state, old_content = read(f"{top}/{MANIFEST}")
    if old_content != content:
        state = replace_file(f"{top}/{MANIFEST}", content)
    return WriteReport(
        written=tuple(sorted(changed)),
        unchanged=tuple(sorted(states)),
        removed=removed,
        edited=left.edited,
        unknown=left.unknown,
        states={**states, **written, MANIFEST: state},
    )


class _LeftOver(Struct, frozen=True):
    """Files that are no longer generated: those to remove, with their digests, and those to keep."""

    unedited: Mapping[str, str]
    edited: tuple[str, ...]
    unknown: tuple[str, ...]


def _inspect_left_over(
    directory: Path, paths: Collection[str], kept: Mapping[str, str], find_unedited: FindUnedited
) -> _LeftOver:
    """Return the files that nobody has edited, by the digests `kept` or, without a digest, by `find_unedited`."""
    digests = {path: own for path in paths if (own := _digest_of(directory, path))}
    doubtful = [path for path in paths if path not in digests or digests[path] != kept.get(path)]
    if doubtful:
        # A file with another digest may be unedited, too: version control may have replaced it.
        found = find_unedited(doubtful)
        doubtful = [path for path in doubtful if path not in found]
    return _LeftOver(
        {path: digests[path] for path in digests.keys() - set(doubtful)},
        tuple(path for path in doubtful if path in kept),
        tuple(path for path in doubtful if path not in kept),
    )


_SUFFIXES = frozenset(
    (
        *(".cpp", ".cc", ".cxx", ".c", ".cu", ".mm", ".h", ".hh", ".hpp", ".cuh"),
        *(".py", ".pyi", ".yaml", ".yml"),
    )
)
# Enough names to recognise the folder.
_MOST_NAMED = 3
_MOST_SEEN = 10_000


def report_author_files(paths: Collection[str], directory: Path, diagnostics: Diagnostics) -> None:
    """Report W0920 if `directory` has sources of an author where the generated files `paths` will be.

    A folder with a manifest received generated files before, and is not reported again.
    """
    if os.path.lexists(directory / MANIFEST):
        return
    found = sorted(_sources(paths, directory))[: _MOST_NAMED + 1]
    if not found:
        return
    more = " and more" if len(found) > _MOST_NAMED else ""
    message = f"{directory} holds sources of your own: {', '.join(found[:_MOST_NAMED])}{more}"
    notes = [f"opgen changes none of them, and writes {len(paths)} files beside them"]
    hint = f"give -o a folder of its own, such as {directory / 'generated'}"
    diagnostics.warning("W0920", message, None, notes=notes, hint=hint)


def _sources(paths: Collection[str], directory: Path) -> Iterator[str]:
    """Yield the sources directly in the folder, and anywhere in the folders that receive generated files."""
    top = os.fspath(directory)
    folders = {path.partition("/")[0] for path in paths if "/" in path}
    seen = 0
    for folder, inner, files in os.walk(top):
        inside = os.path.relpath(folder, top)
        inner[:] = [name for name in inner if inside != "." or name in folders]
        for name in files:
            seen += 1
            path = os.path.normpath(os.path.join(inside, name)).replace(os.sep, "/")
            if os.path.splitext(name)[1] in _SUFFIXES and path not in paths:
                yield path
        if seen > _MOST_SEEN:
            return


class FoundFiles(Struct, frozen=True):
    """Files and subfolders of a tree, by their paths from the top.

    A symbolic link is neither a file nor a folder: it leads to something that is not opgen's.
    """

    files: frozenset[str]
    folders: frozenset[str]
    links: frozenset[str]
    others: frozenset[str]
    temporaries: tuple[str, ...]

    def other_kind(self, path: str) -> str | None:
        """Describe `path` if it is neither a file nor absent; otherwise return None."""
        if path in self.folders:
            return "a folder"
        if path in self.links:
            return "a link"
        return "not a regular file" if path in self.others else None


def list_folders(directory: Path, paths: Iterable[str]) -> FoundFiles:
    """List each folder of `paths` once, which costs less than a system call for each path."""
    wanted = folders_of(paths)
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
                if entry.is_symlink():
                    links.add(path)
                elif is_temporary(entry.name):
                    temporaries.append(path)
                elif entry.is_dir(follow_symlinks=False):
                    folders.add(path)
                elif not entry.is_file(follow_symlinks=False):
                    others.add(path)
                else:
                    files.add(path)
    return FoundFiles(
        frozenset(files),
        frozenset(folders),
        frozenset(links),
        frozenset(others),
        tuple(temporaries),
    )


def read(path: str) -> tuple[FileState, bytes | None]:
    """Return the state of a file and then its bytes, or None if it cannot be read or is not a regular file."""
    try:
        return read_regular(path)
    except OSError:
        return (0, 0, 0), None


def _digest_of(directory: Path, path: str) -> str:
    """Return the digest of a file; empty if it cannot be read or is not a regular file."""
    content = read(f"{directory}/{path}")[1]
    return "" if content is None else digest(content)


def _report_foreign_files(
    tree: Tree,
    changed: Iterable[str],
    directory: Path,
    own: Collection[str],
    found: FoundFiles,
    diagnostics: Diagnostics,
) -> None:
    """Report E0901 for every path that is taken by something that opgen did not write.

    A file that already has the right bytes is adopted, so it is not among the `changed`.
    """
    for folder in sorted(folders_of(tree.files) - {"."}):
        kind = "a file" if folder in found.files else found.other_kind(folder)
        if kind not in (None, "a folder"):
            message = f"{directory / folder} is {kind}, and a folder is needed there"
            diagnostics.error("E0901", message, None)
    for path in sorted((*changed, MANIFEST)):
        kind = found.other_kind(path)
        if kind is not None:
            message = f"{directory / path} is {kind}, and a file is to be written there"
            diagnostics.error("E0901", message, None)
            continue
        # Not from `found`: the file may be gone by now, and on a file system that does not distinguish Foo.h and foo.h
        # the list of its folder has the other name.
        exists = _folder_of(path) in found.folders and os.path.lexists(directory / path)
        if exists and path not in own and path != MANIFEST:
            message = f"{directory / path} was not written by opgen and would be overwritten"
            hint = "move it away, or generate into another directory"
            diagnostics.error("E0901", message, None, hint=hint)


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0] or "."


def _write_files(
    top: str, contents: Mapping[str, bytes], found: FoundFiles
) -> Mapping[str, FileState]:
    """Write files by their paths in `top`; return the state of each.

    A new folder is created with all of its files at once. For PyTorch's file, that takes two thirds of the time of writing
    file by file.
    """
    new_folders: dict[str, dict[str, bytes]] = {}
    states: dict[str, FileState] = {}
    for path, content in contents.items():
        parents = accumulate(path.split("/")[:-1], "{}/{}".format)
        # The outermost folder that is missing.
        folder = next((parent for parent in parents if parent not in found.folders), None)
        if folder is None:
            states[path] = replace_file(f"{top}/{path}", content)
        elif folder not in new_folders and os.path.lexists(f"{top}/{folder}"):
            # It was created after the folders were listed, or its name in the folder differs in case.
            os.makedirs(f"{top}/{_folder_of(path)}", exist_ok=True)
            states[path] = replace_file(f"{top}/{path}", content)
        else:
            new_folders.setdefault(folder, {})[path[len(folder) + 1 :]] = content
    for folder, files in new_folders.items():
        placed = place_new_folder(f"{top}/{folder}", files)
        states |= {f"{folder}/{path}": state for path, state in placed.items()}
    return states


def _remove(directory: Path, digests: Mapping[str, str]) -> tuple[str, ...]:
    """Remove the files that still have these digests, and folders that are empty then; return the files, sorted."""
    removed = []
    for path, wanted in sorted(digests.items()):
        if _digest_of(directory, path) != wanted:
            continue
        (directory / path).unlink()
        removed.append(path)
        with suppress(OSError):
            for folder in Path(path).parents[:-1]:
                (directory / folder).rmdir()
    return tuple(removed)
