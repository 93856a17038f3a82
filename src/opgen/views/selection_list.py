"""The operators that a library is to keep, as the selective-build YAML that `--select` reads."""

from __future__ import annotations

from collections.abc import Set

from opgen.model.registry import Registry
from opgen.views.composite_set import collect_composite_kernels


def build_selection_list(registry: Registry, wanted: Set[str]) -> str:
    """`wanted`, full names, and what their generated kernels call, which are no root operators."""
    called = _called(registry, wanted)
    lines = [f"# {len(wanted) + len(called)} of {len(registry.functions)} operators."]
    lines.append("operators:" if wanted else "operators: {}")
    for name in sorted(wanted | called):
        lines.append(f"  {name}:")
        lines += ["    is_root_operator: False"] if name in called else []
        lines.append("    include_all_overloads: False")
    return "\n".join([*lines, ""])


def _called(registry: Registry, wanted: Set[str]) -> frozenset[str]:
    """The operators that kernels of opgen's own call for `wanted`, step by step, without `wanted`."""
    sources = {
        kernel.function.full_name: kernel.source.full_name
        for kernel in collect_composite_kernels(registry)
    }
    found: set[str] = set()
    for name in wanted:
        while (source := sources.get(name)) is not None and source not in found:
            found.add(source)
            name = source
    return frozenset(found - wanted)
