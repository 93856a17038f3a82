"""Build and render all files of a library."""

from __future__ import annotations

from opgen.diagnostics import Diagnostics, until_too_many
from opgen.emit.common.context import Context
from opgen.emit.tree import build_files
from opgen.io.resources import target_templates
from opgen.io.writer import Tree
from opgen.lints import suppress
from opgen.pipeline.checking import (
    allow_comments,
    check_target,
    check_unsupported,
    read_additions,
)
from opgen.pipeline.checking_python import check_python
from opgen.pipeline.derivatives import Gradients, check_derivatives, derive_gradients
from opgen.pipeline.inputs import Inputs, with_contents
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
    _report_options(inputs, diagnostics)
    return _checked_context(inputs, diagnostics)


def render_tree(context: Context, inputs: Inputs) -> Tree:
    """Generate the text of every file from what `checked_context` returned for `inputs`."""
    renderer = Renderer(*target_templates(context.target.plan.templates))
    files = renderer.render_all(build_files(context))
    header = manifest_header(context, files)
    return Tree(files, {**header, **recorded_options(inputs, context.library.extends)})


def _checked_context(inputs: Inputs, diagnostics: Diagnostics) -> Context | None:
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


def _report_options(inputs: Inputs, diagnostics: Diagnostics) -> None:
    """Report options that ask for files that the target does not have."""
    target = TARGETS[inputs.target]
    asked = (
        ("--extends", inputs.extends is not None, FileKind.TENSOR_BODY, "no class Tensor to share"),
    )
    for option, given, kind, lack in asked:
        if given and kind not in target.plan.kinds:
            message = f"target {target.name} has {lack}"
            diagnostics.error("E0910", message, None, hint=f"leave out {option}")
