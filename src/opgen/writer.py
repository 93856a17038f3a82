"""Texts into files: only what changed is touched, and only what opgen wrote is ever removed.

The manifest (`opgen_manifest.json`) says which files of a directory are opgen's, with the digest of
the bytes it wrote. It is written first with the union of the old and the new paths and last with the
new list, so that files of an interrupted run are never taken for somebody else's.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from opgen.diagnostics import Diagnostics

MANIFEST = "opgen_manifest.json"
MANIFEST_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Tree:
    """What one run makes: texts by path (posix, relative), and the manifest's other fields."""

    files: Mapping[str, str]
    header: Mapping[str, Any]

    def manifest(self) -> dict[str, Any]:
        """The manifest as a value: `header` and the digest of every file, sorted by path."""
        files = {path: digest(text.encode()) for path, text in sorted(self.files.items())}
        return {"format": MANIFEST_FORMAT, **self.header, "files": files}


@dataclass(frozen=True, slots=True)
class WriteReport:
    """Paths by what happened to them, each tuple sorted."""

    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stale:
    """One path on which a directory differs from what would be generated."""

    path: str
    kind: str  # "stale", "missing" or "left over"
    diff: str


def digest(data: bytes) -> str:
    """SHA-256 of `data`, in hexadecimal, shortened to 128 bits."""
    return hashlib.sha256(data).hexdigest()[:32]


def write(tree: Tree, directory: Path, diagnostics: Diagnostics) -> WriteReport:
    """Make `directory` hold `tree`; report E09xx and touch nothing if that would lose something."""
    old = _read_manifest(directory, diagnostics)
    _refuse_foreign_files(tree, directory, old, diagnostics)
    if diagnostics.has_errors:
        return WriteReport((), (), (), ())
    try:
        return _write_all(tree, directory, old)
    except OSError as error:
        diagnostics.error(
            "E0904", f"cannot write {error.filename or directory}: {error.strerror}", None
        )
        return WriteReport((), (), (), ())


def compare(tree: Tree, directory: Path, diagnostics: Diagnostics) -> tuple[Stale, ...]:
    """Every path on which `directory` is not what `tree` would make of it; reads every byte."""
    old = _read_manifest(directory, diagnostics)
    wanted = {**tree.files, MANIFEST: _manifest_text(tree.manifest())}
    stale = []
    for path in sorted({*wanted, *old}):
        actual = _read_text(directory / path)
        if path not in wanted:
            if actual is not None:
                stale.append(Stale(path, "left over", ""))
        elif actual is None:
            stale.append(Stale(path, "missing", ""))
        elif actual != wanted[path]:
            stale.append(Stale(path, "stale", _unified_diff(path, actual, wanted[path])))
    return tuple(stale)


def _write_all(tree: Tree, directory: Path, old: Mapping[str, str]) -> WriteReport:
    manifest = tree.manifest()
    new: dict[str, str] = manifest["files"]
    directory.mkdir(parents=True, exist_ok=True)
    changed = [path for path, text in tree.files.items() if not _holds(directory / path, text)]
    left_over = sorted(set(old) - set(new))
    manifest_text = _manifest_text(manifest)
    if changed or left_over:
        union = {**manifest, "files": dict(sorted({**old, **new}.items()))}
        _replace(directory / MANIFEST, _manifest_text(union))
    for path in changed:
        _replace(directory / path, tree.files[path])
    removed, kept = _remove(directory, left_over, old)
    if not _holds(directory / MANIFEST, manifest_text):
        _replace(directory / MANIFEST, manifest_text)
    return WriteReport(
        tuple(sorted(changed)), tuple(sorted(set(new) - set(changed))), removed, kept
    )


def _remove(
    directory: Path, paths: list[str], old: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Remove `paths`, but keep a file whose bytes are no longer those that opgen wrote."""
    removed, kept = [], []
    for path in paths:
        file = directory / path
        if not file.is_file():
            continue
        if digest(file.read_bytes()) != old[path]:
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


def _replace(path: Path, text: str) -> None:
    """Write by temporary file and rename, so that a reader never meets half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".opgen-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
        # mkstemp makes the file private; a generated source is as readable as any other.
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _holds(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == text.encode()
    except OSError:
        return False


def _read_text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:
        return None


def _manifest_text(manifest: Mapping[str, Any]) -> str:
    return json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _read_manifest(directory: Path, diagnostics: Diagnostics) -> dict[str, str]:
    """Path to digest as the directory's manifest has it; empty where there is none."""
    path = directory / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        diagnostics.error(
            "E0902",
            f"{path} cannot be read ({type(error).__name__})",
            None,
            hint="move it away, or generate into another directory",
        )
        return {}
    problem = _manifest_problem(manifest)
    if problem:
        diagnostics.error(
            "E0902",
            f"{path} is not a manifest of this opgen: {problem}",
            None,
            hint="move it away, or generate into another directory",
        )
        return {}
    files: dict[str, str] = manifest["files"]
    return files


def _manifest_problem(manifest: object) -> str | None:
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        return "it has no list of files"
    if manifest.get("format") != MANIFEST_FORMAT:
        return f"its format is {manifest.get('format')!r}, not {MANIFEST_FORMAT}"
    for path, value in manifest["files"].items():
        if not isinstance(value, str) or not is_safe_path(path):
            return f"{path!r} is no path inside the directory"
    return None


def is_safe_path(path: str) -> bool:
    """Whether `path` is relative, in normal form, and stays inside its directory."""
    pure = PurePosixPath(path)
    return (
        not pure.is_absolute()
        and ".." not in pure.parts
        and str(pure) == path
        and "\\" not in path
        and "\0" not in path
        and path != "."
    )


def _refuse_foreign_files(
    tree: Tree, directory: Path, old: Mapping[str, str], diagnostics: Diagnostics
) -> None:
    """E0901 for every path that is taken by something opgen did not write.

    A file whose bytes equal what would be written is adopted.
    """
    if directory.exists() and not directory.is_dir():
        diagnostics.error("E0901", f"{directory} is not a directory", None)
        return
    for path in sorted(tree.files):
        file = directory / path
        blocked = next(
            (p for p in _parents(file, directory) if p.exists() and not p.is_dir()), None
        )
        if blocked is not None:
            diagnostics.error("E0901", f"{blocked} is a file, and a folder is needed there", None)
        elif file.is_dir():
            diagnostics.error(
                "E0901", f"{file} is a folder, and a file is to be written there", None
            )
        elif file.exists() and path not in old and not _holds(file, tree.files[path]):
            diagnostics.error(
                "E0901",
                f"{file} was not written by opgen and would be overwritten",
                None,
                hint="move it away, or generate into another directory",
            )


def _parents(file: Path, top: Path) -> Iterator[Path]:
    folder = file.parent
    while folder != top and folder != folder.parent:
        yield folder
        folder = folder.parent


def _unified_diff(path: str, old: str, new: str) -> str:
    lines = difflib.unified_diff(
        old.splitlines(keepends=True),
        new.splitlines(keepends=True),
        fromfile=f"{path} (on disk)",
        tofile=f"{path} (generated)",
    )
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)
