"""Views and render: a tree of texts out."""

from __future__ import annotations

from collections.abc import Iterable

from opgen import pipeline
from opgen.additions import Additions
from opgen.codes_files import E0910
from opgen.cpp.signatures import Signatures
from opgen.dataclasses import dataclass, replace
from opgen.diagnostics import Diagnostics, until_too_many
from opgen.forking import beside
from opgen.lints import silence
from opgen.model.registry import Registry
from opgen.pipeline.checking import (
    allow_comments,
    check_refused,
    check_target,
    read_additions,
)
from opgen.pipeline.inputs import Inputs, with_contents
from opgen.pipeline.library import library_context, manifest_header
from opgen.pipeline.loading import read_registry
from opgen.render import Renderer
from opgen.resources import target_templates
from opgen.targets import TARGETS
from opgen.targets.base import FileKind
from opgen.views.base import FileView
from opgen.views.context import Context
from opgen.views.tree import build_kinds, build_last
from opgen.writer import Tree

# What a second process makes while this one checks the operators and makes the others: of PyTorch's file that
# is half of the work. Kinds that need the same signatures are on one side: these are all that hold the public C++
# ones, and others to make it a half, with the 0.04 s that their texts take to come back.
_BESIDE = frozenset(
    {
        FileKind.OPERATOR_FUNCTIONS,
        FileKind.OPERATOR_DISPATCH,
        FileKind.REDISPATCH,
        FileKind.TENSOR_BODY,
        FileKind.TENSOR_METHODS,
        FileKind.REGISTER_KEYS,
        FileKind.REGISTER_SCHEMA,
        FileKind.UMBRELLAS,
        FileKind.PYTHON,
        FileKind.PYTHON_FUNCTIONS,
    }
)
_HERE = frozenset(FileKind) - _BESIDE
# With fewer operators, a fork and the way of the texts back take as long as the texts themselves.
_MANY = 300


@until_too_many(lambda: None)
def build_tree(
    inputs: Inputs,
    diagnostics: Diagnostics,
    *,
    shards: int = 1,
    python: bool = False,
    marked: bool = False,
) -> Tree | None:
    """All generated texts; None if there are errors, which `diagnostics` then holds.

    They are `marked` for `render.items_of` on demand.
    """
    inputs = with_contents(inputs)
    _report_options(inputs, diagnostics)
    registry = read_registry(inputs, diagnostics)
    many = len(registry.functions) >= _MANY and not diagnostics.has_errors
    job = _Job(registry, inputs, shards, python, marked)
    with beside(job.texts_beside, worth=many) as texts_beside:
        context = _checked_context(job, diagnostics)
        if context is None:
            return None
        files = job.render(context, build_kinds(context, _HERE))
        others = texts_beside(lambda: job.render(context, build_kinds(context, _BESIDE)))
    assert not files.keys() & others.keys(), "one path of two kinds"
    files |= others
    files |= job.render(context, build_last(context, files))
    return Tree(files, manifest_header(context, files))


@dataclass(frozen=True, slots=True)
class _Job:
    """What texts are made of, before it is known that there are no errors."""

    registry: Registry
    inputs: Inputs
    shards: int
    python: bool
    marked: bool

    def texts_beside(self) -> dict[str, str]:
        """The files of the kinds _BESIDE; anything at all if there are errors, which nobody reads then."""
        diagnostics = Diagnostics()
        additions = read_additions(self.registry, self.inputs, diagnostics)
        context = self.context(additions, Signatures(), diagnostics)
        return {} if context is None else self.render(context, build_kinds(context, _BESIDE))

    def context(
        self, additions: Additions, signatures: Signatures, diagnostics: Diagnostics
    ) -> Context | None:
        context = library_context(
            self.registry, self.inputs, diagnostics, self.shards, additions, signatures
        )
        if context is None or not self.python:
            return context
        return replace(context, library=replace(context.library, python=True))

    def render(self, context: Context, views: Iterable[FileView]) -> dict[str, str]:
        templates = target_templates(context.target.templates)
        return Renderer(*templates, marked=self.marked).render_all(views)


def _checked_context(job: _Job, diagnostics: Diagnostics) -> Context | None:
    """What views are made of; None if there are errors."""
    registry, inputs = job.registry, job.inputs
    whole = None if diagnostics.has_errors else registry
    signatures = check_target(registry, inputs, diagnostics)
    if job.python:
        pipeline.check_python(registry, inputs, diagnostics)
    additions = read_additions(whole, inputs, diagnostics)
    check_refused(registry, inputs, diagnostics)
    silence(allow_comments(registry), diagnostics)
    if diagnostics.has_errors:
        return None
    context = job.context(additions, signatures, diagnostics)
    return None if diagnostics.has_errors else context


def _report_options(inputs: Inputs, diagnostics: Diagnostics) -> None:
    """Report options that ask for files that the target does not have."""
    target = TARGETS[inputs.target]
    asked = (
        ("--extends", inputs.extends is not None, FileKind.TENSOR_BODY, "no class Tensor to share"),
    )
    for option, given, kind, lack in asked:
        if given and kind not in target.files:
            message = f"target {target.name} has {lack}"
            diagnostics.error(E0910, message, None, hint=f"leave out {option}")
