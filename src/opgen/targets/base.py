"""A target: one value that says how the same operators are written for one C++ world.

It is chosen once, in `pipeline`. What differs per target is a field here, never a condition in a
view builder; the templates of a target lie in a folder of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto

from opgen.cpp.spelling import TypeSpelling
from opgen.cpp.translate import Conversions
from opgen.dataclasses import dataclass, field
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.python.spelling import CallWords, PythonSpelling
from opgen.targets.tags import registered_tags
from opgen.targets.world import World


class FileKind(Enum):
    """One kind of generated file, each made by one builder in `views`."""

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
    STUBS = auto()
    BACKEND = auto()
    SELECTED_DTYPES = auto()
    PYTHON = auto()
    PYTHON_FUNCTIONS = auto()
    BUILD_FILE = auto()


@dataclass(frozen=True, slots=True)
class Installed:
    """A library that a target's world has already, and that backends are written for.

    `headers` is the folder by which its headers are included, `namespaces` those of its operators.
    The file at `schema` in the Python package `package` defines them. `between_devices` are operators
    that a backend has kernels for, and whose tensors are on different devices by their nature.
    """

    headers: str
    namespaces: frozenset[str]
    package: str
    schema: str
    between_devices: frozenset[str]


@dataclass(frozen=True, slots=True)
class Target:
    """How one C++ world spells, converts and lays out what is generated.

    `function_keys` are the dispatch keys that get direct functions (`at::cpu::add`) and a
    `<Key>Functions.h`; `files` is the file plan; `symint_overloads` says whether SymInt is a type of
    its own there, so that each function with a SymInt argument has a second C++ signature.
    `meta_base` is the base of meta classes without `structured_inherits`, `base_headers` says which
    header declares another of that world, `author_header` which declares one of the author's, `element_types` the C++ type of each ScalarType. `api_macro` makes a class
    visible outside its library; `api_macros` holds those of dispatch keys that have one of their own.
    `kernel_suffixes` are those of the sources in a folder of kernels.
    `templates` are the folders of templates, the first that has one first. `tensor_header` declares the
    types of signatures, where class Tensor is not the library's, and `type_headers` those that it does not declare, by their C++ names; `cmake_package` is what a generated
    CMakeLists.txt finds. `own_namespaces` are those whose operators that world has already, and
    `knows_all_tags` is whether a tags.yaml may add to the built-in tags there, `registered_tags` which of
    its tags an operator is registered with, `makes_ufuncs` whether
    kernels are made of inner loops.
    `python` is what is filled into Python signatures. `functionalizes` says whether that world replaces
    operators that write their arguments, and views, by others, `makes_outless` whether it has structured
    operators without out variants, `checks_structured` whether the generated code checks
    that the tensors of structured kernels share a device, `checks_outs` whether it looks at the memory that the outputs
    of unstructured kernels share. `key_headers` are what the registrations of
    a key include besides. `meta_spelling` is how meta functions spell types where
    their bodies are compiled for known and for symbolic sizes, which names of their class mean;
    `sized_bases` names the bases of meta classes that exist for both. `tensor_keys` are the dispatch keys
    that tensors of that world have; None if there are backends for all. `installed` is the library
    that an external backend is for, if it is not one that opgen generated. `fallback_header` declares
    `opgen::cpu_fallback`, if that world has it. `call_words` are for the stubs of its functions, where it has operators as functions of
    Python already; `world` is what has to be installed before a library can be compiled, if opgen does not bring
    it along.
    """

    name: str
    spelling: TypeSpelling
    conversions: Conversions
    python: PythonSpelling
    runtime_abi: int
    files: frozenset[FileKind]
    function_keys: frozenset[DispatchKey]
    symint_overloads: bool
    meta_base: str
    base_headers: Mapping[str, str]
    author_header: str
    element_types: Mapping[str, str]
    api_macro: str
    api_macros: Mapping[DispatchKey, str]
    templates: tuple[str, ...]
    cmake_package: str
    kernel_suffixes: tuple[str, ...] = (".cpp",)
    tensor_header: str | None = None
    type_headers: Mapping[str, str] = field(default_factory=dict)
    own_namespaces: frozenset[str] = frozenset()
    knows_all_tags: bool = True
    registered_tags: Callable[[NativeFunction], frozenset[str]] = registered_tags
    makes_ufuncs: bool = True
    functionalizes: bool = False
    makes_outless: bool = True
    meta_spelling: TypeSpelling | None = None
    sized_bases: Mapping[str, str] = field(default_factory=dict)
    checks_structured: bool = False
    checks_outs: bool = False
    key_headers: Mapping[DispatchKey, str] = field(default_factory=dict)
    tensor_keys: frozenset[DispatchKey] | None = None
    installed: Installed | None = None
    fallback_header: str | None = None
    call_words: CallWords | None = None
    world: World | None = None
