"""Dispatch keys, spelled as in YAML, and the sets of keys that rules refer to."""

from __future__ import annotations

from enum import Enum, auto

from opgen import data

_BACKENDS = (
    *("CPU", "CUDA", "HIP", "XLA", "MTIA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "Meta"),
    *("PrivateUse1", "PrivateUse2", "PrivateUse3"),
)


class DispatchKey(Enum):
    """All keys that are known by name; only SUPPORTED_DISPATCH_KEYS may have a kernel."""

    Undefined = auto()
    CatchAll = Undefined

    FPGA = auto()
    MAIA = auto()
    Vulkan = auto()
    Metal = auto()
    MKLDNN = auto()
    OpenGL = auto()
    OpenCL = auto()
    IDEEP = auto()
    CustomRNGKeyId = auto()
    MkldnnCPU = auto()
    Sparse = auto()
    SparseCsr = auto()
    NestedTensor = auto()
    Dense = auto()

    PythonTLSSnapshot = auto()
    PreDispatch = auto()
    PythonDispatcher = auto()
    Python = auto()
    FuncTorchDynamicLayerBackMode = auto()
    ZeroTensor = auto()
    Conjugate = auto()
    Negative = auto()
    BackendSelect = auto()
    Named = auto()
    AutogradOther = auto()
    AutogradFunctionality = auto()
    AutogradNestedTensor = auto()
    Tracer = auto()
    Autocast = auto()
    AutocastCPU = auto()
    AutocastCUDA = auto()
    AutocastXPU = auto()
    Batched = auto()
    VmapMode = auto()
    FuncTorchGradWrapper = auto()
    FuncTorchBatched = auto()
    BatchedNestedTensor = auto()
    FuncTorchVmapMode = auto()
    FuncTorchDynamicLayerFrontMode = auto()
    Functionalize = auto()
    TESTING_ONLY_GenericWrapper = auto()
    TESTING_ONLY_GenericMode = auto()

    ADInplaceOrView = auto()
    Autograd = auto()
    CompositeImplicitAutograd = auto()
    CompositeImplicitAutogradNestedTensor = auto()
    CompositeExplicitAutograd = auto()
    CompositeExplicitAutogradNonFunctional = auto()
    FuncTorchBatchedDecomposition = auto()

    # One key for each pair of a functionality and a backend.
    CPU = auto()
    CUDA = auto()
    HIP = auto()
    XLA = auto()
    MTIA = auto()
    MPS = auto()
    IPU = auto()
    XPU = auto()
    HPU = auto()
    VE = auto()
    Lazy = auto()
    Meta = auto()
    PrivateUse1 = auto()
    PrivateUse2 = auto()
    PrivateUse3 = auto()

    _ignore_ = "functionality backend"
    for functionality in ("Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd"):
        for backend in _BACKENDS:
            vars()[f"{functionality}{backend}"] = auto()

    # Only in older PyTorch versions: renamed to MAIA.
    ORT = auto()

    # Only in PyTorch's runtime: PyTorch's native_functions.yaml names none of them.
    Fake = auto()
    DeferredInit = auto()
    AutocastMTIA = auto()
    AutocastMAIA = auto()
    AutocastIPU = auto()
    AutocastHPU = auto()
    AutocastXLA = auto()
    AutocastMPS = auto()
    AutocastPrivateUse1 = auto()
    QuantizedMAIA = auto()
    SparseMAIA = auto()
    SparseCsrMAIA = auto()
    NestedTensorMAIA = auto()
    AutogradMAIA = auto()

    def __str__(self) -> str:
        return self.name

    def lower(self) -> str:
        """Return the name in lower case, as in namespaces and file names: `cpu`."""
        return self.name.lower()

    # Identity, computed in C: Enum's own __hash__ is a Python function.
    __hash__ = object.__hash__


# Keys that a dispatch table may name, in the order of the register files.
SUPPORTED_DISPATCH_KEYS: tuple[DispatchKey, ...] = tuple(
    DispatchKey[name] for name in data.read_names("dispatch_keys.txt")
)

# Keys that a row of a library's operator may name: those, and all others for which PyTorch's registry takes a kernel.
LIBRARY_DISPATCH_KEYS: tuple[DispatchKey, ...] = tuple(
    dict.fromkeys(
        (
            *SUPPORTED_DISPATCH_KEYS,
            *(DispatchKey[name] for name in data.read_names("library_keys.txt")),
        )
    )
)
_ALL_KEYS = tuple(DispatchKey)
_OF_RUNTIME_ALONE = frozenset(_ALL_KEYS[_ALL_KEYS.index(DispatchKey.Fake) :])


def find_key(name: str) -> DispatchKey | None:
    """Return the key of this name; None if torchgen does not know it."""
    key = DispatchKey.__members__.get(name)
    return None if key in _OF_RUNTIME_ALONE else key


STRUCTURED_DISPATCH_KEYS: tuple[DispatchKey, ...] = (
    DispatchKey.CPU,
    DispatchKey.CUDA,
    DispatchKey.MPS,
    DispatchKey.XPU,
    DispatchKey.MTIA,
)

UFUNC_DISPATCH_KEYS: tuple[DispatchKey, ...] = (DispatchKey.CPU, DispatchKey.CUDA)

# A kernel for one of these serves every backend.
COMPOSITE_DISPATCH_KEYS: tuple[DispatchKey, ...] = (
    DispatchKey.CompositeImplicitAutograd,
    DispatchKey.CompositeImplicitAutogradNestedTensor,
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
)

# The keys of the devices whose kernels run with a device guard: CUDA, QuantizedCUDA, …
GUARDED_DISPATCH_KEYS: tuple[DispatchKey, ...] = tuple(
    DispatchKey[f"{functionality}{device}"]
    for device in ("CUDA", "XPU")
    for functionality in ("", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd")
)
