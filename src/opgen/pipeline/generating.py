"""Build and render all files of a library, also from the inputs in git."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from opgen.diagnostics import Diagnostics, until_too_many
from opgen.emit.common.context import Context
from opgen.emit.tree import build_files
from opgen.io.resources import target_templates
from opgen.io.writer import Tree, WriteReport, read, write
from opgen.lints import suppress
from opgen.pipeline.checking import (
    allow_comments,
    check_python,
    check_target,
    check_unsupported,
    read_additions,
)
from opgen.pipeline.derivatives import Gradients, check_derivatives, derive_gradients
from opgen.pipeline.inputs import Inputs, input_files, with_contents
from opgen.pipeline.library import library_context, manifest_header
from opgen.pipeline.loading import read_registry
from opgen.pipeline.run_options import recorded_options
from opgen.targets import TARGETS, unsupported
from opgen.targets.base import FileKind
from opgen.templating.render import Renderer


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
    whole = None if diagnostics.has_errors else registry
    signatures = check_target(registry, inputs, diagnostics)
    if inputs.python:
        check_python(registry, inputs, diagnostics)
    additions = read_additions(whole, inputs, diagnostics)
    gradients = Gradients()
    if whole is None:
        check_derivatives(whole, inputs, signatures, diagnostics)
    else:
        gradients = derive_gradients(whole, inputs, signatures, diagnostics)
    check_unsupported(registry, inputs, diagnostics)
    suppress(allow_comments(registry), diagnostics)
    if diagnostics.has_errors:
        return None
    context = library_context(registry, inputs, diagnostics, additions, signatures, gradients)
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
    found: set[str] = set()
    for commit in _commits(directory, paths):
        earlier = _inputs_at(commit, inputs) if len(found) < len(paths) else None
        tree = None if earlier is None else build_tree(earlier, Diagnostics())
        contents = {} if tree is None else tree.contents()
        for path in paths:
            if path in contents and read(f"{directory}/{path}")[1] == contents[path]:
                found.add(path)
    return found


def _commits(directory: Path, paths: Collection[str]) -> Iterator[str]:
    yield "HEAD"
    last = _git(directory, "rev-list", "-1", "HEAD", "--", *paths)
    if last:
        yield last.decode().strip()


def _inputs_at(commit: str, inputs: Inputs) -> Inputs | None:
    """Return the inputs with the contents that their files have in `commit`; None if one of the files is not in it."""
    contents = {}
    for path in input_files(inputs):
        content = _git(path.parent, "cat-file", "blob", f"{commit}:./{path.name}")
        if content is None:
            return None
        contents[path] = content
    return replace(inputs, overlay={**inputs.overlay, **contents})


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
