"""Which cases of a large test run for a change: a share that moves with each commit, and all that the change touches.

A test marked `sampled(parts)` has a case for each operator. Each case belongs to one of `parts` parts, and each commit
runs the next part, so that what one commit leaves out runs for a later one; .ci/nightly runs all (`--whole`).

`--changed BASE` also runs all cases of the operators that changed since BASE: those whose kernels are in a changed file,
or in a source that includes a changed header of kernels/, and those whose entries or formulas changed. What all
operators share (the runtime, the generator, a header of kernels/ that most sources include) is left to the sample, which
calls it for hundreds of operators.
"""

from __future__ import annotations

import re
import subprocess
import zlib
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

from support.build import REPOSITORY
from support.library import own_registry

_KERNELS = REPOSITORY / "kernels"
_WORD = re.compile(r"\w+")
_INCLUDE = re.compile(r'#include "([^"]+)"')


def keep_sample(
    items: list[pytest.Item], changed: str | None
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Divide the collected tests into those that run for this commit and those that do not."""
    if not any(item.get_closest_marker("sampled") for item in items):
        return items, []
    part = commit_number()
    touched, files = touched_since(changed) if changed else (frozenset(), frozenset())
    kept, left = [], []
    for item in items:
        runs = in_part(item, part) or item.path in files or _operator(item) in touched
        (kept if runs else left).append(item)
    return kept, left


def commit_number() -> int:
    """Return how many commits led to this one; 0 outside of a repository."""
    return int(_git("rev-list", "--count", "HEAD") or 0)


def in_part(item: pytest.Item, part: int) -> bool:
    """Return whether a case runs for the commit with this number. Tests without the mark always run."""
    marker = item.get_closest_marker("sampled")
    return marker is None or (zlib.crc32(item.nodeid.encode()) + part) % marker.args[0] == 0


def touched_since(base: str) -> tuple[frozenset[str], frozenset[Path]]:
    """Return the operators, and the files of tests, that changed since the commit `base` or are not committed.

    Raises a UsageError if git does not know `base`.
    """
    listed = _git("diff", "--name-only", base)
    if listed is None:
        raise pytest.UsageError(f"--changed {base}: git does not know this commit")
    listed += _git("ls-files", "--others", "--exclude-standard") or ""
    changed = {REPOSITORY / name for name in listed.splitlines()}
    operators = _entries_changed(base, "native_functions.yaml", "func")
    operators |= _entries_changed(base, "derivatives.yaml", "name")
    operators |= operators_of(
        _sources_touched({path for path in changed if path.parent == _KERNELS})
    )
    return frozenset(operators), frozenset(changed)


def operators_of(sources: Iterable[Path]) -> set[str]:
    """Return the operators for which one of these sources may have a kernel: it contains the kernel's name.

    If no source contains the names of an operator's kernels, because macros or opgen make them, the operator's own name
    is looked for.
    """
    words, every = _words(sources), _words(_KERNELS.glob("*.cpp"))
    found, delegates = set(), {}
    for f in own_registry().functions:
        name = str(f.func.name)
        kernels = {kernel.name for _, kernel in f.dispatch}
        if not kernels & every:
            base = f.func.name.name.base
            kernels = {name.replace(".", "_"), base, base.removesuffix("_copy"), f"{base}_symint"}
        if f.structured_delegate is not None:
            delegates[name] = str(f.structured_delegate)
        elif kernels & words:
            found.add(name)
    return found | {name for name, out in delegates.items() if out in found}


def _words(sources: Iterable[Path]) -> set[str]:
    return {word for path in sources for word in _WORD.findall(path.read_text())}


def _sources_touched(changed: set[Path]) -> set[Path]:
    """Return the sources of kernels that changed, or that include a changed header, directly or through another."""
    included = {
        path: {_KERNELS / name for name in _INCLUDE.findall(path.read_text())}
        for path in _KERNELS.iterdir()
    }
    sources = {path for path in included if path.suffix == ".cpp"}
    touched = set()
    for one in changed & included.keys():
        found = {one}
        while more := {path for path, headers in included.items() if headers & found} - found:
            found |= more
        if one in sources or len(found & sources) * 2 <= len(sources):
            touched |= found & sources
    return touched


def _entries_changed(base: str, file: str, key: str) -> set[str]:
    """Return the names of the entries of a YAML file that the commit `base` does not have like this."""
    now = (REPOSITORY / file).read_text()
    before = _git("show", f"{base}:{file}") or ""
    if now == before:
        return set()
    old = {repr(entry) for entry in yaml.load(before, yaml.CSafeLoader) or ()}
    entries = yaml.load(now, yaml.CSafeLoader)
    return {_name(e[key]) for e in entries if key in e and repr(e) not in old}


def _name(schema: str) -> str:
    return schema.partition("(")[0].rpartition("::")[2]


def _operator(item: pytest.Item) -> str | None:
    """Return the operator of a case, the value of its parameter `overload`."""
    parameters = getattr(item, "callspec", None)
    return parameters.params.get("overload") if parameters else None


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(REPOSITORY), *words], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None
