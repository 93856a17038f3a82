"""Views and render: a tree of texts out."""

from __future__ import annotations

from dataclasses import replace

from opgen.codes_files import E0910
from opgen.diagnostics import Diagnostics, until_too_many
from opgen.lints import silence
from opgen.pipeline.checking import allow_comments, check_python, check_target, read_additions
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.library import library_context, manifest_header
from opgen.pipeline.loading import read_registry
from opgen.render import Renderer
from opgen.resources import templates_dir
from opgen.targets import TARGETS
from opgen.views.tree import build_views
from opgen.writer import Tree


@until_too_many(lambda: None)
def build_tree(
    inputs: Inputs, diagnostics: Diagnostics, *, shards: int = 1, python: bool = False
) -> Tree | None:
    """All generated texts; None if there are errors, which `diagnostics` then holds."""
    if not TARGETS[inputs.target].files:
        hint = "opgen dump shows its signatures and registrations"
        diagnostics.error(E0910, f"no C++ is made for target {inputs.target} yet", None, hint=hint)
    registry = read_registry(inputs, diagnostics)
    whole = None if diagnostics.has_errors else registry
    signatures = check_target(registry, inputs, diagnostics)
    if python:
        check_python(registry, inputs, diagnostics)
    additions = read_additions(whole, inputs, diagnostics)
    silence(allow_comments(registry), diagnostics)
    if diagnostics.has_errors:
        return None
    context = library_context(registry, inputs, diagnostics, shards, additions, signatures)
    if context is None or diagnostics.has_errors:
        return None
    if python:
        context = replace(context, library=replace(context.library, python=True))
    views = build_views(context)
    files = Renderer(templates_dir() / context.target.name).render_all(views)
    return Tree(files, manifest_header(context, files))
