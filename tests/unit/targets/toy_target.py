"""A third target, for a made-up C++ library: everything with `toy::`, `lib::` or in capitals is spelled by this
target.
"""

from __future__ import annotations

from msgspec.structs import replace

from opgen.cpp.cpp_types import TypeSpelling
from opgen.cpp.translate import Conversions
from opgen.model.dispatch_key import DispatchKey
from opgen.targets import Target
from opgen.targets.base import FileKind
from opgen.targets.runtime import RUNTIME

_SPELLING = TypeSpelling(
    names={
        "Tensor": "toy::Grid",
        "int64_t": "toy::Whole",
        "double": "toy::Real",
        "bool": "toy::Truth",
    },
    prefix="toy::",
    standard="lib::",
    array_ref="toy::Span",
    list="toy::Chain",
    dictionary="toy::Map",
    pointer="toy::Owner",
    reference=" ",
    assign=" := ",
    defaults={
        "True": "YES",
        "False": "NO",
        "None": "NOTHING",
        "Mean": "MEAN",
        "contiguous_format": "ROW_MAJOR",
        "long": "LONG",
    },
    symint_default="SYM({0})",
)

# Every conversion is a call of a macro named after it: TO_INT_FROM_SYM(x).
_CONVERSIONS = Conversions(
    **{
        name: f"TO_{name.upper()}({{0}})"
        for name in Conversions.__struct_fields__
        if name not in ("this_tensor", "gather_options", "no_value")
    },
    this_tensor="THIS",
    gather_options="GATHERED",
    no_value="NOTHING",
)

TOY: Target = replace(
    RUNTIME,
    name="toy",
    cpp=replace(
        RUNTIME.cpp,
        spelling=_SPELLING,
        conversions=_CONVERSIONS,
        symint_overloads=True,
        meta_base="toy::Meta",
        base_headers={"TensorIteratorBase": "toy/loop.h"},
        base_tensor="toy::Grid",
        author_header="toy/{0}.h",
        element_types={"Float": "toy::F32", "Long": "toy::I64", "Bool": "toy::B"},
        api_macro="TOY_API",
        api_macros={},
    ),
    plan=replace(
        RUNTIME.plan,
        kinds=frozenset(
            {FileKind.OPERATOR_FUNCTIONS, FileKind.OPERATOR_OPS, FileKind.REGISTER_KEYS}
        ),
        runtime_abi=77,
    ),
    dispatch=replace(
        RUNTIME.dispatch,
        function_keys=frozenset({DispatchKey.SparseCPU}),
    ),
)
