"""Codes E0841 to E0844: errors in a selective-build YAML."""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example

FILE = "selective.yaml"
_GOOD = "operators:\n  aten::neg: {}\n"

E0841 = Code(
    "E0841",
    "a selective-build file is neither a mapping nor a list",
    "A selective-build file is a mapping with the key 'operators', or, in its older form, a list of operator "
    "names. An empty file is neither; to select nothing, write '{}'.",
    Example("", _GOOD),
    ("SC1",),
    FILE,
)
E0842 = Code(
    "E0842",
    "an unknown key of a selective-build file",
    "The keys are operators, include_all_operators, include_all_non_op_selectives, kernel_metadata, "
    "et_kernel_metadata, custom_classes, build_features and debug_info. Each operator has the keys name, "
    "is_root_operator, is_used_for_training, include_all_overloads and debug_info.",
    Example("operator:\n  aten::neg: {}\n", _GOOD),
    ("S01", "S06", "SC2"),
    FILE,
)
E0843 = Code(
    "E0843",
    "a value of the wrong type in a selective-build file",
    "'operators' maps names to mappings; use '{}' for an operator without settings. Keys that begin with is_ or "
    "include_ are true or false; the metadata keys map names to lists; debug_info, custom_classes and "
    "build_features are lists.",
    Example("operators:\n- aten::neg\n", _GOOD),
    ("S02", "S03", "S04", "S05", "S08", "SC3", "SC4", "SC5", "SA1", "SA3", "SA4"),
    FILE,
)
E0844 = Code(
    "E0844",
    "the name of a selected operator is not its key",
    "'name' must repeat the key of the operator, with namespace and overload. You may leave it out.",
    Example(
        "operators:\n  aten::neg:\n    name: aten::abs\n",
        "operators:\n  aten::neg:\n    name: aten::neg\n",
    ),
    ("S07",),
    FILE,
)
W1841 = Code(
    "W1841",
    "an unknown element type in a selective-build file",
    "'kernel_metadata' lists element types by the names of ScalarType: Float, Half, Long. Code for a misspelt "
    "type is left out of the build.",
    Example(
        "kernel_metadata:\n  neg_cpu:\n  - float\n", "kernel_metadata:\n  neg_cpu:\n  - Float\n"
    ),
    (),
    FILE,
)

CODES = (E0841, E0842, E0843, E0844, W1841)
