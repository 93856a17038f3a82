"""Target `torch-stable`: operators against PyTorch's stable C functions, so that one library serves many releases.

The generated text names class templates of opgen's own runtime, which `runtime/torch_stable` has over tensors of
PyTorch; meta functions are compiled for two kinds of sizes, as for target `torch`.
"""

from __future__ import annotations

from msgspec.structs import replace

from opgen.model.dispatch_key import DispatchKey
from opgen.targets.base import (
    PYTORCH_STABLE,
    CppSpelling,
    DispatchPolicy,
    FileKind,
    FilePlan,
    SchemaPolicy,
    Target,
    tags_that_pytorch_follows,
)
from opgen.targets.runtime import RUNTIME
from opgen.targets.torch import TORCH, TORCH_META_SPELLING

# The ABI has no dictionaries and no custom classes.
_SPELLING = replace(
    RUNTIME.cpp.spelling,
    names={"string_view": "::std::string_view", "string": "::std::string"},
    dictionary="",
    symint_default="SymInt({0})",
)

_META_SPELLING = replace(TORCH_META_SPELLING, dictionary="", pointer="")

_CONVERSIONS = replace(
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
_FILES = TORCH.plan.kinds - {
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
        spelling=_SPELLING,
        conversions=_CONVERSIONS,
        symint_overloads=True,
        meta_base="MetaBase",
        base_headers=RUNTIME.cpp.base_headers,
        author_header="{0}.h",
        element_types=RUNTIME.cpp.element_types,
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
