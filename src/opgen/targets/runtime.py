"""Target `runtime`: operators against opgen's own C++ runtime."""

from __future__ import annotations

from opgen.cpp.cpp_types import TypeSpelling
from opgen.cpp.translate import Conversions
from opgen.model.dispatch_key import COMPOSITE_DISPATCH_KEYS, DispatchKey
from opgen.python.python_types import (
    DISPLAY_NAMES,
    PythonSpelling,
    argument_annotation,
    return_annotation,
)
from opgen.targets.base import (
    CppSpelling,
    DispatchPolicy,
    FileKind,
    FilePlan,
    Target,
    element_types,
)

# Types are imported into every generated namespace (`using namespace opgen::types`), so they are
# written without a prefix; `::std`, because there are operators called std. SymInt is int64_t here,
# and written so.
_SPELLING = TypeSpelling(
    names={
        "string_view": "::std::string_view",
        "SymInt": "int64_t",
        "SymBool": "bool",
        "SymIntArrayRef": "IntArrayRef",
        "OptionalSymIntArrayRef": "OptionalIntArrayRef",
        "string": "::std::string",
        "complex": "complex<double>",
    },
    prefix="",
    array_ref="ArrayRef",
    list="List",
    dictionary="Dict",
    pointer="",
    defaults={
        "True": "true",
        "False": "false",
        "None": "::std::nullopt",
        "Mean": "Reduction::Mean",
        "contiguous_format": "MemoryFormat::Contiguous",
        "long": "kLong",
    },
    symint_default="{0}",
)

# Optionals convert to references implicitly.
_CONVERSIONS = Conversions(
    dtype_of_options="{0}.dtype_opt()",
    memory_format_of_options="opgen::check_tensor_options_and_extract_memory_format({0}, {1})",
    gather_options=(
        "TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory)"
    ),
)

_PYTHON = PythonSpelling(
    string="string_view",
    optional_tensors="List<::std::optional<Tensor>>",
    return_types="return_types",
    stub_defaults=(
        ("MemoryFormat::Contiguous", "contiguous_format"),
        ("QScheme::PER_TENSOR_AFFINE", "per_tensor_affine"),
        ("Reduction::Mean", "1"),
        ("kLong", "int64"),
    ),
    argument_annotation=argument_annotation,
    return_annotation=return_annotation,
    display_names=DISPLAY_NAMES,
)

# The runtime neither functionalizes nor differentiates, and its Python functions are generated.
_FILES = frozenset(FileKind) - {
    FileKind.REGISTER_FUNCTIONALIZE,
    FileKind.REGISTER_TWINS,
    FileKind.REGISTER_AUTOGRAD,
    FileKind.PYTHON_FUNCTIONS,
    FileKind.PYTHON_REGISTRATIONS,
}

RUNTIME = Target(
    name="runtime",
    cpp=CppSpelling(
        spelling=_SPELLING,
        conversions=_CONVERSIONS,
        symint_overloads=False,
        meta_base="MetaBase",
        base_headers={
            "InplaceMetaBase": "opgen/meta_base.h",
            "TensorIteratorBase": "opgen/iterator.h",
        },
        author_header="{0}.h",
        base_tensor="opgen::Tensor",
        element_types=element_types("", "complex"),
        type_headers={
            "string": "<string>",
            "IValue": "<opgen/registration/ivalue.h>",
        },
    ),
    plan=FilePlan(
        kinds=_FILES,
        templates=("runtime",),
        cmake_package="opgen",
        runtime_abi=2,
        formula_headers=(
            "opgen/autograd/derived_call.h",
            "opgen/autograd/formulas.h",
            "opgen/core/array_ref.h",
            "opgen/core/complex.h",
            "opgen/core/scalar.h",
            "opgen/core/small_vector.h",
            "opgen/device/device.h",
            "opgen/device/generator.h",
            "opgen/registration/list.h",
            "opgen/registration/optional_ref.h",
            "opgen/tensor/tensor.h",
            "opgen/tensor/tensor_options.h",
        ),
    ),
    dispatch=DispatchPolicy(
        function_keys=frozenset(
            {
                DispatchKey.CPU,
                DispatchKey.CUDA,
                DispatchKey.XPU,
                DispatchKey.MPS,
                DispatchKey.MTIA,
                DispatchKey.Meta,
                *COMPOSITE_DISPATCH_KEYS,
            }
        ),
        checks_outs=True,
        tensor_keys=frozenset({DispatchKey.CPU, DispatchKey.Meta}),
    ),
    python=_PYTHON,
)
