"""A target: one value that says how operators are generated for one C++ library.

It is chosen once, in `pipeline`. A difference between targets is a field here, never a condition in a builder. The
templates of a target are in a folder with its name.

Facts about releases of PyTorch come first. Their C++ side is runtime/torch/include/opgen/core/release.h. Source: the headers
of each release, and tests/nightly/test_torch_releases.py and torch_run.py, which compile and run
what is generated; tests/RESULTS.md has what they found.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable, Collection, Mapping
from enum import Enum, auto

from msgspec import Struct, field

from opgen.cpp.cpp_types import TypeSpelling
from opgen.cpp.translate import Conversions
from opgen.diagnostics import Diagnostics
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy, BaseType
from opgen.python.python_types import AnnotationNames, PythonSpelling

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
    metadata = importlib.import_module("importlib.metadata")
    try:
        version = str(metadata.version(package))
    except metadata.PackageNotFoundError:
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


class FileKind(Enum):
    """One kind of generated file, each made by one builder in `emit`."""

    OPERATOR_FUNCTIONS = auto()
    OPERATOR_OPS = auto()
    OPERATOR_NATIVE = auto()
    OPERATOR_META = auto()
    OPERATOR_DISPATCH = auto()
    UMBRELLAS = auto()
    REDISPATCH = auto()
    TENSOR_BODY = auto()
    TENSOR_METHODS = auto()
    OPERATORS = auto()
    REGISTER_SCHEMA = auto()
    REGISTER_KEYS = auto()
    COMPOSITE_KERNELS = auto()
    REGISTER_FUNCTIONALIZE = auto()
    REGISTER_TWINS = auto()
    REGISTER_AUTOGRAD = auto()
    DERIVATIVES = auto()
    STUBS = auto()
    FORMULA_STUBS = auto()
    BACKEND = auto()
    SELECTED_DTYPES = auto()
    PYTHON = auto()
    PYTHON_FUNCTIONS = auto()
    PYTHON_REGISTRATIONS = auto()
    TVM_FFI = auto()
    BUILD_FILE = auto()


class CppSpelling(Struct, frozen=True):
    """The spelling of types, values, and classes of structured operators in C++.

    `spelling` and `conversions` are for signatures. With `symint_overloads`, SymInt is a type of its own, and each
    function with a SymInt argument has a second C++ signature. `base_tensor` is the class from which a library
    derives its class Tensor, which has its operators as methods; empty if operators cannot be methods. `type_headers` has
    the headers of base types that tensor.h does not declare, `element_types` the C++ type of each ScalarType.

    Meta classes without `structured_inherits` derive from `meta_base`. `base_headers` has the headers of other bases
    that the target knows, and `author_header` is the pattern for those that authors declare. Where meta functions are
    compiled for known and for symbolic sizes, they are spelled by `meta_spelling`, and `sized_bases` has the names
    of the bases that exist for both. `api_macro` makes a class visible outside its library; `api_macros` has
    those of dispatch keys with a macro of their own.
    """

    spelling: TypeSpelling
    conversions: Conversions
    symint_overloads: bool
    meta_base: str
    base_headers: Mapping[str, str]
    author_header: str
    element_types: Mapping[str, str]
    api_macro: str = ""
    api_macros: Mapping[DispatchKey, str] = field(default_factory=dict)
    base_tensor: str = ""
    type_headers: Mapping[str, str] = field(default_factory=dict)
    meta_spelling: TypeSpelling | None = None
    sized_bases: Mapping[str, str] = field(default_factory=dict)


def element_types(prefix: str, complex_type: str) -> Mapping[str, str]:
    """Return the C++ type of each tag of the dispatch macros, OPGEN_DISPATCH_*."""
    names = ("int8", "int16", "int32", "int64")
    integers = zip(("Char", "Short", "Int", "Long"), names)
    return {
        "Bool": "bool",
        "Byte": "::std::uint8_t",
        **{tag: f"::std::{name}_t" for tag, name in integers},
        **{tag: f"{prefix}{tag}" for tag in ("Half", "BFloat16")},
        "Float": "float",
        "Double": "double",
        "ComplexFloat": f"{complex_type}<float>",
        "ComplexDouble": f"{complex_type}<double>",
    }


class FilePlan(Struct, frozen=True):
    """The files that a target generates, and their templates.

    `templates` are folders of templates; a template is taken from the first that has it. A generated CMakeLists.txt
    finds `cmake_package`. `kernel_suffixes` are those of the sources in a folder of kernels, and `runtime_abi` is
    the version of the headers that generated code requires. `formula_headers` declare the classes whose members formulas
    call, besides class Tensor where it is generated.
    """

    kinds: frozenset[FileKind]
    templates: tuple[str, ...]
    cmake_package: str
    runtime_abi: int
    kernel_suffixes: tuple[str, ...] = (".cpp",)
    formula_headers: tuple[str, ...] = ()


class SchemaPolicy(Struct, frozen=True):
    """The operators that a target accepts, and the form of their registration.

    Nobody may add operators to `own_namespaces`. With `knows_all_tags`, a tags.yaml may add to the built-in tags;
    `registered_tags` returns the tags that an operator is registered with. `makes_ufuncs` says whether kernels are
    generated from inner loops, and `makes_outless` whether structured operators may lack an out variant. A target that
    does not pass numbers of any kind has a hidden operator for each that takes some (resolve.number_forms). Without
    `has_alias_analysis`, operators are always registered as their schemas say.
    """

    own_namespaces: frozenset[str] = frozenset()
    knows_all_tags: bool = True
    registered_tags: Callable[[NativeFunction], frozenset[str]] = registered_tags
    makes_ufuncs: bool = True
    makes_outless: bool = True
    passes_numbers: bool = True
    has_alias_analysis: bool = True


class DispatchPolicy(Struct, frozen=True):
    """The calls of kernels in generated code, and the checks before them.

    `function_keys` are the dispatch keys with direct functions (`at::cpu::add`) and a <Key>Functions.h.
    `functionalizes` says whether operators that write their arguments, and views, are replaced by others; with
    `replaces_several_views`, also operators that return more than one view.
    Composite kernels are registered for `decomposing_layers`, too, if the operators that they call know these better.
    `checks_structured` makes structured kernels check that their tensors share a device, `checks_outs` makes
    unstructured out= kernels check whether their outputs share memory with inputs or each other. `key_headers` are
    headers for the registrations of a key. Tensors have only `tensor_keys`; None means that there are backends for all
    keys. `has_forms_below_autograd` says whether autograd kernels call hidden operators (resolve.below_autograd), because
    they cannot call the next kernel. With `has_python_kernels`, a row may say that Python registers its kernel.
    """

    function_keys: frozenset[DispatchKey]
    functionalizes: bool = False
    replaces_several_views: bool = False
    has_forms_below_autograd: bool = False
    has_python_kernels: bool = False
    decomposing_layers: tuple[DispatchKey, ...] = ()
    checks_structured: bool = False
    checks_outs: bool = False
    key_headers: Mapping[DispatchKey, str] = field(default_factory=dict)
    tensor_keys: frozenset[DispatchKey] | None = None


class InstalledLibrary(Struct, frozen=True):
    """A library of operators that is installed with the target's package, and that backends are written for.

    `headers` is the folder by which its headers are included, `namespaces` are those of its operators. The file
    `schema` in the Python package `package` defines them, and `derivatives` has the formulas of their gradients. The tensors of `between_devices` are on different devices
    by the nature of these operators, so backends do not check them. `fallback_header` declares `opgen::cpu_fallback`.
    `include` is the folder of its headers, relative to the package.
    """

    headers: str
    namespaces: frozenset[str]
    package: str
    schema: str
    derivatives: str
    between_devices: frozenset[str]
    fallback_header: str
    include: str


class Target(Struct, frozen=True):
    """The settings for one C++ library, by concern.

    `python` has the types and defaults of Python signatures. `call_words` are those of stubs, if the target itself makes
    operators callable from Python. `installed` is the library for which external backends are written, unless opgen
    generated it. `required_package` must be installed before a library can be compiled; None if opgen has everything. If the
    target `serves_releases`, one library works with all releases of the package from one that the author names.
    """

    name: str
    cpp: CppSpelling
    plan: FilePlan
    dispatch: DispatchPolicy
    python: PythonSpelling
    schema: SchemaPolicy = SchemaPolicy()
    call_words: AnnotationNames | None = None
    installed: InstalledLibrary | None = None
    required_package: RequiredPackage | None = None
    serves_releases: bool = False
