"""torchgen's verdict on a schema file: whether it accepts it, where it stops, and what it derives.

torchgen runs in this process with its own functions. Nothing is written: its file manager is replaced by one that
computes every text and discards it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torchgen_facts
import yaml
from torchgen import gen, gen_aoti_c_shim
from torchgen.model import (
    DispatchKey,
    NativeFunctionsGroup,
    NativeFunctionsViewGroup,
    dispatch_keys,
    is_generic_dispatch_key,
)
from torchgen.selective_build.selector import SelectiveBuilder
from torchgen.utils import FileManager

_FUNCTION_KEYS = (
    *("CPU", "CUDA", "Meta", "MTIA", "XPU", "MPS", "SparseMPS", "SparseCsrMPS"),
    *("CompositeImplicitAutograd", "CompositeImplicitAutogradNestedTensor"),
    *("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"),
)


@dataclass(frozen=True)
class Verdict:
    """`stage` is where torchgen stopped, with `error`; None if it accepts the file."""

    stage: str | None
    error: str
    rows: list[dict[str, Any]] | None = None

    @property
    def accepts(self) -> bool:
        return self.stage is None


@dataclass(frozen=True)
class Parsed:
    """The result of torchgen's parser and grouping."""

    functions: list[Any]
    indices: Any
    grouped: list[Any]
    with_views: list[Any]


class _Refused(Exception):
    def __init__(self, stage: str, error: BaseException) -> None:
        super().__init__(stage)
        self.verdict = Verdict(stage, f"{type(error).__name__}: {error}")


@contextmanager
def _stage(name: str) -> Iterator[None]:
    try:
        yield
    # A crash counts as a rejection, whatever its exception.
    except Exception as error:
        raise _Refused(name, error) from error


def judge(text: str, tags: frozenset[str], *, generate: bool = False) -> Verdict:
    """Return torchgen's verdict on `text`, and the fields that it derives; with `generate`, all C++ is generated."""
    try:
        parsed = parse(text, tags)
        rows = derive(parsed)
        if generate:
            with _stage("generate"):
                generate_all(parsed, set(tags))
    except _Refused as refused:
        return refused.verdict
    return Verdict(None, "", rows)


def parse(
    text: str, tags: frozenset[str], ignored: frozenset[str] = frozenset(), path: str = "a.yaml"
) -> Parsed:
    """Run torchgen's stages up to its groups. Raises _Refused."""
    with _stage("yaml"):
        # torchgen's own loader, which knows only the safe YAML tags.
        entries = yaml.load(text, Loader=gen.LineLoader)
    with _stage("parse"):
        keys = {DispatchKey.parse(key) for key in ignored}
        both = gen.parse_native_yaml_struct(entries, set(tags), keys, path=path)
    with _stage("group"):
        grouped = gen.get_grouped_native_functions(both.native_functions)
    with _stage("view"):
        with_views = gen.get_grouped_by_view_native_functions(both.native_functions)
    return Parsed(both.native_functions, both.backend_indices, list(grouped), list(with_views))


def derive(parsed: Parsed) -> list[dict[str, Any]]:
    """Return the fields of every function, in the form of torchgen_facts.py."""
    indices = dict(parsed.indices)
    groups = {
        id(f): (g, torchgen_facts.group_info(g, indices))
        for g in parsed.grouped
        if isinstance(g, NativeFunctionsGroup)
        for f in g.functions()
    }
    roles = {
        id(member): {
            "view": torchgen_facts.full_name(v.view),
            "role": role,
            "composite": v.composite,
        }
        for v in parsed.with_views
        if isinstance(v, NativeFunctionsViewGroup)
        for role in ("view", "view_copy", "view_inplace")
        if (member := getattr(v, role)) is not None
    }
    rows = [
        torchgen_facts.describe(
            f, *groups.get(id(f), (None, None)), roles.get(id(f)), indices, False
        )
        for f in parsed.functions
    ]
    return sorted(rows, key=lambda row: (row["name"], row["schema"]))


class _Forgetful(FileManager):
    """A file manager that computes every text and discards it."""

    def __init__(self) -> None:
        super().__init__("", "", dry_run=False)

    def substitute_with_template(
        self, template_fn: Any, env_callable: Callable[[], str | dict[str, Any]]
    ) -> str:
        env_callable()
        return ""

    def _write_if_changed(self, filename: str | Path, contents: str) -> None:
        pass


def generate_all(parsed: Parsed, tags: set[str]) -> None:
    """Generate everything that `torchgen.gen --per-operator-headers --mps --xpu --mtia` makes, without the files."""
    gen_aoti_c_shim.declaration_definition_cache.clear()
    structured = [g for g in parsed.grouped if isinstance(g, NativeFunctionsGroup)]
    views = [g for g in parsed.with_views if isinstance(g, NativeFunctionsViewGroup)]
    fm = {
        name: _Forgetful()
        for name in ("aoti", "core", "cpu", "vec", "cuda", "ops", "header", "xpu")
    }
    devices = {"cuda": fm["cuda"], "xpu": fm["xpu"]}
    common = {
        "native_functions": parsed.functions,
        "grouped_native_functions": parsed.grouped,
        "structured_native_functions": structured,
        "selector": SelectiveBuilder.get_nop_selector(),
        "static_dispatch_idx": [],
        "backend_indices": parsed.indices,
        "core_fm": fm["core"],
        "cpu_fm": fm["cpu"],
        "device_fms": devices,
        "dispatch_keys": [k for k in dispatch_keys if _is_made(k, parsed)],
        "functions_keys": {DispatchKey.parse(key) for key in _FUNCTION_KEYS},
        "rocm": False,
        "per_operator_headers": True,
    }
    gen.gen_source_files(
        **common,
        view_groups=views,
        aoti_fm=fm["aoti"],
        cpu_vec_fm=fm["vec"],
        force_schema_registration=False,
        skip_dispatcher_op_registration=False,
        update_aoti_c_shim=False,
        aoti_backends=set(),
        extend_aoti_c_shim=False,
    )
    gen.gen_headers(**common, valid_tags=tags, headeronly_fm=fm["header"], ops_fm=fm["ops"])


def _is_made(key: DispatchKey, parsed: Parsed) -> bool:
    """Return whether to generate a file. Those of backends that no entry names would be empty, and take most of the
    time.
    """
    named = bool(parsed.indices[key].index)
    return named or is_generic_dispatch_key(key) or str(key) in ("CPU", "CUDA", "Meta")
