"""Which slow tests run for a change: a share that moves with each commit, and what the change touches.

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
from collections.abc import Collection, Iterable
from pathlib import Path

import pytest
import yaml

from support.build import REPOSITORY
from support.library import own_registry

# The slow tests of these files, most of which build whole packages, take turns: each commit runs one group, and all of a
# file that changed. The groups take about equal time.
_IN_TURN = (
    """
    differential/parity/test_differential
    integration/run/test_gradient_table
    integration/run/test_mistakes
    integration/run/test_myadd_example
    integration/run/test_python_gradients
    integration/run/test_rebuilds
    integration/run/test_stable_gradients
    integration/run/test_torch_gradients
    integration/run/test_train_example
    integration/run/test_vec_math
    integration/verify/test_verify_command
    robust/test_any_bytes
    """,
    """
    differential/numerics/test_composite_compliance
    differential/parity/test_python_signatures
    integration/lsp/test_any_session
    integration/run/test_compiled_parts
    integration/run/test_installed_runtime
    integration/run/test_tensor_functions
    integration/run/test_torch_derived
    integration/run/test_torch_library
    integration/run/test_torch_traced
    integration/verify/test_seeded_defects
    robust/property/test_formatting_libraries
    """,
    """
    differential/parity/test_runtime_schemas
    integration/cli/test_build
    integration/compile/test_awkward_names
    integration/compile/test_stable_compile
    integration/run/test_build_steps
    integration/run/test_cuda_example
    integration/run/test_guides
    integration/run/test_privateuse1_example
    integration/run/test_stub_checkers
    integration/run/test_torch_aten
    integration/run/test_torch_backend
    robust/test_hunt_kills
    """,
    """
    differential/importing/test_compared_with_torch
    differential/numerics/test_overlap
    integration/run/test_build_farms
    integration/run/test_formula_stubs
    integration/run/test_new_package
    integration/run/test_python_module
    integration/run/test_python_wheel
    integration/run/test_torch_loading
    integration/run/test_torch_schemas
    integration/run/test_torch_symbolic
    integration/verify/test_verify_processes
    robust/test_hostile_names
    """,
    """
    integration/compile/test_runtime_tests
    integration/run/test_adopt_example
    integration/run/test_docs_of_torch
    integration/run/test_get_started
    integration/run/test_libraries
    integration/run/test_own_wheel
    integration/run/test_tensor_objects
    integration/run/test_torch_cuda
    robust/test_any_command
    robust/test_any_sources
    unit/edits/test_every_fix
    """,
)
_TURN = {
    REPOSITORY / "tests" / f"{name}.py": turn
    for turn, names in enumerate(_IN_TURN)
    for name in names.split()
}
_KERNELS = REPOSITORY / "kernels"
_WORD = re.compile(r"\w+")
_INCLUDE = re.compile(r'#include "([^"]+)"')


def keep_sample(
    items: list[pytest.Item], changed: str | None, named: Collection[Path] = ()
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Divide the collected tests into those that run for this commit and those that do not. The files `named` do not
    wait for their turn."""
    if not any(item.get_closest_marker("slow") for item in items):
        return items, []
    part = commit_number()
    touched, files = touched_since(changed) if changed else (frozenset(), frozenset())
    kept, left = [], []
    for item in items:
        runs = in_part(item, part) or item.path in files or _operator(item) in touched
        runs = runs or (item.path in named and item.get_closest_marker("sampled") is None)
        (kept if runs else left).append(item)
    return kept, left


def commit_number() -> int:
    """Return how many commits led to this one; 0 outside of a repository."""
    return int(_git("rev-list", "--count", "HEAD") or 0)


def in_part(item: pytest.Item, part: int) -> bool:
    """Return whether a test runs for the commit with this number. Those that are neither sampled nor take turns do."""
    marker = item.get_closest_marker("sampled")
    if marker is not None:
        return bool((zlib.crc32(item.nodeid.encode()) + part) % marker.args[0] == 0)
    is_always = item.path not in _TURN or item.get_closest_marker("slow") is None
    return is_always or _TURN[item.path] == part % len(_IN_TURN)


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
