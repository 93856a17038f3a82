"""Facts about releases of PyTorch. Their C++ side is runtime/torch/include/opgen/core/release.h.

Source: the headers of each release, and tests/nightly/test_torch_releases.py and torch_run.py, which compile and run
what is generated; tests/RESULTS.md has what they found.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from collections.abc import Collection, Mapping

from msgspec import Struct

from opgen.diagnostics import Diagnostics
from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy, BaseType

Release = tuple[int, int]


class RequiredPackage(Struct, frozen=True):
    """A Python package that libraries are compiled against: release `oldest` or newer, tested up to `newest`."""

    package: str
    oldest: Release
    newest: Release

    @property
    def releases(self) -> tuple[str, ...]:
        """`2.9`, `2.10`, ...: from the oldest to the newest. Both have the same major number."""
        major, first = self.oldest
        return tuple(f"{major}.{minor}" for minor in range(first, self.newest[1] + 1))


def report_required_package(
    required: RequiredPackage, python: str, diagnostics: Diagnostics
) -> None:
    """Report whether `required` is missing for this Python, whose path is `python`, or is of another release.

    A package without a release number is not checked: its own build files may do so.
    """
    wanted = dotted(required.oldest)
    hint = f"{python} -m pip install '{required.package}>={wanted}'"
    if importlib.util.find_spec(required.package) is None:
        message = f"{required.package} is not installed for {python}"
        diagnostics.error("E0916", message, None, hint=hint)
        return
    version, release = _installed(required.package)
    if release is None:
        return
    if release < required.oldest:
        message = f"{required.package} {version} is too old: opgen needs {wanted} or newer"
        diagnostics.error("E0916", message, None, hint=hint)
    elif release > required.newest:
        newest = dotted(required.newest)
        message = f"{required.package} {version} is newer than {newest}, the newest release that opgen was tested with"
        diagnostics.warning("W0917", message, None)


def _installed(package: str) -> tuple[str, Release | None]:
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "", None
    found = re.match(r"(\d+)\.(\d+)", version)
    return version, None if found is None else (int(found[1]), int(found[2]))


def dotted(release: Release) -> str:
    """Return `2.10` for (2, 10)."""
    return ".".join(map(str, release))


PYTORCH = RequiredPackage("torch", oldest=(2, 9), newest=(2, 15))
# The stable functions that generated code calls are there since 2.10.
PYTORCH_STABLE = RequiredPackage("torch", oldest=(2, 10), newest=(2, 15))

# Tags that a release later than the oldest added.
TAG_SINCE: Mapping[str, Release] = {
    "inplace": (2, 13),
    "out": (2, 13),
    "out_variant": (2, 11),
    "reduction": (2, 10),
}

# Tags that are not registered because a release handles them wrongly, and how. Seen with 2.12.1, 2.13.0 and
# 2.15.0.
UNREGISTERED_TAGS: Mapping[str, str] = {
    "out": "inductor calls the overload instead of the functional one, and fails where sizes change (2.13) or in AOTInductor (2.15)",
    "out_variant": "inductor calls the overload instead of the functional one, and fails where sizes change (2.12)",
}

# Since when PyTorch's stable C functions register an operator with tags, and pass a Generator.
STABLE_TAGS: Release = (2, 12)
STABLE_GENERATOR: Release = (2, 13)

# What PyTorch does otherwise, without a tag. Source: the uses of torch.Tag in torch 2.13.
TAG_EFFECTS: Mapping[str, str] = {
    "cudagraph_unsafe": "inductor may record it into a CUDA graph",
    "data_dependent_output": "a trace fails with another error",
    "dynamic_output_shape": "a trace fails with another error",
    "flexible_layout": "inductor keeps the strides of its arguments, by copies if need be",
    "inplace_view": "a trace does not expect other sizes of its argument",
    "maybe_aliasing_or_mutating": "inductor may reorder it",
    "needs_contiguous_strides": "inductor may call it with other strides",
    "needs_exact_strides": "inductor may call it with other strides",
    "needs_fixed_stride_order": "inductor may call it with other strides",
    "nondeterministic_seeded": "a compiler may join two calls, or call it again for the backward pass",
    "pt2_compliant_tag": "torch.compile with only_allow_pt2_compliant_ops breaks the graph",
}


def registered_tags(f: NativeFunction) -> frozenset[str]:
    """Return the tags that `f` is registered with: all of its tags."""
    return f.tags


def tags_that_pytorch_follows(f: NativeFunction) -> frozenset[str]:
    """Return the tags of `f`, except those with which some release of PyTorch compiles wrong code: `releases.UNREGISTERED_TAGS`,
    and `inplace` for operators that PyTorch misunderstands.

    For `inplace`, functionalization assumes that the first argument is a tensor, and that the operator writes and returns
    only this argument. For other operators, such as `f_(Tensor(a!)[] self) -> ()`, it fails ("'list' object has no attribute
    '_base'") or loses the written values. Source: torch 2.13, by trial; tests/integration/run/torch_everyday.
    """
    misread = frozenset() if _writes_self_alone(f) else frozenset({"inplace"})
    return f.tags - UNREGISTERED_TAGS.keys() - misread


def _writes_self_alone(f: NativeFunction) -> bool:
    """Return whether the first argument is a tensor, the only one that is written, and the only result."""
    arguments = f.func.arguments
    if not arguments.flat_positional:
        return False
    first = arguments.flat_positional[0]
    return (
        first.type == BaseType(BaseTy.Tensor)
        and arguments.mutable_arg_names == (first.name,)
        and f.func.aliased_return_names() == (first.name,)
    )


def spell_tags(names: Collection[str]) -> str:
    """Return the list of tags for PyTorch's `m.def`. opgen/core/release.h leaves out tags that the release does not have."""
    always = ", ".join(f"at::Tag::{name}" for name in names if name not in TAG_SINCE)
    later = ", ".join(f"opgen::tag::{name}" for name in names if name in TAG_SINCE)
    # In braces: m.def would treat a vector without braces as a kernel.
    return f"{{opgen::tags_there_are<{later}>({{{always}}})}}" if later else f"{{{always}}}"
