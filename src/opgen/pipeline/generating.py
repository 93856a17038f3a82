"""Views and render: a tree of texts out."""

from __future__ import annotations

from dataclasses import replace

from opgen.codes_files import E0910
from opgen.diagnostics import Diagnostics, until_too_many
from opgen.lints import silence
from opgen.pipeline.checking import allow_comments, check_python, check_target, read_additions
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.installed import is_backend_only
from opgen.pipeline.library import library_context, manifest_header
from opgen.pipeline.loading import read_registry
from opgen.render import Renderer
from opgen.resources import target_templates
from opgen.targets import TARGETS, refusals
from opgen.targets.base import FileKind
from opgen.views.tree import build_views
from opgen.writer import Tree


@until_too_many(lambda: None)
def build_tree(
    inputs: Inputs, diagnostics: Diagnostics, *, shards: int = 1, python: bool = False
) -> Tree | None:
    """All generated texts; None if there are errors, which `diagnostics` then holds."""
    _report_options(inputs, python, diagnostics)
    registry = read_registry(inputs, diagnostics)
    whole = None if diagnostics.has_errors else registry
    signatures = check_target(registry, inputs, diagnostics)
    if python:
        check_python(registry, inputs, diagnostics)
    additions = read_additions(whole, inputs, diagnostics)
    if is_backend_only(inputs):
        refusals.report_not_installed(registry, TARGETS[inputs.target], diagnostics)
    else:
        refusals.report_refused(registry, TARGETS[inputs.target], diagnostics)
    silence(allow_comments(registry), diagnostics)
    if diagnostics.has_errors:
        return None
    context = library_context(registry, inputs, diagnostics, shards, additions, signatures)
    if context is None or diagnostics.has_errors:
        return None
    if python:
        context = replace(context, library=replace(context.library, python=True))
    views = build_views(context)
    files = Renderer(*target_templates(context.target.templates)).render_all(views)
    return Tree(files, manifest_header(context, files))


def _report_options(inputs: Inputs, python: bool, diagnostics: Diagnostics) -> None:
    """Report options that ask for files that the target does not have."""
    target = TARGETS[inputs.target]
    asked = (
        ("--python", python, FileKind.PYTHON, "no Python package"),
        ("--extends", inputs.extends is not None, FileKind.TENSOR_BODY, "no class Tensor to share"),
        ("--select", bool(inputs.select), FileKind.SELECTED_DTYPES, "no selective builds"),
    )
    for option, given, kind, lack in asked:
        if given and kind not in target.files:
            message = f"target {target.name} has {lack}"
            diagnostics.error(E0910, message, None, hint=f"leave out {option}")
