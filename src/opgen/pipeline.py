"""The stages in their order: files in, a Registry or a tree of texts out.

`load` is parse and resolve; `build_tree` goes on through views and render. Between stages the road
ends if there are errors; from views onward a failure is a bug in opgen.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from opgen import data
from opgen.additions import Additions, read_backend, read_selection
from opgen.codes_files import CODES as FILE_CODES
from opgen.codes_files import E0902, E0906, E0907, E0908, E0909, E0910, E0914
from opgen.compat import CODES as COMPAT_CODES
from opgen.compat import Break, Direction, compare_operators, not_allowed, parse_allow_list
from opgen.compat.allow_list import MAX_BYTES as MAX_ALLOW_LIST
from opgen.cpp import backend_check
from opgen.cpp import check as cpp_check
from opgen.cpp.signatures import Signatures
from opgen.diagnostics import LIMIT_CODES, Diagnostics, OpgenError, until_too_many
from opgen.diagnostics.codes import Code, collect_codes
from opgen.lints import CODES as LINT_CODES
from opgen.lints import lint as report_lints
from opgen.lints import lint_allows, silence
from opgen.model.backend import ExternalBackend
from opgen.model.cpp_identifier import is_library_name
from opgen.model.dispatch_key import COMPOSITE_DISPATCH_KEYS, SUPPORTED_DISPATCH_KEYS, DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.model.tags import TagSet
from opgen.parse import CODES as PARSE_CODES
from opgen.parse import (
    SPACING,
    Allow,
    builtin_tags,
    decode_source,
    parse_entries,
    parse_tags,
    read_allows,
)
from opgen.parse.names import did_you_mean, shorten
from opgen.python.check import check_python as check_python_bindings
from opgen.python.codes import CODES as PYTHON_CODES
from opgen.python.signatures import Spellings
from opgen.reading import MAX_MANIFEST_BYTES, Overlay, read_bytes
from opgen.render import Renderer
from opgen.resolve import CODES as RESOLVE_CODES
from opgen.resolve import resolve, without_reported
from opgen.resources import templates_dir
from opgen.targets import TARGETS, functionalization, unsupported
from opgen.views.context import Context, Library
from opgen.views.dump import dump_rows
from opgen.views.explain import (
    build_code_index,
    build_code_page,
    build_explanation,
    build_summary,
)
from opgen.views.json_schema import build_json_schema, build_tags_schema
from opgen.views.stubs import build_skeletons
from opgen.views.tree import build_views, operator_headers
from opgen.writer import Tree

CODES: Mapping[str, Code] = collect_codes(
    LIMIT_CODES,
    PARSE_CODES,
    RESOLVE_CODES,
    COMPAT_CODES,
    PYTHON_CODES,
    cpp_check.CODES,
    backend_check.CODES,
    unsupported.CODES,
    functionalization.CODES,
    LINT_CODES,
    FILE_CODES,
)

# What `json_schema` knows a schema of.
SCHEMAS = ("native_functions", "tags", "diagnostics")

_NO_ADDITIONS = Additions()


@dataclass(frozen=True, slots=True)
class Inputs:
    """What is to be read, and how: the options common to all commands."""

    yaml: tuple[Path, ...]
    tags: Path | None = None
    target: str = "runtime"
    backends: tuple[str, ...] = ()
    ignore_keys: tuple[str, ...] = ()
    extends: Path | None = None
    name: str | None = None
    select: tuple[Path, ...] = ()
    backend_yaml: Path | None = None
    impl_path: Path | None = None
    # Not an option: what is read instead of these files.
    overlay: Overlay = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Extended:
    """The library that another extends: its name, and the full names of its operators."""

    name: str
    operators: frozenset[str]


def load(inputs: Inputs, diagnostics: Diagnostics) -> Registry | None:
    """Parse and resolve; None if there are errors, which `diagnostics` then holds."""
    registry = _read_registry(inputs, diagnostics)
    return None if diagnostics.has_errors else registry


def inspect(inputs: Inputs, diagnostics: Diagnostics, *, python: bool = False) -> Registry | None:
    """Report all that is wrong with the inputs; None if there are errors.

    An entry with errors is left out from then on, so that every stage can look at the others.
    """
    registry = survey(inputs, diagnostics, python=python)
    return None if diagnostics.has_errors else registry


def survey(
    inputs: Inputs,
    diagnostics: Diagnostics,
    *,
    python: bool = False,
    is_stale: Callable[[], bool] = lambda: False,
) -> Registry:
    """As `inspect`; the registry is of what has no errors.

    Between stages it ends early if the answer is not wanted any more.
    """
    registry = _read_registry(inputs, diagnostics)
    whole = None if diagnostics.has_errors else registry
    if is_stale():
        return registry
    check_target(registry, inputs, diagnostics)
    if python:
        check_python(registry, inputs, diagnostics)
    read_additions(whole, inputs, diagnostics)
    lint(registry, inputs, diagnostics)
    if not diagnostics.has_errors:
        return registry
    return without_reported(registry, diagnostics.error_spans())


def lint(registry: Registry, inputs: Inputs, diagnostics: Diagnostics) -> None:
    """Report what goes against a convention, if there are no errors, and silence what is allowed."""
    sound = not diagnostics.has_errors
    if sound:
        report_lints(registry, TARGETS[inputs.target].tensor_keys, diagnostics)
    allows = _allows(registry)
    used = silence(allows, diagnostics)
    if sound:
        lint_allows(allows, used, CODES.keys(), diagnostics)


def _allows(registry: Registry) -> tuple[Allow, ...]:
    sources = {id(f.spans.entry.source): f.spans.entry.source for f in registry.functions}
    return tuple(allow for source in sources.values() for allow in read_allows(source))


@until_too_many(lambda: Registry((), (), (), ()))
def _read_registry(inputs: Inputs, diagnostics: Diagnostics) -> Registry:
    """Parse and resolve: the registry of what is not refused."""
    ignored = _ignored_keys(inputs, diagnostics)
    tags = _read_tags(inputs, diagnostics)
    texts = [(path, read_bytes(path, diagnostics, inputs.overlay)) for path in inputs.yaml]
    sources = [
        decode_source(str(path), text, diagnostics) for path, text in texts if text is not None
    ]
    parsed = parse_entries(sources, tags, ignored, diagnostics)
    # What a file holds that cannot be read, nobody knows.
    unknown = parsed.refused.unknown or len(sources) < len(texts)
    refused = replace(parsed.refused, unknown=unknown)
    return resolve(parsed.functions, diagnostics, tags.names, refused)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What breaks between two files, but for so many breaks that are allowed."""

    old_operators: int
    new_operators: int
    breaks: tuple[Break, ...]
    allowed: int


@until_too_many(lambda: None)
def compare(
    old: Inputs,
    new: Inputs,
    allow: Path | None,
    wanted: frozenset[Direction],
    today: date,
    diagnostics: Diagnostics,
) -> Comparison | None:
    """What breaks in the `wanted` directions; None if there are errors, which `diagnostics` then holds."""
    before, after = load(old, diagnostics), load(new, diagnostics)
    text = None if allow is None else read_bytes(allow, diagnostics, most=MAX_ALLOW_LIST)
    source = None if text is None else decode_source(str(allow), text, diagnostics)
    allowed = () if source is None else parse_allow_list(source, diagnostics)
    if before is None or after is None or diagnostics.has_errors:
        return None
    found = compare_operators(before.functions, after.functions)
    found = tuple(one for one in found if one.directions & wanted)
    kept = not_allowed(found, allowed, today, diagnostics)
    counts = len(before.functions), len(after.functions)
    return Comparison(*counts, kept, len(found) - len(kept))


def load_or_raise(paths: Sequence[Path | str], **options: Any) -> Registry:
    """The public `opgen.load`. Raises OpgenError, whose `.diagnostics` say what is wrong."""
    diagnostics = Diagnostics()
    registry = load(Inputs(tuple(map(Path, paths)), **options), diagnostics)
    if registry is None:
        raise OpgenError(diagnostics.sorted())
    return registry


@until_too_many(Signatures)
def check_target(registry: Registry, inputs: Inputs, diagnostics: Diagnostics) -> Signatures:
    """Report what cannot be written as C++, or not by the target; the signatures for later stages."""
    signatures = Signatures()
    target = TARGETS[inputs.target]
    broken = diagnostics.has_errors
    if broken:
        registry = without_reported(registry, diagnostics.error_spans())
    extends = inputs.extends is not None and inputs.backend_yaml is None
    unsupported.report_unsupported(registry, extends=extends, diagnostics=diagnostics)
    cpp_check.check_signatures(
        registry, target.spelling, target.conversions, diagnostics, signatures
    )
    if target.functionalizes and not broken:
        functionalization.report_unfunctionalizable(registry, diagnostics)
    return signatures


@until_too_many(lambda: None)
def check_python(registry: Registry, inputs: Inputs, diagnostics: Diagnostics) -> None:
    """Report operators that no Python binding can be made of."""
    target = TARGETS[inputs.target]
    spellings = Spellings(target.spelling, target.python)
    if diagnostics.has_errors:
        registry = without_reported(registry, diagnostics.error_spans())
    check_python_bindings(registry.functions, spellings, diagnostics)


@until_too_many(Additions)
def read_additions(
    registry: Registry | None, inputs: Inputs, diagnostics: Diagnostics
) -> Additions:
    """The external backend and the selection that `inputs` name; problems of both are reported.

    Without a registry they are only read: what it lacks cannot be told from what was refused.
    """
    target, overlay = TARGETS[inputs.target], inputs.overlay
    paths = (inputs.backend_yaml, inputs.impl_path)
    return Additions(
        backend=read_backend(*paths, registry, target, diagnostics, overlay),
        selection=read_selection(inputs.select, registry, diagnostics, overlay),
    )


@until_too_many(lambda: None)
def build_tree(inputs: Inputs, diagnostics: Diagnostics, *, shards: int = 1) -> Tree | None:
    """All generated texts; None if there are errors, which `diagnostics` then holds."""
    if not TARGETS[inputs.target].files:
        hint = "opgen dump shows its signatures and registrations"
        diagnostics.error(E0910, f"no C++ is made for target {inputs.target} yet", None, hint=hint)
    registry = _read_registry(inputs, diagnostics)
    whole = None if diagnostics.has_errors else registry
    signatures = check_target(registry, inputs, diagnostics)
    additions = read_additions(whole, inputs, diagnostics)
    silence(_allows(registry), diagnostics)
    if diagnostics.has_errors:
        return None
    context = _context(registry, inputs, diagnostics, shards, additions, signatures)
    if context is None or diagnostics.has_errors:
        return None
    views = build_views(context)
    files = Renderer(templates_dir() / context.target.name).render_all(views)
    return Tree(files, _manifest_header(context, files))


def schema_files(inputs: Inputs) -> tuple[Path, ...]:
    """The files that people write for opgen, of those that a run with these inputs reads."""
    given = (*inputs.yaml, _tags_path(inputs), *inputs.select, inputs.backend_yaml)
    return tuple(dict.fromkeys(p for p in given if p is not None))


def misplaced_blanks(inputs: Inputs) -> Diagnostics:
    """Where the schemas have white space that is not as it is written, and nothing else."""
    found, kept = Diagnostics(), Diagnostics()
    _read_registry(inputs, found)
    for item in found:
        if item.code == SPACING:
            kept.add(item)
    return kept


def input_files(inputs: Inputs) -> tuple[Path, ...]:
    """Every file that a run with these inputs reads, but for opgen's own."""
    tags = _tags_path(inputs)
    given = (inputs.extends, *inputs.select, inputs.backend_yaml, inputs.impl_path)
    return tuple(p for p in (*inputs.yaml, tags, *given) if p is not None)


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
    context = _context(registry, inputs, diagnostics, 1)
    functions = _find(registry, operator, diagnostics)
    if context is None or diagnostics.has_errors:
        return ""
    renderer = Renderer(templates_dir() / "text")
    return "\n".join(renderer.render(build_explanation(context, f)) for f in functions)


def summarize(registry: Registry, inputs: Inputs, f: NativeFunction) -> str:
    """What follows from the entry of one operator, in short, as Markdown: for an editor."""
    context = Context(registry, TARGETS[inputs.target], Library(inputs.name or f.namespace))
    return Renderer(templates_dir() / "text").render(build_summary(context, f))


def declared_tags(inputs: Inputs) -> TagSet:
    """The tags that entries may have. What is wrong with their file, `inspect` reports."""
    return _read_tags(inputs, Diagnostics())


def explain_code(name: str) -> str | None:
    """The page of a diagnostic code; None if there is no such code."""
    code = CODES.get(name)
    if code is None:
        return None
    return Renderer(templates_dir() / "text").render(build_code_page(code))


def explain_all_codes() -> str:
    """The pages of all codes as one text: docs/diagnostics.md."""
    return Renderer(templates_dir() / "text").render(build_code_index(CODES.values()))


def json_schema(what: str, tags: Path | None, diagnostics: Diagnostics) -> dict[str, Any]:
    """The JSON Schema of one of SCHEMAS. Entries may have the tags of the file `tags`."""
    match what:
        case "native_functions":
            return build_json_schema(_read_tags(Inputs((), tags), diagnostics))
        case "tags":
            return build_tags_schema()
        case _:
            found = json.loads(data.read_text("diagnostics.schema.json"))
            assert what == "diagnostics" and isinstance(found, dict)
            return found


@until_too_many(str)
def skeletons(
    registry: Registry, inputs: Inputs, operators: Sequence[str], diagnostics: Diagnostics
) -> str:
    """Kernel skeletons for the named operators, or for all."""
    additions = read_additions(registry, inputs, diagnostics)
    context = _context(registry, inputs, diagnostics, 1, additions)
    found = [f for name in operators for f in _find(registry, name, diagnostics)]
    if context is None or diagnostics.has_errors:
        return ""
    names = frozenset(f.full_name for f in found or registry.functions)
    return Renderer(templates_dir() / context.target.name).render(build_skeletons(context, names))


def _find(registry: Registry, name: str, diagnostics: Diagnostics) -> tuple[NativeFunction, ...]:
    """The operators called `name`: with namespace or without, one overload or all of a name."""
    found = tuple(f for f in registry.functions if name in _names(f))
    if not found:
        hint = did_you_mean(name, {n for f in registry.functions for n in _names(f)})
        diagnostics.error(E0908, f"there is no operator '{name}'", None, hint=hint)
    return found


def _names(f: NativeFunction) -> tuple[str, ...]:
    own = str(f.func.name)
    base = str(f.func.name.name)
    return (own, base, f.root_name, f.full_name, f"{f.namespace}::{base}")


def _context(
    registry: Registry,
    inputs: Inputs,
    diagnostics: Diagnostics,
    shards: int,
    additions: Additions = _NO_ADDITIONS,
    signatures: Signatures | None = None,
) -> Context | None:
    backend = additions.backend
    extended = None if inputs.extends is None else _extended(inputs.extends, diagnostics)
    name = inputs.name
    if name is None and backend is not None and extended is not None:
        name = backend.forward.key.lower()
    if name is None:
        name = _only_namespace(registry, diagnostics)
    if name is None:
        return None
    if not is_library_name(name):
        message = f"'{shorten(name)}' cannot be the name of a library"
        diagnostics.error(
            E0914, message, None, hint="letters, digits and '_', and no keyword of C++"
        )
        return None
    if backend is not None and extended is not None:
        _check_extended(backend, extended, diagnostics)
    library = Library(
        name,
        None if extended is None else extended.name,
        shards,
        backend_only=inputs.backend_yaml is not None and extended is not None,
    )
    target = TARGETS[inputs.target]
    return Context(
        registry, target, library, backend, additions.selection, signatures or Signatures()
    )


def _check_extended(
    backend: ExternalBackend, extended: _Extended, diagnostics: Diagnostics
) -> None:
    """Report kernels of operators that the extended library does not have."""
    for index in backend.indices:
        for kernel in index.kernels:
            if kernel.function.full_name not in extended.operators:
                message = f"library {extended.name} has no operator '{kernel.function.full_name}'"
                diagnostics.error(E0909, message, kernel.span)


def _only_namespace(registry: Registry, diagnostics: Diagnostics) -> str | None:
    namespaces = sorted({f.namespace for f in registry.functions})
    if len(namespaces) == 1:
        return namespaces[0]
    if not namespaces:
        return "empty"
    diagnostics.error(
        E0906,
        f"the operators are of several namespaces ({', '.join(namespaces)}), so the library has no name",
        None,
        hint="say --name NAME",
    )
    return None


def _extended(path: Path, diagnostics: Diagnostics) -> _Extended | None:
    """The library whose manifest `path` is."""
    text = read_bytes(path, diagnostics, most=MAX_MANIFEST_BYTES)
    if text is None:
        return None
    try:
        manifest = json.loads(text)
        name, owns_tensor = manifest["name"], manifest["owns_tensor"]
        operators = frozenset(manifest["operators"])
    except (ValueError, KeyError, TypeError, RecursionError):
        manifest, name, owns_tensor, operators = None, None, None, frozenset()
    if not isinstance(name, str) or not is_library_name(name):
        diagnostics.error(E0902, f"{path} is not a manifest of a generated library", None)
        return None
    if not owns_tensor:
        diagnostics.error(
            E0907,
            f"library {name} has no class Tensor of its own",
            None,
            hint="extend the one that has",
        )
    return _Extended(name, operators)


def _manifest_header(context: Context, files: Container[str]) -> dict[str, Any]:
    headers = {
        root: [path for path in operator_headers(context, root) if path in files]
        for root in context.roots
    }
    return {
        "name": context.library.name,
        "target": context.target.name,
        "runtime_abi": context.target.runtime_abi,
        "owns_tensor": context.library.extends is None,
        "operators": {
            f.full_name: {"schema": context.spell.schema(f), "files": headers[f.root_name]}
            for f in context.registry.functions
            if context.keeps(f) and not context.library.backend_only
        },
    }


def _ignored_keys(inputs: Inputs, diagnostics: Diagnostics) -> frozenset[DispatchKey]:
    ignored = {key for name in inputs.ignore_keys if (key := _key(name, diagnostics))}
    kept = {key for name in inputs.backends if (key := _key(name, diagnostics))}
    if inputs.backends:
        kept.update(COMPOSITE_DISPATCH_KEYS)
        ignored.update(key for key in SUPPORTED_DISPATCH_KEYS if key not in kept)
    return frozenset(ignored)


def _key(name: str, diagnostics: Diagnostics) -> DispatchKey | None:
    key = DispatchKey.__members__.get(name)
    if key is None:
        hint = did_you_mean(name, DispatchKey.__members__)
        diagnostics.error(E0908, f"there is no dispatch key '{name}'", None, hint=hint)
    return key


def _tags_path(inputs: Inputs) -> Path | None:
    if inputs.tags is not None:
        return inputs.tags
    return next((p for y in inputs.yaml if os.path.isfile(p := y.parent / "tags.yaml")), None)


def _read_tags(inputs: Inputs, diagnostics: Diagnostics) -> TagSet:
    path = _tags_path(inputs)
    if path is None:
        return builtin_tags()
    before = diagnostics.error_count
    text = read_bytes(path, diagnostics, inputs.overlay)
    if text is None:
        return replace(builtin_tags(), is_whole=False)
    tags = parse_tags(decode_source(str(path), text, diagnostics), diagnostics)
    return replace(tags, is_whole=diagnostics.error_count == before)
