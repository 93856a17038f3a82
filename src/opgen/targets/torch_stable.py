"""Target `torch-stable`: operators against PyTorch's stable C functions, so that one library serves many releases.

The generated text names class templates of opgen's own runtime, which `runtime/torch_stable` has over tensors of
PyTorch; meta functions are compiled for two kinds of sizes, as for target `torch`.
"""

from __future__ import annotations

from opgen.cpp.spelling import TypeSpelling
from opgen.cpp.translate import Conversions
from opgen.model.dispatch_key import DispatchKey
from opgen.targets.base import CppSpelling, DispatchPolicy, FileKind, FilePlan, SchemaPolicy, Target
from opgen.targets.releases import PYTORCH_STABLE
from opgen.targets.runtime import RUNTIME
from opgen.targets.tags import tags_that_pytorch_follows
from opgen.targets.torch import TORCH

_SPELLING = TypeSpelling(
    names={"string_view": "::std::string_view", "string": "::std::string"},
    prefix="",
    standard="::std::",
    array_ref="ArrayRef",
    list="List",
    dictionary="",
    pointer="",
    reference="",
    assign=" = ",
    defaults=RUNTIME.cpp.spelling.defaults,
    symint_default="SymInt({0})",
)

_META_SPELLING = TypeSpelling(
    names={
        "SymInt": "Int",
        "SymIntArrayRef": "IntArrayRef",
        "IntArrayRef": "ArrayRef<int64_t>",
        "string_view": "::std::string_view",
    },
    prefix="",
    standard="::std::",
    array_ref="ArrayRef",
    list="List",
    dictionary="",
    pointer="",
    reference="",
    assign=" = ",
    defaults={},
    symint_default="{0}",
)

# Optionals convert to references implicitly.
_CONVERSIONS = Conversions(
    this_tensor="const_cast<Tensor&>(*this)",
    dtype_of_options="{0}.dtype_opt()",
    layout_of_options="{0}.layout_opt()",
    device_of_options="{0}.device_opt()",
    pin_memory_of_options="{0}.pinned_memory_opt()",
    memory_format_of_options="opgen::check_tensor_options_and_extract_memory_format({0}, {1})",
    gather_options=(
        "TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory)"
    ),
    no_value="::std::nullopt",
    optional_tensor_ref="{0}",
    optional_scalar_ref="{0}",
    optional_tensor_list_ref="{0}",
    int_from_sym="{0}.guard_int(__FILE__, __LINE__)",
    sym_from_int="{0}",
    optional_int_from_sym="opgen::detail::concrete({0})",
    optional_sym_from_int="{0}.has_value() ? ::std::make_optional(SymInt(*{0})) : ::std::nullopt",
    ints_from_syms="opgen::detail::as_numbers({0})",
    syms_from_ints="opgen::detail::as_symbols({0})",
    optional_ints_from_syms="opgen::detail::concrete({0})",
    optional_syms_from_ints=(
        "{0}.has_value() ? ::std::make_optional(opgen::detail::as_symbols(*{0})) : ::std::nullopt"
    ),
    optional_ints="{0}",
)

# Class Tensor, its methods and the Python bindings are PyTorch's own. What autograd and functionalization need is
# registered in Python.
_FILES = frozenset(
    {
        FileKind.OPERATOR_FUNCTIONS,
        FileKind.OPERATOR_OPS,
        FileKind.OPERATOR_NATIVE,
        FileKind.OPERATOR_META,
        FileKind.OPERATOR_DISPATCH,
        FileKind.UMBRELLAS,
        FileKind.OPERATORS,
        FileKind.REGISTER_SCHEMA,
        FileKind.REGISTER_KEYS,
        FileKind.COMPOSITE_KERNELS,
        FileKind.STUBS,
        FileKind.SELECTED_DTYPES,
        FileKind.PYTHON_FUNCTIONS,
        FileKind.PYTHON_REGISTRATIONS,
        FileKind.BUILD_FILE,
    }
)

TORCH_STABLE = Target(
    name="torch-stable",
    cpp=CppSpelling(
        spelling=_SPELLING,
        conversions=_CONVERSIONS,
        symint_overloads=True,
        meta_base="MetaBase",
        base_headers=RUNTIME.cpp.base_headers,
        author_header="{0}.h",
        element_types=RUNTIME.cpp.element_types,
        tensor_header="opgen/tensor.h",
        type_headers={"::std::string": "<string>"},
        meta_spelling=_META_SPELLING,
        sized_bases={
            "MetaBase": "MetaBase",
            "InplaceMetaBase": "MetaBase",
            "TensorIteratorBase": "TensorIteratorBase",
        },
    ),
    plan=FilePlan(
        kinds=_FILES,
        templates=("torch_stable", "torch", "runtime"),
        cmake_package="opgen_torch_stable",
        runtime_abi=1,
        kernel_suffixes=(".cpp", ".cu"),
    ),
    dispatch=DispatchPolicy(
        functionalizes=True,
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
    ),
    call_words=TORCH.call_words,
    required_package=PYTORCH_STABLE,
    serves_releases=True,
)
