"""Answer queries about a registry or opgen: explanations, derived values, skeletons, coverage, JSON Schemas."""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from opgen import data
from opgen.autograd.kernels import GradientKind, GradientTable
from opgen.cpp.signatures import Signatures
from opgen.data import target_templates, templates_dir
from opgen.diagnostics import Diagnostics, describe, known_codes, until_too_many
from opgen.diagnostics.properties import NAMES
from opgen.diagnostics.suggestions import Vocabulary, did_you_mean, shorten
from opgen.emit.common.base import GeneratedFile, Item, generated
from opgen.emit.common.context import Context, Library, collect_composite_kernels
from opgen.emit.kernels.stubs import build_skeletons
from opgen.emit.reports.coverage import CoveredOperator, build_coverage, coverage_values
from opgen.emit.reports.dump import derivative_rows, dump_rows
from opgen.emit.reports.explain import build_code_page, build_explanation, build_summary
from opgen.emit.reports.json_schema import (
    build_derivatives_schema,
    build_json_schema,
    build_tags_schema,
)
from opgen.model.native_function import KernelSource, NativeFunction
from opgen.model.registry import Registry
from opgen.model.selector import Mention, find_mentioned
from opgen.parse.operator_names import parse_operator_list, parse_registrations, parse_trace
from opgen.pipeline.checking import read_additions
from opgen.pipeline.derivatives import derive_gradients
from opgen.pipeline.generating import library_context
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.loading import load, read_source, read_tags
from opgen.python.operator_calls import operator_call
from opgen.resolve.computed_table import Coverage, CoverageTable
from opgen.targets import TARGETS
from opgen.templating.render import Renderer


def _build_selection_list(registry: Registry, wanted: Set[str]) -> str:
    """Return the operators `wanted` (full names) as root operators, and those that their generated kernels call."""
    kernels = collect_composite_kernels(registry)
    sources = {k.function.full_name: k.source.full_name for k in kernels}
    every, pending = set[str](), list(wanted)
    while pending:
        name = pending.pop()
        if name not in every:
            every.add(name)
            pending += [sources[name]] if name in sources else []
    lines = [f"# {len(every)} of {len(registry.functions)} operators."]
    lines.append("operators:" if wanted else "operators: {}")
    for name in sorted(every):
        lines.append(f"  {name}:")
        lines += [] if name in wanted else ["    is_root_operator: False"]
        lines.append("    include_all_overloads: False")
    return "\n".join([*lines, ""])


def _build_python_skeletons(context: Context, operators: frozenset[str]) -> GeneratedFile:
    """Return the text of an ops.py with an empty function for every operator of `operators` with rows `python`."""
    words = context.target.call_words
    functions = []
    for f in context.registry.functions:
        keys = [k.name for k, kernel in f.dispatch if kernel.source is KernelSource.python]
        if keys and words is not None and f.full_name in operators:
            # Keys as PyTorch spells them, and the signature after the name.
            declaration = operator_call(f, words).help_text()
            functions.append(Item(operator=f.full_name, keys=tuple(keys), declaration=declaration))
    return generated("", "skeletons.py.j2", functions=tuple(functions))


# The files that `json_schema` has a schema for.
SCHEMAS = ("native_functions", "derivatives", "tags", "diagnostics")


@until_too_many(list[dict[str, Any]])
def dump(
    registry: Registry,
    inputs: Inputs,
    stage: str,
    operator: str | None,
    extra: bool,
    diagnostics: Diagnostics,
) -> list[dict[str, Any]]:
    """Return the values derived up to `stage` as JSON values, for one operator or for all."""
    target = TARGETS[inputs.target]
    additions = read_additions(registry, inputs, diagnostics)
    wanted = None if operator is None else _find(registry, operator, diagnostics)
    if stage == "derivatives":
        gradients = derive_gradients(registry, inputs, Signatures(), diagnostics).functions
        if diagnostics.has_errors:
            return []
        torchgen = TARGETS["torch"].cpp.spelling
        return derivative_rows(gradients, target.cpp.spelling, torchgen, wanted)
    if diagnostics.has_errors:
        return []
    backend, selection = additions.backend, additions.selection
    return dump_rows(
        registry, target, stage, wanted, extra=extra, backend=backend, selection=selection
    )


@until_too_many(str)
def explain(registry: Registry, inputs: Inputs, operator: str, diagnostics: Diagnostics) -> str:
    """Describe everything that follows from the entries of one operator."""
    # The name of the library appears only in the paths of headers.
    if inputs.name is None and len({f.namespace for f in registry.functions}) > 1:
        inputs = replace(inputs, name="NAME")
    signatures = Signatures()
    gradients = derive_gradients(registry, inputs, signatures, diagnostics)
    context = library_context(
        registry, inputs, diagnostics, signatures=signatures, gradients=gradients
    )
    functions = _find(registry, operator, diagnostics)
    if context is None or diagnostics.has_errors:
        return ""
    renderer = Renderer(templates_dir() / "text")
    return "\n".join(renderer.render(build_explanation(context, f)) for f in functions)


def summarize(registry: Registry, inputs: Inputs, f: NativeFunction) -> str:
    """Summarize what follows from the entry of one operator, in Markdown for an editor."""
    gradients = derive_gradients(registry, inputs, Signatures(), Diagnostics())
    library = Library(inputs.name or f.namespace)
    target = TARGETS[inputs.target]
    context = Context(registry, target, library, gradients=gradients.functions)
    return Renderer(templates_dir() / "text").render(build_summary(context, f))


@until_too_many(str)
def skeletons(
    registry: Registry, inputs: Inputs, operators: Sequence[str], diagnostics: Diagnostics
) -> str:
    """Return skeletons of the kernels and of the functions of formulas, for the named operators or for all."""
    additions = read_additions(registry, inputs, diagnostics)
    signatures = Signatures()
    gradients = derive_gradients(registry, inputs, signatures, diagnostics)
    context = library_context(registry, inputs, diagnostics, additions, signatures, gradients)
    found = [f for name in operators for f in _find(registry, name, diagnostics)]
    if context is None or diagnostics.has_errors:
        return ""
    names = frozenset(f.full_name for f in found or registry.functions)
    renderer = Renderer(*target_templates(context.target.plan.templates))
    in_cpp, in_python = build_skeletons(context, names), _build_python_skeletons(context, names)
    has_kernels = vars(in_cpp)["functions"] or vars(in_cpp)["formula_functions"]
    only_python = vars(in_python)["functions"] and not has_kernels
    return renderer.render(in_python if only_python else in_cpp)


@until_too_many(str)
def selection_list(
    registry: Registry,
    inputs: Inputs,
    operators: Sequence[str],
    registrations: Sequence[Path],
    traces: Sequence[Path],
    diagnostics: Diagnostics,
) -> str:
    """Return a selective-build YAML of all operators that are named, registered, called, or selected by `inputs`."""
    mentions: list[Mention] = []
    for paths, parse in ((registrations, parse_registrations), (traces, parse_trace)):
        sources = (read_source(path, diagnostics, inputs.overlay) for path in paths)
        mentions += (m for source in sources if source is not None for m in parse(source))
    wanted = find_mentioned(registry, mentions, diagnostics)
    wanted |= {f.full_name for name in operators for f in _find(registry, name, diagnostics)}
    selection = read_additions(registry, inputs, diagnostics).selection
    wanted |= frozenset() if selection is None else selection.operators
    return "" if diagnostics.has_errors else _build_selection_list(registry, wanted)


def _find(registry: Registry, name: str, diagnostics: Diagnostics) -> tuple[NativeFunction, ...]:
    """Find the operators called `name`: with or without namespace, one overload or all; report it if there is none."""
    found = tuple(f for f in registry.functions if name in _names(f))
    if not found:
        hint = did_you_mean(name, [n for f in registry.functions for n in _names(f)])
        diagnostics.error("E0908", f"there is no operator '{name}'", None, hint=hint)
    return found


def _names(f: NativeFunction) -> tuple[str, ...]:
    own = str(f.func.name)
    base = str(f.func.name.name)
    return (own, base, f.root_name, f.full_name, f"{f.namespace}::{base}")


def explain_code(name: str) -> str | None:
    """Return the page of a diagnostic code, or of a property's; None if there is no such code."""
    if name not in known_codes() and name not in NAMES:
        return None
    return Renderer(templates_dir() / "text").render(build_code_page(describe(name)))


def json_schema(
    what: str, tags: Path | None, diagnostics: Diagnostics, *, strict_torchgen: bool = False
) -> dict[str, Any]:
    """Return the JSON Schema of one of SCHEMAS. Entries may have the tags that the file `tags` declares."""
    match what:
        case "native_functions":
            known = read_tags(Inputs((), tags=tags), diagnostics)
            return build_json_schema(known, strict_torchgen=strict_torchgen)
        case "derivatives":
            return build_derivatives_schema(strict_torchgen=strict_torchgen)
        case "tags":
            return build_tags_schema()
        case _:
            found = json.loads(data.read_text("diagnostics.schema.json"))
            assert what == "diagnostics" and isinstance(found, dict)
            return found


# Names for sets of operators that a backend is measured against: every operator, and those with the tag `core`.
ALL, CORE = "all", "core"


class CoverageReport(Struct, frozen=True):
    """A report in three forms."""

    text: str
    html: str
    values: dict[str, Any]


@until_too_many(lambda: None)
def report_coverage(
    inputs: Inputs, against: str, diagnostics: Diagnostics
) -> CoverageReport | None:
    """Return the coverage of `core`, of `all`, or of the operators that the file `against` names.

    Return None if there are errors.
    """
    registry = load(inputs, diagnostics)
    wanted = None if registry is None else _wanted(registry, against, diagnostics)
    backend = None if registry is None else read_additions(registry, inputs, diagnostics).backend
    if registry is None or wanted is None or backend is None or diagnostics.has_errors:
        return None
    table = CoverageTable(backend, registry)
    gradients = derive_gradients(registry, inputs, Signatures(), diagnostics).functions
    if diagnostics.has_errors:
        return None
    of_gradients = (
        GradientTable(gradients, backend.autograd, lambda f: table.of(f) is Coverage.missing)
        if gradients
        else None
    )
    operators = []
    for f, calls in wanted:
        coverage = table.of(f)
        gradient = None if of_gradients is None else of_gradients.of(f)
        is_own = gradient is not None and gradient.kind is GradientKind.own
        shown = None if coverage is Coverage.missing and not is_own else gradient
        operators.append(CoveredOperator(f.full_name, coverage, calls, shown))
    asked = (backend.forward.key.name, Path(against).name, operators)
    renderer = Renderer(templates_dir() / "text")
    return CoverageReport(
        text=renderer.render(build_coverage(*asked, "coverage.txt.j2")),
        html=renderer.render(build_coverage(*asked, "coverage.html.j2")),
        values=coverage_values(*asked),
    )


def _wanted(
    registry: Registry, against: str, diagnostics: Diagnostics
) -> list[tuple[NativeFunction, int]] | None:
    """Return the wanted operators and how often each is called; None if the file cannot be read."""
    if against == ALL:
        return [(f, 0) for f in registry.functions]
    if against == CORE:
        return [(f, 0) for f in registry.functions if CORE in f.tags]
    source = read_source(Path(against), diagnostics)
    if source is None:
        return None
    known = Vocabulary(f.full_name for f in registry.functions)
    wanted: list[tuple[NativeFunction, int]] = []
    for listed in parse_operator_list(source):
        name, f = listed.name, registry.find_function(listed.name)
        overloads = (f for f in registry.functions if f.full_name.startswith(f"{name}."))
        found = list(overloads) if f is None else [f]
        wanted += ((f, listed.calls) for f in found)
        if not found:
            message = f"there is no operator '{shorten(name)}'"
            diagnostics.warning("W0915", message, listed.span, hint=known.did_you_mean(name))
    return wanted
