"""What the keys of an entry and of a file's head are for and what they take: texts of `opgen schema` and editors.

`key_readers` and `file_header` read the same keys; a test compares what both take.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto

from opgen.dataclasses import dataclass
from opgen.model.dispatch_key import COMPOSITE_DISPATCH_KEYS, STRUCTURED_DISPATCH_KEYS, DispatchKey


class Shape(Enum):
    """What kind of value a key takes. `optional_*` take null, too."""

    flag = auto()
    schema = auto()
    variants = auto()
    device_check = auto()
    operator_name = auto()
    operator_names = auto()
    class_name = auto()
    optional_text = auto()
    texts = auto()
    precomputed = auto()
    tags = auto()
    dispatch = auto()
    inner_loops = auto()


@dataclass(frozen=True, slots=True)
class EntryKey:
    shape: Shape
    description: str


ENTRY_KEYS: Mapping[str, EntryKey] = {
    "func": EntryKey(
        Shape.schema,
        "The operator's schema: `name.overload(arguments) -> returns`, as in "
        "`add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`.",
    ),
    "variants": EntryKey(
        Shape.variants,
        "What C++ and Python get: a `function`, a `method` of Tensor, or both. Default: `function`.",
    ),
    "structured": EntryKey(
        Shape.flag,
        "The out= operator of a group whose kernels share one meta function: it checks arguments "
        "and makes outputs, so kernels only compute. On a functional operator without an out= "
        "variant: meta makes views of arguments, or new tensors that a kernel fills (opgen only).",
    ),
    "structured_delegate": EntryKey(
        Shape.operator_name,
        "The structured operator that this one is made from, as in `add.out`. It needs no kernel.",
    ),
    "structured_inherits": EntryKey(
        Shape.class_name,
        "The C++ class that the structured kernel's class derives from, as in `TensorIteratorBase`.",
    ),
    "precomputed": EntryKey(
        Shape.precomputed,
        "What the meta function hands to the kernels: `argument -> type name, ...` replaces an "
        "argument, and a last line without an arrow adds parameters.",
    ),
    "dispatch": EntryKey(
        Shape.dispatch,
        "The kernel for each dispatch key. Without a table there is one kernel, of the operator's "
        "name, for `CompositeImplicitAutograd`. Outside of `aten` a row may name an existing "
        "function, `::ns::fn`, or say `fallthrough`.",
    ),
    "autogen": EntryKey(
        Shape.operator_names,
        "Variants to generate: functional, in-place or out= operators that have no entry of their own.",
    ),
    "tags": EntryKey(Shape.tags, "What is true of the operator: one tag of tags.yaml, or a list."),
    "device_check": EntryKey(
        Shape.device_check,
        "Whether all tensors must be on one device. Default: `ExactSame`.",
    ),
    "device_guard": EntryKey(
        Shape.flag,
        "Whether the kernel runs with the device of its tensors as the current one. Default: true.",
    ),
    "python_module": EntryKey(
        Shape.optional_text,
        "The module of PyTorch's Python binding: `nn`, `linalg`, `fft`, `special`, `sparse`, `nested`.",
    ),
    "category_override": EntryKey(
        Shape.optional_text, "For PyTorch's own tables; it changes nothing that is generated."
    ),
    "cpp_no_default_args": EntryKey(
        Shape.texts, "Arguments that have a default in the schema and none in the C++ signature."
    ),
    "use_const_ref_for_mutable_tensors": EntryKey(
        Shape.flag, "Tensors that are written are passed as `const Tensor&`, not `Tensor&`."
    ),
    "manual_kernel_registration": EntryKey(
        Shape.flag, "The schema is registered, its kernels are registered by hand."
    ),
    "manual_cpp_binding": EntryKey(
        Shape.flag, "The C++ function or method is written by hand; the operator is generated."
    ),
    "fake": EntryKey(
        Shape.optional_text,
        "What the operator returns where tensors have no data, in place of a Meta kernel: a Python expression over "
        "its arguments, with `torch` and `new_size()`, a size that depends on data (opgen only, for target `torch` "
        "with `--python`).",
    ),
    "ufunc_inner_loop": EntryKey(
        Shape.inner_loops,
        "The inner loops that CPU and CUDA kernels are made from: `name (element types)`, "
        "or a mapping from what each is for.",
    ),
}

# The keys of a file's head, its first item (opgen only).
HEAD_KEYS: Mapping[str, str] = {
    "namespace": "The namespace of all operators of this file that are written without one.",
    "include": "The headers that declare the existing functions, `::ns::fn`, of this file's dispatch "
    "tables: one, or a list.",
    "fragment": "Whether other libraries may define operators of the same namespace, too: `True` for "
    "each of them. For target `torch`.",
    "classes": "The C++ class behind each custom class: `ns.C` is "
    "`__torch__.torch.classes.ns.C` in schemas. For target `torch`.",
}
CLASS_KEYS: Mapping[str, str] = {
    "type": "The C++ class, a `torch::CustomClassHolder`, with all of its namespaces.",
    "header": "The header that declares the class.",
    "define": "A function that takes a `torch::Library&` and registers the class. Without it, the "
    "class is registered elsewhere.",
}

# Values of rows of a dispatch table that are no kernels to write.
FALLTHROUGH = "fallthrough"
FALLTHROUGH_TEXT = "No kernel: a call goes on to the next dispatch key."
EXISTING_TEXT = "An existing C++ function, called as it is. A header of `include` declares it."

_COMPOSITE_TEXTS: Mapping[DispatchKey, str] = {
    DispatchKey.CompositeImplicitAutograd: "serves every backend and is differentiable, because it "
    "calls operators that are",
    DispatchKey.CompositeImplicitAutogradNestedTensor: "serves nested tensors as "
    "CompositeImplicitAutograd serves the others",
    DispatchKey.CompositeExplicitAutograd: "serves every backend; its derivative is defined apart",
    DispatchKey.CompositeExplicitAutogradNonFunctional: "serves every backend but those that take "
    "functional operators only",
}


# Keys that stand for no backend, those that rows of libraries name.
_OTHER_TEXTS: Mapping[DispatchKey, str] = {
    DispatchKey.BackendSelect: "chooses the backend of a call without tensors, and calls again",
    DispatchKey.ADInplaceOrView: "tells autograd of views and of writes, below its formulas",
    DispatchKey.Autograd: "computes gradients on every backend",
    DispatchKey.AutogradOther: "computes gradients on backends without an autograd key of their own",
    DispatchKey.Functionalize: "replaces the operator by one that writes nothing, while a program is traced",
    DispatchKey.Python: "serves tensors of classes of Python",
    DispatchKey.Tracer: "records the call for torch.jit.trace",
    DispatchKey.Fake: "serves tensors that have sizes and no data",
    DispatchKey.Conjugate: "serves tensors that are to be conjugated when they are read",
    DispatchKey.Negative: "serves tensors that are to be negated when they are read",
    DispatchKey.FuncTorchBatched: "serves tensors that vmap has made of several",
    DispatchKey.FuncTorchBatchedDecomposition: "is what vmap calls in place of the operator",
}
_AUTOGRAD, _AUTOCAST = "Autograd", "Autocast"


def describe_dispatch_key(key: DispatchKey) -> str:
    """What a kernel for `key` is for, in a sentence."""
    if key in COMPOSITE_DISPATCH_KEYS:
        return f"The kernel {_COMPOSITE_TEXTS[key]}."
    if key in _OTHER_TEXTS:
        return f"The kernel {_OTHER_TEXTS[key]}."
    if key is DispatchKey.Meta:
        return "The kernel for tensors without data: it computes sizes and types only."
    if key.name.startswith(_AUTOGRAD):
        return f"The kernel that computes gradients for tensors of {key.name[len(_AUTOGRAD) :]}."
    if key.name.startswith(_AUTOCAST):
        device = key.name[len(_AUTOCAST) :]
        return f"The kernel that casts arguments under autocast on {device}, and calls again."
    if key.name.startswith("PrivateUse"):
        return f"The kernel for tensors of a device that is not PyTorch's own, under {key}."
    if key in _OF_PYTORCH_ITSELF:
        return f"A key of PyTorch's own machinery: {key}."
    structured = " Structured operators may have one." if key in STRUCTURED_DISPATCH_KEYS else ""
    return f"The kernel for tensors of {key}.{structured}"


# Keys of layers above the backends, whose kernels are PyTorch's own.
_OF_PYTORCH_ITSELF = frozenset(
    DispatchKey[name]
    for name in (
        *("FuncTorchDynamicLayerBackMode", "FuncTorchDynamicLayerFrontMode", "FuncTorchVmapMode"),
        *("FuncTorchGradWrapper", "Batched", "BatchedNestedTensor", "VmapMode", "DeferredInit"),
        *("PythonTLSSnapshot", "PythonDispatcher", "PreDispatch"),
        *("TESTING_ONLY_GenericWrapper", "TESTING_ONLY_GenericMode"),
    )
)
