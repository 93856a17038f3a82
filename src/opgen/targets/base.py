"""A target: one value that says how operators are generated for one C++ library.

It is chosen once, in `pipeline`. A difference between targets is a field here, never a condition in a builder. The
templates of a target are in a folder with its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto

from msgspec import Struct, field

from opgen.cpp.translate import Conversions
from opgen.cpp.type_values import TypeSpelling
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.python.python_types import AnnotationNames, PythonSpelling
from opgen.targets.releases import RequiredPackage, registered_tags


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
    BUILD_FILE = auto()


class CppSpelling(Struct, frozen=True):
    """The spelling of types, values, and classes of structured operators in C++.

    `spelling` and `conversions` are for signatures. With `symint_overloads`, SymInt is a type of its own, and each
    function with a SymInt argument has a second C++ signature. `tensor_header` declares the types of signatures where
    class Tensor is not the library's; `type_headers` has the headers of types that it does not declare, by C++ name.
    `element_types` has the C++ type of each ScalarType.

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
    tensor_header: str | None = None
    type_headers: Mapping[str, str] = field(default_factory=dict)
    meta_spelling: TypeSpelling | None = None
    sized_bases: Mapping[str, str] = field(default_factory=dict)


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
