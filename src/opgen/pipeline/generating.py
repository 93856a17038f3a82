"""Determine the library that is generated, and build and render all of its files, also from the inputs in git."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Collection, Container, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from opgen.cpp.signatures import Signatures
from opgen.data import target_templates
from opgen.diagnostics import Diagnostics, until_too_many
from opgen.emit.common.context import MODULE_SOURCE, Context, Library
from opgen.emit.tree import build_files
from opgen.io.files import MAX_BYTES
from opgen.io.writer import Tree, WriteReport, read, write
from opgen.lints import suppress
from opgen.model.cpp_words import is_library_name
from opgen.model.registry import Registry
from opgen.pipeline.checking import Additions, allow_comments, check
from opgen.pipeline.derivatives import Gradients
from opgen.pipeline.inputs import (
    Inputs,
    Overlay,
    input_files,
    is_backend_only,
    recorded_options,
    with_contents,
)
from opgen.pipeline.loading import check_library_name, read_bytes, read_registry
from opgen.targets import TARGETS, unsupported
from opgen.targets.base import FileKind, dotted
from opgen.templating.render import Renderer

_NO_ADDITIONS = Additions()
_NO_GRADIENTS = Gradients()


def library_context(
    registry: Registry,
    inputs: Inputs,
    diagnostics: Diagnostics,
    additions: Additions = _NO_ADDITIONS,
    signatures: Signatures | None = None,
    gradients: Gradients = _NO_GRADIENTS,
) -> Context | None:
    """Return what files are built from; report a missing or bad name, and return None."""
    backend = additions.backend
    extended = (
        None if inputs.extends is None else _extended(inputs.extends, inputs.overlay, diagnostics)
    )
    target, backend_only = TARGETS[inputs.target], is_backend_only(inputs)
    name = inputs.name
    if name is None and backend is not None and backend_only:
        name = backend.forward.key.lower()
    if name is None:
        name = _only_namespace(registry, diagnostics)
    if name is None or not check_library_name(name, diagnostics):
        return None
    for kernel in () if backend is None or extended is None else backend.kernels():
        if extended is not None and kernel.function.full_name not in extended.operators:
            message = f"library {extended.name} has no operator '{kernel.function.full_name}'"
            diagnostics.error("E0909", message, kernel.span)
    torch, required = "", target.required_package
    if target.serves_releases and required is not None:
        torch = inputs.torch or dotted(required.oldest)
    headers = None if extended is None else extended.name
    if extended is None and backend_only and target.installed is not None:
        headers = target.installed.headers
    library = Library(
        name,
        headers,
        inputs.shards,
        python=inputs.python,
        backend_only=backend_only,
        extends_python=extended is not None and extended.python,
        extended_tensor="" if extended is None else extended.tensor,
        torch=torch,
        frameworks=inputs.frameworks,
    )
    return Context(
        registry,
        target,
        library,
        backend,
        additions.selection,
        signatures or Signatures(),
        gradients.functions,
        gradients.files,
    )


class Extended(Struct, frozen=True):
    """A library that another extends: its name, the full names of its operators, whether it is a Python package, and its
    class Tensor; empty if it has none."""

    name: str
    operators: frozenset[str]
    python: bool
    tensor: str


def _extended(path: Path, overlay: Overlay, diagnostics: Diagnostics) -> Extended | None:
    """Read the manifest of a library; report one that cannot be used."""
    text = read_bytes(path, diagnostics, overlay, most=MAX_BYTES)
    if text is None:
        return None
    try:
        manifest = json.loads(text)
        name, tensor = manifest["name"], manifest["tensor"]
        operators = frozenset(manifest["operators"])
        python = MODULE_SOURCE in manifest["files"]
    except (ValueError, KeyError, TypeError, RecursionError):
        name, tensor, operators, python = None, "", frozenset(), False
    if not isinstance(name, str) or not is_library_name(name):
        diagnostics.error("E0902", f"{path} is not a manifest of a generated library", None)
        return None
    return Extended(name, operators, python, str(tensor))


def _only_namespace(registry: Registry, diagnostics: Diagnostics) -> str | None:
    """Return the namespace of all operators; report several namespaces, and return None."""
    namespaces = sorted({f.namespace for f in registry.functions})
    if len(namespaces) == 1:
        return namespaces[0]
    if not namespaces:
        return "empty"
    message = f"the operators have several namespaces ({', '.join(namespaces)}), so the library has no name"
    diagnostics.error("E0906", message, None, hint="give it one: --name NAME")
    return None


# What follows an operator's root name in the names of its headers.
_HEADERS = ("", "_ops", "_native", "_meta", "_dispatch")


def manifest_header(context: Context, files: Container[str]) -> dict[str, Any]:
    """Return the values of the manifest besides its list of `files`."""
    folder = f"include/{context.library.name}/ops"
    headers = {
        root: [path for end in _HEADERS if (path := f"{folder}/{root}{end}.h") in files]
        for root in context.roots
    }
    return {
        "name": context.library.name,
        "target": context.target.name,
        "runtime_abi": context.target.plan.runtime_abi,
        "tensor": context.own_tensor,
        "operators": {
            f.full_name: {"schema": str(f.func), "files": headers[f.root_name]}
            for f in context.registry.functions
            if context.keeps(f) and not context.library.backend_only
        },
    }


@until_too_many(lambda: None)
def build_tree(inputs: Inputs, diagnostics: Diagnostics) -> Tree | None:
    """Generate the text of every file; return None if there are errors, which `diagnostics` then holds."""
    inputs = with_contents(inputs)
    context = generated_context(inputs, diagnostics)
    return None if context is None else render_tree(context, inputs)


def generated_context(inputs: Inputs, diagnostics: Diagnostics) -> Context | None:
    """Do as `checked_context`, and report formulas that the files would leave out."""
    context = checked_context(inputs, diagnostics)
    if context is None:
        return None
    if FileKind.PYTHON_REGISTRATIONS in context.target.plan.kinds and not inputs.python:
        unsupported.report_missing_package(context.target, context.gradients, diagnostics)
    return None if diagnostics.has_errors else context


@until_too_many(lambda: None)
def checked_context(inputs: Inputs, diagnostics: Diagnostics) -> Context | None:
    """Read and check everything that files are generated from; return None if there are errors."""
    target = TARGETS[inputs.target]
    if inputs.extends is not None and FileKind.TENSOR_BODY not in target.plan.kinds:
        message = f"target {target.name} has no class Tensor to share"
        diagnostics.error("E0910", message, None, hint="leave out --extends")
    registry = read_registry(inputs, diagnostics)
    found = check(registry, inputs, diagnostics)
    if diagnostics.has_warnings:
        suppress(allow_comments(registry), diagnostics)
    if diagnostics.has_errors:
        return None
    parts = found.additions, found.signatures, found.gradients
    context = library_context(registry, inputs, diagnostics, *parts)
    return None if diagnostics.has_errors else context


def render_tree(context: Context, inputs: Inputs) -> Tree:
    """Generate the text of every file from what `checked_context` returned for `inputs`."""
    renderer = Renderer(*target_templates(context.target.plan.templates))
    files = renderer.render_all(build_files(context))
    header = manifest_header(context, files)
    return Tree(files, {**header, **recorded_options(inputs, context.library.extends)})


_PATIENCE_S = 30.0


def write_tree(
    tree: Tree, inputs: Inputs, directory: Path, diagnostics: Diagnostics
) -> WriteReport:
    """Write the tree that was generated from `inputs` as `writer.write` does, also in a clone."""
    return write(
        tree,
        directory,
        diagnostics,
        find_unedited=lambda paths: find_unedited(inputs, directory, paths),
    )


def find_unedited(inputs: Inputs, directory: Path, paths: Collection[str]) -> Collection[str]:
    """Return those of `paths`, files in `directory`, that hold what opgen generates from inputs in git.

    The inputs are those of the last commit, then those of the last commit that changed one of the files. Without git, a
    repository or such commits, nothing is found.
    """
    last = _git(directory, "rev-list", "-1", "HEAD", "--", *paths) or b""
    found: set[str] = set()
    for commit in ("HEAD", *last.decode().split()):
        files = input_files(inputs) if len(found) < len(paths) else ()
        blobs = {f: _git(f.parent, "cat-file", "blob", f"{commit}:./{f.name}") for f in files}
        contents = {path: content for path, content in blobs.items() if content is not None}
        if not files or len(contents) < len(blobs):
            continue
        earlier = replace(inputs, overlay={**inputs.overlay, **contents})
        tree = build_tree(earlier, Diagnostics())
        made = {} if tree is None else tree.contents()
        found |= {p for p in paths if p in made and read(f"{directory}/{p}")[1] == made[p]}
    return found


def _git(folder: Path, *arguments: str) -> bytes | None:
    """Return the output of a git command, run in `folder`; None if it fails or there is no git."""
    git = shutil.which("git")
    if git is None:
        return None
    command: Sequence[str] = (git, "-C", os.fspath(folder), *arguments)
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=_PATIENCE_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return None if done.returncode else done.stdout
