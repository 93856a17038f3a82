"""What every package of Python has besides its operators, for its stub: read by views/python_stub.py.

This is the hand-written part: what is added in runtime/python gets its line here. A member of class
Tensor, and a function or constant of the module, makes place for an operator of its name. Blank lines and
comments before a member go with it.
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
from typing import Any as _Any
from typing import Literal as _Literal
from typing import NamedTuple as _NamedTuple
from typing import SupportsIndex as _SupportsIndex
from typing import TypeAlias as _TypeAlias
from typing import final as _final
from typing import overload

import numpy as _numpy

# What an argument may be given as. Class Tensor has members called int, bool, dtype and the like, and so
# has the module: none of these words is used for its own.
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
# What is assigned to a part of a tensor.
_Array: _TypeAlias = _numpy.ndarray[_Any, _numpy.dtype[_Any]]
_Assigned: _TypeAlias = Tensor | _Number | _list[_Any] | _tuple[_Any, ...] | _Array
_Nested: _TypeAlias = _Number | Tensor | _Sequence[_Nested]

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
    def _version(self) -> _int: ...
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
    def is_contiguous(self, memory_format: _MemoryFormatLike = ...) -> _bool: ...
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
    data: _Nested | _numpy.typing.ArrayLike, *, dtype: _DtypeLike | None = None
) -> Tensor: ...
def from_dlpack(
    x: _Any,
    /,
    *,
    device: _DeviceLike | None = None,
    copy: _bool | None = None,
) -> Tensor: ...
def from_numpy(array: _numpy.ndarray[_Any, _numpy.dtype[_Any]], /) -> Tensor: ...
def dump_table(operator: _str | _Callable[..., _Any], /) -> _str: ...
def record_graph(function: _Callable[..., _Any], /, *inputs: Tensor) -> Graph: ...
def vmap(
    function: _Callable[..., _Any],
    in_dims: _int | _Sequence[_int | None] | None = 0,
    out_dims: _int = 0,
    randomness: _Literal["error", "different"] = "error",
) -> _Callable[..., _Any]: ...
def manual_seed(seed: _int, /) -> None: ...
