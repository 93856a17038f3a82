"""The keys of an entry and of a file's header, in the order of the documentation.

All of opgen takes them from here: `key_readers`, `opgen schema`, `format` and `dump`, and editors. What they mean is read
from docs/reference/keys.md.
The type of a key's value and its default are those of the field of `NativeFunction` with its name.

Messages give advice on keys and values that do not exist: an `Advice`, or None if there is none.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Collection, Iterable, Mapping
from enum import Enum, auto
from functools import cache

from msgspec import Struct

from opgen.data import read_sections, table_rows
from opgen.diagnostics.suggestions import meant, shorten
from opgen.model.cpp_words import is_identifier
from opgen.model.dispatch_key import STRUCTURED_DISPATCH_KEYS, DispatchKey
from opgen.model.native_function import AliasAnalysisKind, DeviceCheckType, EffectType
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode


class Kind(Enum):
    """The form of a key's value in YAML."""

    flag = auto()
    choice = auto()
    schema = auto()
    doc = auto()
    variants = auto()
    operator_name = auto()
    operator_names = auto()
    class_name = auto()
    module = auto()
    fake = auto()
    any_string = auto()
    strings = auto()
    precomputed = auto()
    tags = auto()
    dispatch = auto()
    inner_loops = auto()


class Users(Enum):
    """The operators that may have a key: all; all except with --strict-torchgen; those of libraries, likewise."""

    all = auto()
    opgen = auto()
    libraries = auto()


class Choice(Struct, frozen=True):
    """The words that a key takes, and the code and a note for any other word."""

    words: type[Enum]
    code: str
    note: str = ""


class Key(Struct, frozen=True):
    """A key of an entry. `rank` is its place in the usual order, in which `opgen format` writes keys.

    That order comes from PyTorch's native_functions.yaml (2.13): of all orders, it agrees with the most pairs of keys in an
    entry, 15,123 of 16,005, and 2,031 of the 2,584 entries have it already. The order of two keys that no entry there has
    together is arbitrary.
    """

    kind: Kind
    rank: int
    of: Users = Users.all
    choice: Choice | None = None


KEYS: Mapping[str, Key] = {
    "func": Key(Kind.schema, 0),
    "doc": Key(Kind.doc, 1, of=Users.opgen),
    "variants": Key(Kind.variants, 9),
    "structured": Key(Kind.flag, 6),
    "structured_delegate": Key(Kind.operator_name, 7),
    "structured_inherits": Key(Kind.class_name, 8),
    "precomputed": Key(Kind.precomputed, 10),
    "dispatch": Key(Kind.dispatch, 14),
    "autogen": Key(Kind.operator_names, 23),
    "tags": Key(Kind.tags, 20),
    "device_check": Key(Kind.choice, 3, choice=Choice(DeviceCheckType, "E0205")),
    "device_guard": Key(Kind.flag, 12),
    "python_module": Key(Kind.module, 5),
    "category_override": Key(Kind.any_string, 4),
    "cpp_no_default_args": Key(Kind.strings, 13),
    "use_const_ref_for_mutable_tensors": Key(Kind.flag, 2),
    "manual_kernel_registration": Key(Kind.flag, 22),
    "manual_cpp_binding": Key(Kind.flag, 21),
    "fake": Key(Kind.fake, 15, of=Users.libraries),
    "fake_module": Key(Kind.module, 16, of=Users.libraries),
    "effects": Key(
        Kind.choice,
        17,
        of=Users.libraries,
        choice=Choice(EffectType, "E0258", "the only value is 'ordered'"),
    ),
    "alias_analysis": Key(
        Kind.choice,
        18,
        of=Users.libraries,
        choice=Choice(
            AliasAnalysisKind, "E0260", f"PyTorch has {', '.join(AliasAnalysisKind.__members__)}"
        ),
    ),
    "strict_autograd": Key(Kind.flag, 19, of=Users.libraries),
    "ufunc_inner_loop": Key(Kind.inner_loops, 11),
}

# The keys of a file's header, its first item (opgen only).
HEADER_KEYS = ("namespace", "include", "fragment", "classes", "fake_module")
KEY_ORDER = (
    *(name for name in HEADER_KEYS if name not in KEYS),
    *sorted(KEYS, key=lambda name: KEYS[name].rank),
)
CLASS_KEYS = ("type", "header", "define")
# Where docs/reference/keys.md has them.
ENTRY, HEADER, CLASS = "An entry", "The header", "A class of `classes`"


@cache
def described(heading: str) -> Mapping[str, str]:
    """Return what keys mean, in Markdown: those in the table below a heading of the page."""
    return dict(table_rows(read_sections("reference/keys")[heading]))


# Values of a dispatch table that are not kernels of the library's author.
FALLTHROUGH_DESCRIPTION = "No kernel: a call continues at the next dispatch key."
PYTHON_DESCRIPTION = (
    "A Python function, which the package's ops.py registers with `torch.library.impl`."
)
EXISTING_DESCRIPTION = (
    "An existing C++ function, which is called directly. A header of `include` declares it."
)

_AUTOGRAD, _AUTOCAST = "Autograd", "Autocast"


def describe_dispatch_key(key: DispatchKey) -> str:
    """Describe the purpose of a kernel for `key` in a sentence."""
    told = described("What a key is for").get(key.name)
    if told is not None:
        return told
    if key.name.startswith(_AUTOGRAD):
        return f"The kernel that computes gradients for tensors of {key.name[len(_AUTOGRAD) :]}."
    if key.name.startswith(_AUTOCAST):
        device = key.name[len(_AUTOCAST) :]
        return f"The kernel that casts arguments under autocast on {device}, and calls the operator again."
    if key.name.startswith("PrivateUse"):
        return f"The kernel for tensors of a third-party device, under {key}."
    if key in _PYTORCH_INTERNAL:
        return f"A key that PyTorch uses internally: {key}."
    structured = " Structured operators may have one." if key in STRUCTURED_DISPATCH_KEYS else ""
    return f"The kernel for tensors of {key}.{structured}"


# Keys above the backends, whose kernels PyTorch itself registers.
_PYTORCH_INTERNAL = frozenset(
    DispatchKey[name]
    for name in (
        *("FuncTorchDynamicLayerBackMode", "FuncTorchDynamicLayerFrontMode", "FuncTorchVmapMode"),
        *("FuncTorchGradWrapper", "Batched", "BatchedNestedTensor", "VmapMode", "DeferredInit"),
        *("PythonTLSSnapshot", "PythonDispatcher", "PreDispatch"),
        *("TESTING_ONLY_GenericWrapper", "TESTING_ONLY_GenericMode"),
    )
)


# Names that an expression may use besides the arguments and Python's built-ins.
EXTRA_NAMES = ("torch", "new_size")
_MAX_LENGTH = 2000


def find_fake_problem(text: str, arguments: Collection[str]) -> str | None:
    """Return why `text` is not an expression over `arguments`, for a message; None if it is one."""
    if "\n" in text or "\0" in text or len(text) > _MAX_LENGTH:
        return f"write an expression of one line, of at most {_MAX_LENGTH} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # The message of a SyntaxError differs between versions of Python.
        return "Python cannot parse it"
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {n.id for n in names if not isinstance(n.ctx, ast.Load)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    defined = {*arguments, *EXTRA_NAMES, *bound, *dir(builtins)}
    undefined = next((n.id for n in names if n.id not in defined), None)
    return None if undefined is None else f"'{undefined}' is not an argument"


# Words of other tools for keys, and what they are here.
_KEYS = {
    **dict.fromkeys(("op", "operator", "operation", "schema", "function", "signature"), "func"),
    **dict.fromkeys(("kernel", "kernels", "impl", "impls", "backend", "backends"), "dispatch"),
    **dict.fromkeys(("implementation", "implementations", "dispatcher"), "dispatch"),
    **dict.fromkeys(("delegate", "delegates_to"), "structured_delegate"),
    **dict.fromkeys(("inherits", "base", "base_class"), "structured_inherits"),
    **dict.fromkeys(("method", "methods"), "variants"),
}
_DOCS = frozenset(("doc", "docs", "description", "desc", "docstring", "comment", "summary"))
# Words for dispatch keys.
_EVERY = frozenset(("default", "all", "any", "*", "generic", "composite", "always", "backend"))
_FOR_EVERY_BACKEND = (
    "write CompositeExplicitAutograd for a kernel that serves every backend, or CompositeImplicitAutograd if it only "
    "calls operators"
)
_DEVICES = {"gpu": "CUDA", "rocm": "CUDA", "hip": "CUDA", "nvidia": "CUDA", "metal": "MPS"}
_BETWEEN = re.compile(r"[\s,;/|&+]+")
_FUNCTION = re.compile(r"(?:[\w:<>&*]+\s+)?([A-Za-z_][\w:]*)\s*\([^()]*\)\s*;?")
_MAX_LISTED = 40


class Advice(Struct, frozen=True):
    """Advice on what to write. `fix` replaces the word, if that is certain; `meant` is the known name, if it is one."""

    hint: str
    fix: str | None = None
    meant: str | None = None


def advise_on_key(key: str, node: MappingNode, unused: Collection[str]) -> Advice | None:
    """Return advice on an unknown key of an entry that lacks the keys `unused`."""
    value = node.get(key)
    if key in DispatchKey.__members__:
        return Advice("this is a row of the dispatch table: indent it under dispatch")
    if key == "namespace" and isinstance(value, ScalarNode):
        name = shorten(value.value)
        return Advice(f"write it before the operator's name, as in '{name}::f', or in a first item")
    known = _KEYS.get(key.lower())
    if known in unused and known is not None:
        is_schema = isinstance(value, ScalarNode) and "(" in value.value
        is_certain = known == "func" and is_schema
        return Advice(f"did you mean '{known}'?", known if is_certain else None, known)
    if key.lower() in _DOCS and "doc" in unused:
        return Advice("did you mean 'doc'?", "doc", "doc")
    hint, near = meant(key, tuple(unused))
    if hint is None and "func" in unused and isinstance(value, ScalarNode) and "->" in value.value:
        return Advice("did you mean 'func'?", None, "func")
    return None if hint is None else Advice(hint, near, near or hint.split("'")[1])


def advise_on_dispatch_key(word: str, candidates: Collection[str]) -> Advice | None:
    """Return advice on an unknown dispatch key."""
    parts = [part for part in _BETWEEN.split(word) if part]
    if len(parts) > 1 and all(part in DispatchKey.__members__ for part in parts):
        listed = ", ".join(parts)
        return Advice(f"not separated by ', ': write '{listed}'", listed)
    if word.lower() in _EVERY:
        return Advice(_FOR_EVERY_BACKEND)
    device = _DEVICES.get(word.lower())
    if device is not None:
        return Advice(f"each kind of device has its own key: '{device}', 'XPU', 'MPS', …")
    hint, near = meant(word, tuple(candidates))
    if hint is None and word.lower().startswith("composite"):
        return Advice(_FOR_EVERY_BACKEND)
    return None if hint is None else Advice(hint, near)


def advise_on_list(word: str, known: Collection[str], brackets: str = "") -> Advice | None:
    """Return how to separate words that are all `known`; `brackets` are those around a list of them."""
    parts = [part for part in _BETWEEN.split(word) if part]
    if len(parts) < 2 or not all(part in known for part in parts):
        return None
    listed = ", ".join(parts)
    listed = f"{brackets[0]}{listed}{brackets[1]}" if brackets else listed
    return Advice(f"write '{shorten(listed)}'", listed)


def advise_on_kernel(text: str) -> Advice | None:
    """Return the name of a kernel that is written like a call, a declaration or a file."""
    match = _FUNCTION.fullmatch(text) or re.fullmatch(r"([A-Za-z_][\w:]*);", text)
    if match is not None:
        is_certain = " " not in text
        return Advice(f"write '{shorten(match[1])}'", match[1] if is_certain else None)
    if re.fullmatch(r"[\w./-]+\.(?:cpp|cc|cu|h|hpp)", text):
        return Advice("write the name of the function, not of its file")
    if is_identifier(text):
        return Advice(f"'{shorten(text)}' is a keyword or a macro of C++: choose another name")
    if re.fullmatch(r"[\w-]+", text) and not text[0].isdigit():
        return Advice(
            f"a name has letters, digits and '_', as in '{shorten(text.replace('-', '_'))}'"
        )
    return None


def advise_on_table(value: Node) -> str | None:
    """Return how to write a dispatch table that is a string or a list."""
    if isinstance(value, SequenceNode):
        if any(isinstance(item, MappingNode) for item in value.items):
            return "write its rows without '- '"
        return "write a row for each key, as in 'CPU: my_kernel'"
    if not isinstance(value, ScalarNode):
        return None
    row = re.fullmatch(r"(\w+)(?:\s*[=:;,.]\s*|\s+)([\w:]+)", value.value)
    if row is not None and row[1] in DispatchKey.__members__:
        return f"write '{shorten(f'{row[1]}: {row[2]}')}', with a space after ':'"
    if re.fullmatch(r"[A-Za-z_][\w:]*", value.value):
        return f"write 'CPU: {shorten(value.value)}' in a line of its own, indented deeper"
    return None


def advise_on_string(value: Node) -> str | None:
    """Return how to write a list as a string with commas."""
    if not isinstance(value, SequenceNode) or not value.items:
        return None
    words = [item.value for item in value.items if isinstance(item, ScalarNode)]
    if len(words) < len(value.items):
        return None
    return f"write '{shorten(', '.join(words))}'"


def list_names(what: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return a note with all names, for the message about an unknown one; none if there are too many to read."""
    listed = sorted(names)
    return () if not listed or len(listed) > _MAX_LISTED else (f"{what} are: {', '.join(listed)}",)
