"""What may be asked of a registry, or of opgen: explanations, values, skeletons, JSON Schemas."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opgen import data
from opgen.codes_files import E0908
from opgen.dataclasses import replace
from opgen.diagnostics import Diagnostics, until_too_many
from opgen.model.mention import Mention
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.parse.mentions import parse_registrations, parse_trace
from opgen.parse.names import did_you_mean
from opgen.pipeline.checking import read_additions
from opgen.pipeline.codes import CODES
from opgen.pipeline.declared import read_tags
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.library import library_context
from opgen.reading import read_source
from opgen.render import Renderer
from opgen.resolve.selection import find_mentioned
from opgen.resources import target_templates, templates_dir
from opgen.targets import TARGETS
from opgen.views.context import Context, Library
from opgen.views.dump import dump_rows
from opgen.views.explain import (
    build_code_index,
    build_code_page,
    build_explanation,
    build_summary,
)
from opgen.views.json_schema import build_json_schema, build_tags_schema
from opgen.views.selection_list import build_selection_list
from opgen.views.stubs import build_skeletons

# What `json_schema` knows a schema of.
SCHEMAS = ("native_functions", "tags", "diagnostics")


@until_too_many(list[dict[str, Any]])
def dump(
    registry: Registry,
    inputs: Inputs,
    stage: str,
    operator: str | None,
    extra: bool,
    diagnostics: Diagnostics,
) -> list[dict[str, Any]]:
    """What is derived up to `stage`, as JSON values, for one operator or for all."""
    target = TARGETS[inputs.target]
    additions = read_additions(registry, inputs, diagnostics)
    wanted = None if operator is None else _find(registry, operator, diagnostics)
    if diagnostics.has_errors:
        return []
    backend, selection = additions.backend, additions.selection
    return dump_rows(
        registry, target, stage, wanted, extra=extra, backend=backend, selection=selection
    )


@until_too_many(str)
def explain(registry: Registry, inputs: Inputs, operator: str, diagnostics: Diagnostics) -> str:
    """Everything that follows from the entries of one operator, in words."""
    # What the library is called shows in the paths of headers alone.
    if inputs.name is None and len({f.namespace for f in registry.functions}) > 1:
        inputs = replace(inputs, name="NAME")
    context = library_context(registry, inputs, diagnostics, 1)
    functions = _find(registry, operator, diagnostics)
    if context is None or diagnostics.has_errors:
        return ""
    renderer = Renderer(templates_dir() / "text")
    return "\n".join(renderer.render(build_explanation(context, f)) for f in functions)


def summarize(registry: Registry, inputs: Inputs, f: NativeFunction) -> str:
    """What follows from the entry of one operator, in short, as Markdown: for an editor."""
    context = Context(registry, TARGETS[inputs.target], Library(inputs.name or f.namespace))
    return Renderer(templates_dir() / "text").render(build_summary(context, f))


@until_too_many(str)
def skeletons(
    registry: Registry, inputs: Inputs, operators: Sequence[str], diagnostics: Diagnostics
) -> str:
    """Kernel skeletons for the named operators, or for all."""
    additions = read_additions(registry, inputs, diagnostics)
    context = library_context(registry, inputs, diagnostics, 1, additions)
    found = [f for name in operators for f in _find(registry, name, diagnostics)]
    if context is None or diagnostics.has_errors:
        return ""
    names = frozenset(f.full_name for f in found or registry.functions)
    return Renderer(*target_templates(context.target.templates)).render(
        build_skeletons(context, names)
    )


@until_too_many(str)
def selection_list(
    registry: Registry,
    inputs: Inputs,
    operators: Sequence[str],
    registrations: Sequence[Path],
    traces: Sequence[Path],
    diagnostics: Diagnostics,
) -> str:
    """A selective-build YAML of what is named, registered or called, and what `inputs` select."""
    mentions: list[Mention] = []
    for paths, parse in ((registrations, parse_registrations), (traces, parse_trace)):
        sources = (read_source(path, diagnostics, inputs.overlay) for path in paths)
        mentions += (m for source in sources if source is not None for m in parse(source))
    wanted = find_mentioned(registry, mentions, diagnostics)
    wanted |= {f.full_name for name in operators for f in _find(registry, name, diagnostics)}
    selection = read_additions(registry, inputs, diagnostics).selection
    wanted |= frozenset() if selection is None else selection.operators
    return "" if diagnostics.has_errors else build_selection_list(registry, wanted)


def _find(registry: Registry, name: str, diagnostics: Diagnostics) -> tuple[NativeFunction, ...]:
    """The operators called `name`: with namespace or without, one overload or all of a name."""
    found = tuple(f for f in registry.functions if name in _names(f))
    if not found:
        hint = did_you_mean(name, [n for f in registry.functions for n in _names(f)])
        diagnostics.error(E0908, f"there is no operator '{name}'", None, hint=hint)
    return found


def _names(f: NativeFunction) -> tuple[str, ...]:
    own = str(f.func.name)
    base = str(f.func.name.name)
    return (own, base, f.root_name, f.full_name, f"{f.namespace}::{base}")


def explain_code(name: str) -> str | None:
    """The page of a diagnostic code; None if there is no such code."""
    code = CODES.get(name)
    if code is None:
        return None
    return Renderer(templates_dir() / "text").render(build_code_page(code))


def explain_all_codes() -> str:
    """The pages of all codes as one text: docs/diagnostics.md."""
    return Renderer(templates_dir() / "text").render(build_code_index(CODES.values()))


def json_schema(
    what: str, tags: Path | None, diagnostics: Diagnostics, *, strict_torchgen: bool = False
) -> dict[str, Any]:
    """The JSON Schema of one of SCHEMAS. Entries may have the tags of the file `tags`."""
    match what:
        case "native_functions":
            known = read_tags(Inputs((), tags), diagnostics)
            return build_json_schema(known, strict_torchgen=strict_torchgen)
        case "tags":
            return build_tags_schema()
        case _:
            found = json.loads(data.read_text("diagnostics.schema.json"))
            assert what == "diagnostics" and isinstance(found, dict)
            return found
