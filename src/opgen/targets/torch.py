"""Target `torch`: operators against an installed libtorch, spelled as torchgen spells them. And target `torch-stable`:
operators against PyTorch's stable C functions, so that one library serves many releases.

The generated text names class templates that `runtime/torch/include` has over ATen, and `runtime/torch_stable` over tensors
of PyTorch, by the names of opgen's own runtime; so most templates are those of target runtime.
"""

from __future__ import annotations

from msgspec.structs import replace

from opgen.cpp.cpp_types import TypeSpelling
from opgen.cpp.translate import Conversions
from opgen.model.dispatch_key import COMPOSITE_DISPATCH_KEYS, DispatchKey
from opgen.model.types import BaseTy
from opgen.python.python_types import AnnotationNames, PythonSpelling, stub_return_type, stub_type
from opgen.targets.base import (
    PYTORCH,
    PYTORCH_STABLE,
    CppSpelling,
    DispatchPolicy,
    FileKind,
    FilePlan,
    InstalledLibrary,
    SchemaPolicy,
    Target,
    element_types,
    tags_that_pytorch_follows,
)
from opgen.targets.runtime import RUNTIME

_SPELLING = TypeSpelling(
    names={
        "SymInt": "c10::SymInt",
        "SymBool": "c10::SymBool",
        "SymIntArrayRef": "c10::SymIntArrayRef",
        "string_view": "c10::string_view",
        "string": "::std::string",
        "IValue": "c10::IValue",
        "complex": "c10::complex<double>",
        "TypeAndSize": "torch::autograd::generated::TypeAndSize",
        "Any": "c10::IValue",
    },
    prefix="at::",
    array_ref="at::ArrayRef",
    list="c10::List",
    dictionary="c10::Dict",
    pointer="c10::intrusive_ptr",
    defaults={
        "True": "true",
        "False": "false",
        "None": "::std::nullopt",
        "Mean": "at::Reduction::Mean",
        "contiguous_format": "c10::MemoryFormat::Contiguous",
        "long": "at::kLong",
    },
    symint_default="c10::SymInt({0})",
)

# In a meta class, types that may be symbolic have the schema's names without `Sym`. Types that have those names
# elsewhere are written out: dimensions, for example, are always numbers.
TORCH_META_SPELLING = TypeSpelling(
    names={
        "SymInt": "Int",
        "SymIntArrayRef": "IntArrayRef",
        "IntArrayRef": "ArrayRef<int64_t>",
        "string_view": "::std::string_view",
    },
    prefix="",
    array_ref="ArrayRef",
    list="List",
    dictionary="Dict",
    pointer="c10::intrusive_ptr",
    defaults={},
    symint_default="{0}",
)

_CONVERSIONS = Conversions(
    dtype_of_options="c10::optTypeMetaToScalarType({0}.dtype_opt())",
    memory_format_of_options=(
        "c10::impl::check_tensor_options_and_extract_memory_format({0}, {1})"
    ),
    gather_options=(
        "at::TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory)"
    ),
    optional_tensor_ref=(
        "(({0}.has_value() && (*{0}).defined()) ? at::OptionalTensorRef(*{0})"
        " : at::OptionalTensorRef())"
    ),
    optional_scalar_ref="({0}.has_value() ? at::OptionalScalarRef(&({0}.value())) : at::OptionalScalarRef())",
    optional_tensor_list_ref="at::IOptTensorListRef({0})",
    int_from_sym="{0}.guard_int(__FILE__, __LINE__)",
    optional_int_from_sym=(
        "{0}.has_value() ? ::std::make_optional({0}->guard_int(__FILE__, __LINE__)) : ::std::nullopt"
    ),
    optional_sym_from_int="{0}.has_value() ? ::std::make_optional(c10::SymInt(*{0})) : ::std::nullopt",
    ints_from_syms="C10_AS_INTARRAYREF_SLOW({0})",
    syms_from_ints="c10::fromIntArrayRefSlow({0})",
    optional_ints_from_syms=(
        "{0}.has_value() ? ::std::make_optional(C10_AS_INTARRAYREF_SLOW(*{0})) : ::std::nullopt"
    ),
    optional_syms_from_ints=(
        "{0}.has_value() ? ::std::make_optional(c10::fromIntArrayRefSlow(*{0})) : ::std::nullopt"
    ),
    optional_ints="{0}.has_value() ? ::std::make_optional(*{0}) : ::std::nullopt",
)

_PYTHON = PythonSpelling(
    string="c10::string_view",
    optional_tensors="c10::List<::std::optional<Tensor>>",
    return_types="torch.return_types",
    stub_defaults=(
        ("c10::MemoryFormat::Contiguous", "contiguous_format"),
        ("QScheme::PER_TENSOR_AFFINE", "per_tensor_affine"),
    ),
    argument_annotation=stub_type,
    return_annotation=stub_return_type,
    display_names={},
)

# For calls through torch.ops, which accepts no number for a Tensor, and returns dtypes, layouts and memory formats as
# ints. Source: torch 2.13, by trial.
_CALL_WORDS = AnnotationNames(
    arguments={
        BaseTy.Tensor: "_Tensor",
        BaseTy.Scalar: "_complex",
        BaseTy.int: "_int",
        BaseTy.SymInt: "_int | _SymInt",
        BaseTy.DeviceIndex: "_int",
        BaseTy.float: "_float",
        BaseTy.complex: "_complex",
        BaseTy.bool: "_bool",
        BaseTy.SymBool: "_bool | _SymBool",
        BaseTy.str: "_str",
        BaseTy.ScalarType: "_dtype",
        BaseTy.Layout: "_layout",
        BaseTy.Device: "_device | _str",
        BaseTy.MemoryFormat: "_memory_format",
        BaseTy.Generator: "_Generator",
        BaseTy.QScheme: "_int",
    },
    returns={
        BaseTy.Scalar: "_Any",
        BaseTy.ScalarType: "_int",
        BaseTy.Layout: "_int",
        BaseTy.MemoryFormat: "_int",
        BaseTy.Device: "_device",
    },
    imports=(
        {
            **{
                f"_{name}": f"from builtins import {name} as _{name}"
                for name in ("bool", "complex", "dict", "float", "int", "list", "str", "tuple")
            },
            "_Sequence": "from collections.abc import Sequence as _Sequence",
            "_Any": "from typing import Any as _Any",
            "_overload": "from typing import overload as _overload",
            "_type_check_only": "from typing import type_check_only as _type_check_only",
        },
        {
            f"_{name}": f"from torch import {name} as _{name}"
            for name in (
                *("Generator", "SymBool", "SymInt", "Tensor"),
                *("device", "dtype", "layout", "memory_format"),
            )
        }
        | {
            f"_{name}": f"from torch._ops import {name} as _{name}"
            for name in ("OpOverload", "OpOverloadPacket")
        },
    ),
)

# Class Tensor, its methods and the Python bindings are PyTorch's own.
_FILES = frozenset(FileKind) - {
    FileKind.TENSOR_BODY,
    FileKind.TENSOR_METHODS,
    FileKind.PYTHON,
    FileKind.PYTHON_REGISTRATIONS,
}

TORCH = Target(
    name="torch",
    cpp=CppSpelling(
        spelling=_SPELLING,
        conversions=_CONVERSIONS,
        symint_overloads=True,
        meta_base="at::impl::MetaBase",
        base_headers={
            "InplaceMetaBase": "ATen/TensorMeta.h",
            "TensorIteratorBase": "ATen/TensorIterator.h",
        },
        author_header="{0}.h",
        element_types=element_types("at::", "c10::complex"),
        api_macro="TORCH_API",
        api_macros={DispatchKey.XPU: "TORCH_XPU_API"},
        meta_spelling=TORCH_META_SPELLING,
        sized_bases={
            "at::impl::MetaBase": "MetaBase",
            "InplaceMetaBase": "MetaBase",
            "TensorIteratorBase": "TensorIteratorBase",
        },
    ),
    plan=FilePlan(
        kinds=_FILES,
        templates=("torch", "runtime"),
        cmake_package="opgen_torch",
        runtime_abi=1,
        kernel_suffixes=(".cpp", ".cu"),
        formula_headers=(
            "ATen/TensorGeometry.h",
            "ATen/core/Generator.h",
            "ATen/core/List.h",
            "ATen/core/TensorBase.h",
            "ATen/core/TensorBody.h",
            "c10/core/Device.h",
            "c10/core/Scalar.h",
            "c10/core/SymInt.h",
            "c10/core/SymIntArrayRef.h",
            "c10/core/TensorOptions.h",
            "c10/util/ArrayRef.h",
            "c10/util/OptionalArrayRef.h",
            "torch/headeronly/util/HeaderOnlyArrayRef.h",
        ),
    ),
    dispatch=DispatchPolicy(
        function_keys=frozenset(
            {
                DispatchKey.CPU,
                DispatchKey.CUDA,
                DispatchKey.MTIA,
                DispatchKey.Meta,
                *COMPOSITE_DISPATCH_KEYS,
            }
        ),
        functionalizes=True,
        has_python_kernels=True,
        decomposing_layers=(DispatchKey.Functionalize, DispatchKey.FuncTorchBatchedDecomposition),
        checks_structured=True,
        key_headers={DispatchKey.CUDA: "opgen/cuda.h"},
    ),
    python=_PYTHON,
    schema=SchemaPolicy(
        own_namespaces=frozenset({"aten", "prim", "prims", "quantized", "torch", "c10", "opgen"}),
        knows_all_tags=False,
        registered_tags=tags_that_pytorch_follows,
        makes_ufuncs=False,
        makes_outless=False,
    ),
    call_words=_CALL_WORDS,
    installed=InstalledLibrary(
        headers="ATen",
        namespaces=frozenset({"aten"}),
        package="torchgen",
        schema="packaged/ATen/native/native_functions.yaml",
        derivatives="packaged/autograd/derivatives.yaml",
        between_devices=frozenset({"aten::_copy_from", "aten::_copy_from_and_resize"}),
        fallback_header="opgen/cpu_fallback.h",
        include="../torch/include",
    ),
    required_package=PYTORCH,
)


# The ABI has no dictionaries and no custom classes.
_STABLE_SPELLING = replace(
    RUNTIME.cpp.spelling,
    names={"string_view": "::std::string_view", "string": "::std::string"},
    dictionary="",
    symint_default="SymInt({0})",
)

_STABLE_META_SPELLING = replace(TORCH_META_SPELLING, dictionary="", pointer="")

_STABLE_CONVERSIONS = replace(
    RUNTIME.cpp.conversions,
    int_from_sym="{0}.guard_int(__FILE__, __LINE__)",
    optional_int_from_sym="opgen::detail::concrete({0})",
    optional_sym_from_int="{0}.has_value() ? ::std::make_optional(SymInt(*{0})) : ::std::nullopt",
    ints_from_syms="opgen::detail::as_numbers({0})",
    syms_from_ints="opgen::detail::as_symbols({0})",
    optional_ints_from_syms="opgen::detail::concrete({0})",
    optional_syms_from_ints=(
        "{0}.has_value() ? ::std::make_optional(opgen::detail::as_symbols(*{0})) : ::std::nullopt"
    ),
)

# Class Tensor, its methods and the Python bindings are PyTorch's own. What autograd and functionalization need is
# registered in Python.
_STABLE_FILES = TORCH.plan.kinds - {
    FileKind.REDISPATCH,
    FileKind.REGISTER_FUNCTIONALIZE,
    FileKind.REGISTER_TWINS,
    FileKind.REGISTER_AUTOGRAD,
    FileKind.DERIVATIVES,
    FileKind.FORMULA_STUBS,
    FileKind.BACKEND,
} | {FileKind.PYTHON_REGISTRATIONS}

TORCH_STABLE = Target(
    name="torch-stable",
    cpp=CppSpelling(
        spelling=_STABLE_SPELLING,
        conversions=_STABLE_CONVERSIONS,
        symint_overloads=True,
        meta_base="MetaBase",
        base_headers=RUNTIME.cpp.base_headers,
        author_header="{0}.h",
        element_types=RUNTIME.cpp.element_types,
        type_headers={"string": "<string>"},
        meta_spelling=_STABLE_META_SPELLING,
        sized_bases={
            "MetaBase": "MetaBase",
            "InplaceMetaBase": "MetaBase",
            "TensorIteratorBase": "TensorIteratorBase",
        },
    ),
    plan=FilePlan(
        kinds=_STABLE_FILES,
        templates=("torch_stable", "torch", "runtime"),
        cmake_package="opgen_torch_stable",
        runtime_abi=1,
        kernel_suffixes=(".cpp", ".cu"),
    ),
    dispatch=DispatchPolicy(
        functionalizes=True,
        replaces_several_views=True,
        has_forms_below_autograd=True,
        # Functionalization is in Python.
        decomposing_layers=(DispatchKey.FuncTorchBatchedDecomposition,),
        # Not Meta: PyTorch's stable functions do not give C++ the symbols that fakes have.
        function_keys=frozenset(
            {
                DispatchKey.CPU,
                DispatchKey.CUDA,
                DispatchKey.CompositeImplicitAutograd,
                DispatchKey.CompositeExplicitAutograd,
                DispatchKey.CompositeExplicitAutogradNonFunctional,
            }
        ),
    ),
    python=RUNTIME.python,
    schema=SchemaPolicy(
        own_namespaces=TORCH.schema.own_namespaces,
        knows_all_tags=False,
        registered_tags=tags_that_pytorch_follows,
        makes_ufuncs=False,
        makes_outless=False,
        passes_numbers=False,
        has_alias_analysis=False,
    ),
    call_words=TORCH.call_words,
    required_package=PYTORCH_STABLE,
    serves_releases=True,
)
