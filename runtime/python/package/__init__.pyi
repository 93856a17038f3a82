"""The hand-written part of each package's stub: everything except its operators. Read by emit/python/stub.py.

Declare here what runtime/python defines. An operator with the name of a member of Tensor, or of a function or constant
of the module, replaces that declaration. Blank lines and comments before a member belong to it.
"""

from builtins import bool as _bool
from builtins import complex as _complex
from builtins import dict as _dict
from builtins import float as _float
from builtins import int as _int
from builtins import list as _list
from builtins import str as _str
from builtins import tuple as _tuple
from collections.abc import Callable as _Callable
from collections.abc import Iterator as _Iterator
from collections.abc import Sequence as _Sequence
from types import EllipsisType as _EllipsisType
from types import ModuleType as _ModuleType
from typing import Any as _Any
from typing import Literal as _Literal
from typing import NamedTuple as _NamedTuple
from typing import SupportsIndex as _SupportsIndex
from typing import TypeAlias as _TypeAlias
from typing import final as _final
from typing import overload

import numpy as _numpy

# The types that an argument may have. Class Tensor and the module have members named int, bool, dtype and so on, so
# the annotations in this stub use other names for the built-in types.
_Int: _TypeAlias = _int | _numpy.integer[_Any]
_Float: _TypeAlias = _float | _numpy.integer[_Any] | _numpy.floating[_Any] | Tensor
_Bool: _TypeAlias = _bool | _numpy.bool_
_Number: _TypeAlias = _complex | _numpy.number[_Any] | _numpy.bool_ | Tensor
_Ints: _TypeAlias = _Sequence[_Int]
_Floats: _TypeAlias = _Sequence[_float | _numpy.integer[_Any] | _numpy.floating[_Any]]
_Bools: _TypeAlias = _Sequence[_bool]
_Numbers: _TypeAlias = _Sequence[_complex | _numpy.number[_Any] | _numpy.bool_]
_Tensors: _TypeAlias = _Sequence[Tensor]
_OptionalTensors: _TypeAlias = _Sequence[Tensor | None]
_LayoutLike: _TypeAlias = (
    layout
    | _Literal[
        "strided",
        "sparse_coo",
        "sparse_csr",
        "_mkldnn",
        "sparse_csc",
        "sparse_bsr",
        "sparse_bsc",
        "jagged",
    ]
)
_MemoryFormatLike: _TypeAlias = (
    memory_format
    | _Literal[
        "contiguous_format",
        "preserve_format",
        "channels_last",
        "channels_last_3d",
    ]
)
_DeviceLike: _TypeAlias = device | _str
_DtypeName: _TypeAlias = _Literal[
    "uint8",
    "int8",
    "int16",
    "short",
    "int32",
    "int",
    "int64",
    "long",
    "float16",
    "half",
    "float32",
    "float",
    "float64",
    "double",
    "complex64",
    "cfloat",
    "complex128",
    "cdouble",
    "bool",
    "bfloat16",
]
_DtypeLike: _TypeAlias = (
    dtype
    | _DtypeName
    | type[_complex]
    | type[_float]
    | type[_int]
    | type[_numpy.generic]
    | _numpy.dtype[_Any]
)
_Index: _TypeAlias = (
    _SupportsIndex
    | slice
    | _EllipsisType
    | Tensor
    | _list[_Any]
    | _numpy.ndarray[_Any, _numpy.dtype[_Any]]
    | None
)
# The types that can be assigned to a part of a tensor.
_Array: _TypeAlias = _numpy.ndarray[_Any, _numpy.dtype[_Any]]
_Assigned: _TypeAlias = Tensor | _Number | _list[_Any] | _tuple[_Any, ...] | _Array
_Nested: _TypeAlias = _Number | Tensor | _Sequence[_Nested]
_Data: _TypeAlias = _Nested | _numpy.typing.ArrayLike

@_final
class dtype:
    def __new__(cls, dtype: _DtypeLike | _str, /) -> dtype: ...
    @property
    def itemsize(self) -> _int: ...
    @property
    def is_floating_point(self) -> _bool: ...
    @property
    def is_complex(self) -> _bool: ...

@_final
class layout: ...

@_final
class memory_format: ...

@_final
class device:
    def __new__(cls, type: _str, index: _int = -1) -> device: ...
    @property
    def type(self) -> _str: ...
    @property
    def index(self) -> _int | None: ...
    def __eq__(self, other: object, /) -> _bool: ...
    def __ne__(self, other: object, /) -> _bool: ...
    def __hash__(self) -> _int: ...

@_final
class Generator:
    def __new__(cls, device: _DeviceLike | None = None) -> Generator: ...
    @property
    def device(self) -> _device: ...
    def manual_seed(self, seed: _int, /) -> Generator: ...
    def initial_seed(self) -> _int: ...
    def seed(self) -> _int: ...
    def get_state(self) -> bytes: ...
    def set_state(self, state: bytes, /) -> Generator: ...
    def clone_state(self) -> Generator: ...
    def __deepcopy__(self, memo: _Any, /) -> Generator: ...

@_final
class UntypedStorage:
    @property
    def nbytes(self) -> _int: ...
    @property
    def device(self) -> _device: ...
    def data_ptr(self) -> _int: ...
    def resizable(self) -> _bool: ...
    def __len__(self) -> _int: ...
    def __deepcopy__(self, memo: _Any, /) -> UntypedStorage: ...
    def __buffer__(self, flags: _int, /) -> memoryview: ...

@_final
class Graph:
    @property
    def operators(self) -> _list[_str]: ...
    def replay(self, *inputs: Tensor) -> _Any: ...
    def __len__(self) -> _int: ...

@_final
class autocast:
    def __new__(
        cls,
        device_type: _str = "cpu",
        dtype: _DtypeLike | None = None,
        enabled: _bool = True,
        cache_enabled: _bool = True,
    ) -> autocast: ...
    def __enter__(self) -> autocast: ...
    def __exit__(self, *args: object) -> None: ...

@_final
class profile:
    def __new__(cls) -> profile: ...
    def __enter__(self) -> profile: ...
    def __exit__(self, *args: object) -> None: ...
    def table(self) -> _str: ...
    def rows(self) -> _list[_dict[_str, _Any]]: ...

_dtype = dtype
_device = device

@_final
class _RemovableHandle:
    @property
    def id(self) -> _int: ...
    def remove(self) -> None: ...
    def __enter__(self) -> _RemovableHandle: ...
    def __exit__(self, *args: object) -> None: ...

@_final
class _Node:
    @property
    def next_functions(self) -> _tuple[_tuple[_Node | None, _int], ...]: ...
    @property
    def metadata(self) -> _dict[_Any, _Any]: ...
    @property
    def _input_metadata(self) -> _list[_tuple[_tuple[_int, ...], _dtype, _device]]: ...
    def name(self) -> _str: ...
    def register_hook(
        self,
        hook: _Callable[
            [_tuple[Tensor | None, ...], _tuple[Tensor | None, ...]],
            _tuple[Tensor | None, ...] | Tensor | None,
        ],
        /,
    ) -> _RemovableHandle: ...
    def register_prehook(
        self,
        hook: _Callable[
            [_tuple[Tensor | None, ...]],
            _tuple[Tensor | None, ...] | Tensor | None,
        ],
        /,
    ) -> _RemovableHandle: ...
    def _sequence_nr(self) -> _int: ...

@_final
class Tensor:
    __array_priority__: _float
    @property
    def shape(self) -> _tuple[_int, ...]: ...
    @property
    def dtype(self) -> _dtype: ...
    @property
    def device(self) -> _device: ...
    @property
    def ndim(self) -> _int: ...
    @property
    def itemsize(self) -> _int: ...
    @property
    def nbytes(self) -> _int: ...
    @property
    def T(self) -> Tensor:
        """The transpose of a matrix, on the same bytes."""

    @property
    def mT(self) -> Tensor:
        """The transposes of the matrices in the last two dimensions, on the same bytes."""

    @property
    def H(self) -> Tensor:
        """The conjugate transpose of a matrix: on the same bytes if the elements are real."""

    @property
    def mH(self) -> Tensor:
        """The conjugate transposes of the matrices in the last two dimensions: on the same bytes if the elements are
        real.
        """

    @property
    def real(self) -> Tensor:
        """The real parts, on the same bytes."""

    @property
    def imag(self) -> Tensor:
        """The imaginary parts of complex numbers, on the same bytes."""

    @property
    def _version(self) -> _int: ...
    @property
    def requires_grad(self) -> _bool:
        """Whether backward() computes a gradient for the tensor."""

    @requires_grad.setter
    def requires_grad(self, value: _bool, /) -> None: ...
    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward() has accumulated, or None. Assign None to reset it."""

    @grad.setter
    def grad(self, value: Tensor | None, /) -> None: ...
    @grad.deleter
    def grad(self) -> None: ...
    @property
    def grad_fn(self) -> _Node | None:
        """The recorded operator that made the tensor; None for a leaf."""

    @property
    def is_leaf(self) -> _bool:
        """Whether no recorded operator made the tensor."""

    @property
    def output_nr(self) -> _int:
        """Which output of grad_fn the tensor is."""

    def requires_grad_(self, requires_grad: _bool = True) -> Tensor:
        """Change whether a gradient is computed for the tensor, and return the tensor."""

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: _bool | None = None,
        create_graph: _bool = False,
        inputs: Tensor | _Sequence[Tensor] | None = None,
    ) -> None:
        """Add the gradient of this tensor to the .grad of every leaf that it depends on.

        A tensor of several elements needs a weight for each: `gradient`. The graph can be used once, unless
        retain_graph is True; create_graph records the gradients, for second derivatives. With `inputs`, only these
        tensors get a gradient.
        """

    def register_hook(
        self,
        hook: _Callable[[Tensor], Tensor | None],
        /,
    ) -> _RemovableHandle:
        """Call hook(grad) whenever the tensor's gradient is known, and return a handle with remove().

        If the hook returns a tensor, that replaces the gradient.
        """

    def register_post_accumulate_grad_hook(
        self, hook: _Callable[[Tensor], None], /
    ) -> _RemovableHandle:
        """Call hook(tensor) whenever backward() has added to the .grad of this leaf."""

    def retain_grad(self) -> None:
        """Make backward() keep the gradient of a non-leaf tensor in .grad."""

    @property
    def retains_grad(self) -> _bool:
        """Whether backward() keeps the gradient of this non-leaf tensor in .grad."""

    def detach(self) -> Tensor:
        """Return a tensor on the same bytes, without a history."""

    def detach_(self) -> Tensor:
        """Remove the tensor's history: it becomes a leaf."""

    def is_inference(self) -> _bool:
        """Return whether it was made in inference mode."""

    @overload
    def size(self) -> _tuple[_int, ...]: ...
    @overload
    def size(self, dim: _SupportsIndex) -> _int: ...
    @overload
    def stride(self) -> _tuple[_int, ...]: ...
    @overload
    def stride(self, dim: _SupportsIndex) -> _int: ...
    def dim(self) -> _int: ...
    def numel(self) -> _int: ...
    def element_size(self) -> _int: ...
    def storage_offset(self) -> _int: ...
    def data_ptr(self) -> _int: ...
    def to_device(self, device: _DeviceLike, /, *, stream: None = None) -> Tensor:
        """Return the tensor on a device: the tensor itself, or a copy."""

    def is_contiguous(self, memory_format: _MemoryFormatLike = ...) -> _bool: ...
    def bool(self, memory_format: _MemoryFormatLike | None = None) -> Tensor:
        """Convert the elements to bool. Returns the tensor itself if it has the dtype already."""

    def byte(self, memory_format: _MemoryFormatLike | None = None) -> Tensor:
        """Convert the elements to uint8. Returns the tensor itself if it has the dtype already."""

    def char(self, memory_format: _MemoryFormatLike | None = None) -> Tensor:
        """Convert the elements to int8. Returns the tensor itself if it has the dtype already."""

    def short(self, memory_format: _MemoryFormatLike | None = None) -> Tensor:
        """Convert the elements to int16. Returns the tensor itself if it has the dtype already."""

    def int(self, memory_format: _MemoryFormatLike | None = None) -> Tensor:
        """Convert the elements to int32. Returns the tensor itself if it has the dtype already."""

    def long(self, memory_format: _MemoryFormatLike | None = None) -> Tensor:
        """Convert the elements to int64. Returns the tensor itself if it has the dtype already."""

    def half(self, memory_format: _MemoryFormatLike | None = None) -> Tensor:
        """Convert the elements to float16. Returns the tensor itself if it has the dtype already."""

    def bfloat16(self, memory_format: _MemoryFormatLike | None = None) -> Tensor:
        """Convert the elements to bfloat16. Returns the tensor itself if it has the dtype already."""

    def float(self, memory_format: _MemoryFormatLike | None = None) -> Tensor:
        """Convert the elements to float32. Returns the tensor itself if it has the dtype already."""

    def double(self, memory_format: _MemoryFormatLike | None = None) -> Tensor:
        """Convert the elements to float64. Returns the tensor itself if it has the dtype already."""

    def cfloat(self, memory_format: _MemoryFormatLike | None = None) -> Tensor:
        """Convert the elements to complex64. Returns the tensor itself if it has the dtype already."""

    def cdouble(self, memory_format: _MemoryFormatLike | None = None) -> Tensor:
        """Convert the elements to complex128. Returns the tensor itself if it has the dtype already."""

    def item(self) -> _Any: ...
    def tolist(self) -> _Any: ...
    def numpy(self) -> _numpy.ndarray[_Any, _numpy.dtype[_Any]]: ...
    def __len__(self) -> _int: ...
    def __iter__(self) -> _Iterator[Tensor]: ...
    def __getitem__(self, key: _Index | _tuple[_Index, ...], /) -> Tensor: ...
    def __setitem__(
        self,
        key: _Index | _tuple[_Index, ...],
        value: _Assigned,
        /,
    ) -> None: ...
    def __contains__(self, value: object, /) -> _bool: ...
    def __bool__(self) -> _bool: ...
    def __int__(self) -> _int: ...
    def __float__(self) -> _float: ...
    def __complex__(self) -> _complex: ...
    def __round__(self, ndigits: _int | None = None, /) -> Tensor: ...
    def __format__(self, spec: _str, /) -> _str: ...
    def __index__(self) -> _int: ...
    def __hash__(self) -> _int: ...
    def __pos__(self) -> Tensor: ...
    def storage(self) -> UntypedStorage: ...
    def untyped_storage(self) -> UntypedStorage: ...
    def __array_namespace__(self, *, api_version: _str | None = None) -> _ModuleType:
        """Return the module with the functions of the array API standard."""

    def __array__(
        self, dtype: _Any = None, copy: _bool | None = None
    ) -> _numpy.ndarray[_Any, _numpy.dtype[_Any]]: ...
    def __copy__(self) -> Tensor: ...
    def __deepcopy__(self, memo: _Any, /) -> Tensor: ...
    def __dlpack__(
        self,
        *,
        stream: _Any | None = None,
        max_version: _tuple[_int, _int] | None = None,
        dl_device: _tuple[_int, _int] | None = None,
        copy: _bool | None = None,
    ) -> _Any: ...
    def __dlpack_device__(self) -> _tuple[_int, _int]: ...
    def __buffer__(self, flags: _int, /) -> memoryview: ...

uint8: dtype
int8: dtype
int16: dtype
short: dtype
int32: dtype
int: dtype
int64: dtype
long: dtype
float16: dtype
half: dtype
float32: dtype
float: dtype
float64: dtype
double: dtype
complex64: dtype
cfloat: dtype
complex128: dtype
cdouble: dtype
bool: dtype
bfloat16: dtype
strided: layout
sparse_coo: layout
sparse_csr: layout
_mkldnn: layout
sparse_csc: layout
sparse_bsr: layout
sparse_bsc: layout
jagged: layout
contiguous_format: memory_format
preserve_format: memory_format
channels_last: memory_format
channels_last_3d: memory_format

def tensor(
    data: _Data,
    *,
    dtype: _DtypeLike | None = None,
    device: _DeviceLike | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def as_tensor(
    data: _Data,
    dtype: _DtypeLike | None = None,
    device: _DeviceLike | None = None,
) -> Tensor: ...
def asarray(
    obj: _Data,
    /,
    *,
    dtype: _DtypeLike | None = None,
    device: _DeviceLike | None = None,
    copy: _bool | None = None,
) -> Tensor: ...
def from_dlpack(
    x: _Any,
    /,
    *,
    device: _DeviceLike | None = None,
    copy: _bool | None = None,
) -> Tensor: ...
def from_numpy(array: _numpy.ndarray[_Any, _numpy.dtype[_Any]], /) -> Tensor: ...
def dump_table(
    operator: _str | _Callable[..., _Any],
    /,
    *,
    whole: _bool = False,
) -> _str: ...
def record_graph(function: _Callable[..., _Any], /, *inputs: Tensor) -> Graph: ...
def vmap(
    function: _Callable[..., _Any],
    in_dims: _int | _Sequence[_int | None] | None = 0,
    out_dims: _int = 0,
    randomness: _Literal["error", "different"] = "error",
) -> _Callable[..., _Any]: ...
def is_grad_enabled() -> _bool:
    """Return whether this thread records operators for gradients."""

def is_inference_mode_enabled() -> _bool:
    """Return whether this thread is in inference mode."""

def is_anomaly_enabled() -> _bool:
    """Return whether anomaly mode is on."""

def is_anomaly_check_nan_enabled() -> _bool:
    """Return whether anomaly mode, if it is on, looks for NaN."""

def manual_seed(seed: _int, /) -> None: ...
def set_printoptions(
    precision: _int | None = None,
    threshold: _int | None = None,
    edgeitems: _int | None = None,
    linewidth: _int | None = None,
    profile: _Literal["default", "full"] | None = None,
) -> None:
    """Change how tensors are printed.

    precision is the number of digits after the point. Of a tensor with more than threshold elements, edgeitems are shown
    at each end of a dimension. Rows longer than linewidth continue on the next line. profile="default" resets all of
    these, and "full" shows all elements.
    """
