"""Facts about releases of PyTorch. Their C++ side is runtime/torch/include/opgen/core/release.h.

Source: the headers of each release, and tests/nightly/test_torch_releases.py and torch_run.py, which compile and run
what is generated; docs/contributing/evidence.md has what they found.
"""

from __future__ import annotations

from collections.abc import Mapping

from opgen.targets.required_package import Release, RequiredPackage

PYTORCH = RequiredPackage("torch", oldest=(2, 9), newest=(2, 15))

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
