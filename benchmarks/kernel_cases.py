"""The calls that benchmarks/kernels.py measures: derived from the schemas of a library, for each operator that Python
calls in the library and in PyTorch.

The type and the name of an argument say what it is, and `ARGUMENTS` names the few that need sense. An operator that is
new in the YAML is found here without a change of this file.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

import opgen
from opgen.model.function_schema import Argument, SchemaKind
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType, Type

DTYPES = ("float32", "bfloat16", "float64", "int64", "bool", "complex64")
SIZES = {"1k": 1 << 10, "64k": 1 << 16, "1M": 1 << 20, "16M": 1 << 24}
# Three dimensions, none of them small, for each size.
_SHAPES = {1 << 10: (16, 8, 8), 1 << 16: (64, 32, 32), 1 << 20: (128, 64, 128), 1 << 24: (256,) * 3}
_SECTION = re.compile(r"^# -{20,}\n# (.+)\n# -{20,}$", re.MULTILINE)
# The numbers that a function is measured with, spread evenly: its domain, or where its results are neither infinite nor 0.
# Others get normal numbers. PyTorch computes NaN far more slowly than numbers, so a function is not measured outside.
_DOMAINS: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys(
        ("log", "log2", "log10", "sqrt", "rsqrt", "lgamma", "digamma", "polygamma"), (0.01, 100.0)
    ),
    **dict.fromkeys(("log1p", "xlogy", "special_entr"), (0.01, 100.0)),
    **dict.fromkeys(("asin", "acos", "atanh", "erfinv"), (-0.99, 0.99)),
    **dict.fromkeys(("binary_cross_entropy", "bernoulli", "logit"), (0.05, 0.95)),
    **dict.fromkeys(
        ("exp", "exp2", "expm1", "sinh", "cosh", "tan", "sin", "cos", "sinc"), (-10.0, 10.0)
    ),
    **dict.fromkeys(
        ("sigmoid", "tanh", "gelu", "silu", "softplus", "mish", "elu", "erf", "erfc"), (-5.0, 5.0)
    ),
    "acosh": (1.01, 100.0),
    "pow": (0.05, 10.0),
}
# NumPy's names, where they differ. Any other function of the same name counts if it returns the same numbers.
_NUMPY = {
    "mul": "multiply",
    "sub": "subtract",
    "div": "true_divide",
    "neg": "negative",
    "pow": "power",
    "atan": "arctan",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "amax": "max",
    "amin": "min",
    "clone": "copy",
    "rsqrt": "",
    "bitwise_not": "invert",
    "mm": "matmul",
    "bmm": "matmul",
    "mv": "matmul",
    "permute": "transpose",
    "transpose": "swapaxes",
    "cat": "concatenate",
    "unsqueeze": "expand_dims",
    "t": "transpose",
}
_NUMPY_ARGUMENTS = {"dim": "axis", "keepdim": "keepdims", "correction": "ddof", "dims": "axis"}


class Unfit(Exception):
    """The operator has no call of this form, dtype or size."""


@dataclass(frozen=True)
class Form:
    """How the arguments lie in memory, and which dimension `dim` names."""

    name: str
    layout: str = "contiguous"
    dim: int | None = -1
    broadcast: bool = False
    other: str = ""  # the dtype of all tensors but the first
    single: bool = False  # these have no dimensions


_PLAIN = Form("contiguous")
_LAYOUTS = (_PLAIN, Form("strided", "strided"), Form("transposed", "transposed"))
_ROW = Form("broadcast", broadcast=True)
_MIXED = (
    *(
        Form(f"beside {dtype}", other=dtype)
        for dtype in ("float32", "float64", "bfloat16", "int64", "uint8", "bool")
    ),
    Form("beside one float64", other="float64", single=True),
)
_DIMS = (
    Form("first dim", dim=0),
    Form("middle dim", dim=1),
    Form("last dim", dim=2),
    Form("last dim, strided", "strided", dim=2),
)
_ALL = Form("all dims", dim=None)
_ALL_STRIDED = Form("all dims, strided", "strided", dim=None)


class Draw:
    """Makes the arguments of one call: `draw.tensor(shape)` in the form's layout, `draw.index(shape, below)` …"""

    def __init__(self, f: NativeFunction, form: Form, dtype: str, count: int) -> None:
        self.function, self.form, self.count = f, form, count
        self.dtype: torch.dtype = getattr(torch, dtype)
        self.shape = _SHAPES.get(count) or (count,)
        self.name = base_name(f)
        self.generator = torch.Generator().manual_seed(1)

    @property
    def side(self) -> int:
        """The side of a square matrix of about `count` elements."""
        return round(self.count**0.5)

    @property
    def dim(self) -> int:
        if self.form.dim is None:
            raise Unfit
        return self.form.dim % len(self.shape)

    def values(self, shape: tuple[int, ...], dtype: torch.dtype | None = None) -> torch.Tensor:
        dtype = dtype or self.dtype
        if dtype == torch.bool:
            return torch.rand(shape, generator=self.generator) < 0.5
        if not dtype.is_floating_point and not dtype.is_complex:
            return torch.randint(1, 100, shape, generator=self.generator).to(dtype)
        if (domain := _DOMAINS.get(self.name.removesuffix("_"))) is not None:
            low, high = domain
            return (torch.rand(shape, generator=self.generator) * (high - low) + low).to(dtype)
        return torch.randn(shape, generator=self.generator).to(dtype)

    def tensor(self, shape: tuple[int, ...], dtype: torch.dtype | None = None) -> torch.Tensor:
        """Return a tensor in the form's layout."""
        if self.form.layout == "strided" and shape:
            return self.values((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]
        if self.form.layout == "transposed" and len(shape) > 1:
            swapped = self.values((*shape[:-2], shape[-1], shape[-2]), dtype)
            return swapped.transpose(-1, -2)
        return self.values(shape, dtype)

    def index(self, shape: tuple[int, ...], below: int) -> torch.Tensor:
        return torch.randint(below, shape, generator=self.generator)

    def along(self, length: int | None = None) -> tuple[int, ...]:
        """The shape, with another length in the form's dimension."""
        shape = list(self.shape)
        shape[self.dim] = shape[self.dim] if length is None else length
        return tuple(shape)


# What the schema does not say: arguments by "operator.overload:argument", "operator:argument" or ":argument". An
# operator's forms are those of _DIMS if it has an argument `dim`.
Rule = Callable[[Draw], Any]


def _matrix(d: Draw) -> torch.Tensor:
    return d.tensor((d.side, d.side))


def _image(d: Draw) -> torch.Tensor:
    side = round((d.count / 16) ** 0.5)
    return d.tensor((2, 8, side, side))


def _signal(d: Draw) -> torch.Tensor:
    return d.tensor((2, 8, d.count // 16))


def _volume(d: Draw) -> torch.Tensor:
    side = round((d.count / 8) ** (1 / 3))
    return d.tensor((1, 8, side, side, side))


def _line(d: Draw) -> torch.Tensor:
    return d.tensor((d.count // 2,))


def _batch(d: Draw) -> torch.Tensor:
    side = round((d.count / 8) ** 0.5)
    return d.tensor((8, side, side))


def _vector(d: Draw) -> torch.Tensor:
    return d.tensor((d.side,))


def _classes(d: Draw) -> tuple[int, int]:
    """The shape of rows with a number for each of 64 classes."""
    return d.count // 64, 64


def _truths(d: Draw) -> torch.Tensor:
    return d.tensor(d.shape, torch.bool)


ARGUMENTS: Mapping[str, Rule] = {
    ":dim": lambda d: d.dim,
    ":dim0": lambda d: 0,
    ":dim1": lambda d: 1,
    ":dim2": lambda d: 2,
    ":dims": lambda d: (2, 0, 1) if d.name.startswith("permute") else (0,),
    ":size": lambda d: d.shape,
    ":shape": lambda d: (d.shape[0], -1),
    ":mask": _truths,
    ":condition": _truths,
    ":repeats": lambda d: (2, 1, 1),
    ":start_dim": lambda d: 0,
    ":step": lambda d: 1,
    ":k": lambda d: min(10, d.shape[d.dim]),
    ":n": lambda d: 1,
    ":p": lambda d: 0.3,
    ":std": lambda d: 1.0,
    ":mean": lambda d: 0.0,
    ":from": lambda d: 0.0,
    ":to": lambda d: 1.0,
    ":low": lambda d: 0,
    ":high": lambda d: 100,
    "bernoulli.Tensor:p": lambda d: d.values(d.shape),
    "bernoulli:p": lambda d: 0.3,
    ":eps": lambda d: 1e-5,
    ":ord": lambda d: 2,
    ":correction": lambda d: 1,
    ":min": lambda d: -0.5 if d.dtype.is_floating_point else 20,
    ":max": lambda d: 0.5 if d.dtype.is_floating_point else 60,
    **{
        f"{name}.Tensor:{bound}": lambda d: d.tensor(d.shape)
        for name in ("clamp", "clip")
        for bound in ("min", "max")
    },
    ":negative_slope": lambda d: 0.01,
    ":fill_value": lambda d: 1.5 if d.dtype.is_floating_point else 1,
    ":exponent": lambda d: 2.5 if d.dtype.is_floating_point else 3,
    "pow.Tensor_Tensor:exponent": lambda d: d.tensor(d.shape),
    "pow_.Tensor:exponent": lambda d: d.tensor(d.shape),
    "pow.Scalar:exponent": lambda d: d.tensor(d.shape),
    "polygamma:n": lambda d: 1,
    ":decimals": lambda d: 2,
    ":rounding_mode": lambda d: "floor",
    ":weight": lambda d: 0.3,
    ":index": lambda d: d.index((d.shape[d.dim] // 2,), d.shape[d.dim]),
    "lerp.Tensor:weight": lambda d: d.tensor(d.shape),
    "lerp_.Tensor:weight": lambda d: d.tensor(d.shape),
    ":split_size": lambda d: d.shape[-1] // 2 if d.form.dim is None else d.shape[d.dim] // 2,
    ":split_sizes": lambda d: (d.shape[d.dim] // 2, d.shape[d.dim] - d.shape[d.dim] // 2),
    "split.sizes:split_size": lambda d: (d.shape[d.dim] // 2, d.shape[d.dim] - d.shape[d.dim] // 2),
    ":chunks": lambda d: 4,
    ":start": lambda d: 1,
    ":end": lambda d: 7,
    ":length": lambda d: 4,
    "select:index": lambda d: 1,
    "select_copy:index": lambda d: 1,
    "slice_scatter:src": lambda d: d.tensor(d.along(6)),
    # Factories.
    "arange:end": lambda d: d.count,
    "arange.start:end": lambda d: d.count + 1,
    "arange.start_step:end": lambda d: d.count + 1,
    "linspace:start": lambda d: 0,
    "linspace:end": lambda d: 1,
    "linspace:steps": lambda d: d.count,
    "eye:n": lambda d: d.side,
    "eye:m": lambda d: d.side,
    "tril_indices:row": lambda d: round((2 * d.count) ** 0.5) // 2,
    "tril_indices:col": lambda d: round((2 * d.count) ** 0.5) // 2,
    "randperm:n": lambda d: d.count,
    "scalar_tensor:s": lambda d: 1.5,
    "empty_strided:stride": lambda d: (d.shape[1] * d.shape[2], d.shape[2], 1),
    "logspace:start": lambda d: 0,
    "logspace:end": lambda d: 1,
    "logspace:steps": lambda d: d.count,
    # Views.
    "as_strided:size": lambda d: d.shape,
    "as_strided:stride": lambda d: (d.shape[1] * d.shape[2], d.shape[2], 1),
    "as_strided_copy:stride": lambda d: (d.shape[1] * d.shape[2], d.shape[2], 1),
    "expand:self": lambda d: d.tensor((1, *d.shape[1:])),
    "expand_copy:self": lambda d: d.tensor((1, *d.shape[1:])),
    "expand_as:self": lambda d: d.tensor((1, *d.shape[1:])),
    "view:size": lambda d: (d.count,),
    "view_copy:size": lambda d: (d.count,),
    **{
        f"{name}:self": _matrix
        for name in ("t", "t_", "t_copy", "triu", "tril", "mm", "mv", "diagonal", "trace")
    },
    "diagonal:dim1": lambda d: 0,
    "diagonal:dim2": lambda d: 1,
    # Products.
    "mm:mat2": _matrix,
    "addmm:self": _matrix,
    "addmm:mat1": _matrix,
    "addmm:mat2": _matrix,
    "baddbmm:self": _batch,
    "baddbmm:batch1": _batch,
    "baddbmm:batch2": _batch,
    "bmm:self": _batch,
    "bmm:mat2": _batch,
    "mv:vec": _vector,
    "dot:self": _line,
    "dot:tensor": _line,
    "diag:self": _vector,
    "ger:self": _vector,
    "ger:vec2": _vector,
    "outer:self": _vector,
    "outer:vec2": _vector,
    "matmul:self": _batch,
    "matmul:other": _batch,
    "linear:input": _matrix,
    "linear:weight": _matrix,
    "linear:bias": _vector,
    "addmv:self": _vector,
    "addmv:mat": _matrix,
    "addmv:vec": _vector,
    "addr:self": _matrix,
    "addr:vec1": _vector,
    "addr:vec2": _vector,
    "addbmm:self": lambda d: d.tensor(2 * (round((d.count / 8) ** 0.5),)),
    "addbmm:batch1": _batch,
    "addbmm:batch2": _batch,
    "vdot:self": _line,
    "vdot:other": _line,
    "tensordot:self": _matrix,
    "tensordot:other": _matrix,
    "tensordot:dims_self": lambda d: (1,),
    "tensordot:dims_other": lambda d: (0,),
    "einsum:equation": lambda d: "ij,jk->ik",
    "einsum:tensors": lambda d: [_matrix(d), _matrix(d)],
    "kron:self": lambda d: d.tensor((16, 16)),
    "kron:other": lambda d: d.tensor(2 * (round((d.count / 256) ** 0.5),)),
    **{
        f"{name}:{part}": lambda d: d.tensor((d.count // 4, 3))
        for name in ("cross", "linalg_cross")
        for part in ("self", "other")
    },
    **{f"{name}:dim": lambda d: 1 for name in ("cross", "linalg_cross")},
    # Indices.
    "gather:index": lambda d: d.index(d.shape, d.shape[d.dim]),
    "scatter:index": lambda d: d.index(d.shape, d.shape[d.dim]),
    "scatter_add:index": lambda d: d.index(d.shape, d.shape[d.dim]),
    "index_add:source": lambda d: d.tensor(d.along(d.shape[d.dim] // 2)),
    "index:indices": lambda d: [d.index((d.shape[0],), d.shape[0])],
    "index_put:indices": lambda d: [torch.randperm(d.shape[0])],
    "_index_put_impl:indices": lambda d: [torch.randperm(d.shape[0])],
    "index_put:values": lambda d: d.tensor(d.shape),
    "_index_put_impl:values": lambda d: d.tensor(d.shape),
    "take:index": lambda d: d.index((d.count,), d.count),
    "searchsorted.Scalar:sorted_sequence": lambda d: _line(d).sort().values,
    "bucketize:boundaries": lambda d: d.values((256,)).sort().values,
    "bincount:self": lambda d: d.index((d.count,), 100),
    "multinomial:self": lambda d: torch.rand(_classes(d), generator=d.generator).to(d.dtype),
    "index_copy:index": lambda d: torch.randperm(d.shape[d.dim])[: d.shape[d.dim] // 2],
    "index_copy:source": lambda d: d.tensor(d.along(d.shape[d.dim] // 2)),
    "index_fill:value": lambda d: 1,
    "index_fill.int_Tensor:value": lambda d: d.values(()),
    "scatter_reduce:index": lambda d: d.index(d.shape, d.shape[d.dim]),
    "scatter_reduce:reduce": lambda d: "sum",
    "masked_scatter:source": lambda d: d.tensor(d.shape),
    "repeat_interleave.Tensor:repeats": lambda d: d.index((d.count // 2,), 4),
    "repeat_interleave.self_Tensor:repeats": lambda d: d.index((d.shape[d.dim],), 3),
    "repeat_interleave.self_int:repeats": lambda d: 2,
    "select_scatter:src": lambda d: d.tensor(
        tuple(n for i, n in enumerate(d.shape) if i != d.dim % len(d.shape))
    ),
    "select_scatter:index": lambda d: 1,
    "diagonal_scatter:src": lambda d: d.tensor((d.shape[2], min(d.shape[:2]))),
    "isin:test_elements": lambda d: d.values((256,)),
    "isin:test_element": lambda d: 1,
    "isin:element": lambda d: 1,
    "masked_fill:value": lambda d: 1,
    "masked_fill.Tensor:value": lambda d: d.values(()),
    "fill.Tensor:value": lambda d: d.values(()),
    "embedding:weight": lambda d: d.tensor((d.count // 64, 64)),
    "embedding:indices": lambda d: d.index((d.count // 64,), d.count // 64),
    # Images and layers.
    **{f"{name}:self": lambda d: d.tensor(_classes(d)) for name in ("nll_loss", "nll_loss_nd")},
    **{
        f"{name}:target": lambda d: d.index((_classes(d)[0],), _classes(d)[1])
        for name in ("nll_loss", "nll_loss_nd")
    },
    **{f"{name}:weight": lambda d: d.values((64,)) for name in ("nll_loss", "nll_loss_nd")},
    **{
        f"{name}{n}d:{argument}": rule
        for name in ("conv", "conv_transpose")
        for n, input in ((1, _signal), (2, _image), (3, _volume))
        for argument, rule in {
            "input": input,
            "weight": lambda d, n=n: d.values((8, 8, *n * (3,))),
            "bias": lambda d: d.values((8,)),
        }.items()
    },
    "native_group_norm:input": _image,
    **{f"native_group_norm:{name}": lambda d: d.values((8,)) for name in ("weight", "bias")},
    "native_group_norm:N": lambda d: 2,
    "native_group_norm:C": lambda d: 8,
    "native_group_norm:HxW": lambda d: round((d.count / 16) ** 0.5) ** 2,
    "native_group_norm:group": lambda d: 2,
    **{
        f"cosine_embedding_loss:{name}": lambda d: d.tensor((d.count // 64, 64))
        for name in ("input1", "input2")
    },
    "cosine_embedding_loss:target": lambda d: d.values((d.count // 64,)),
    "convolution:input": _image,
    "convolution:weight": lambda d: d.values((8, 8, 3, 3)),
    "convolution:bias": lambda d: d.values((8,)),
    **{f"convolution:{name}": lambda d: (1, 1) for name in ("stride", "padding", "dilation")},
    "convolution:transposed": lambda d: False,
    "convolution:output_padding": lambda d: (0, 0),
    "convolution:groups": lambda d: 1,
    **{f"{name}:self": _image for name in ("avg_pool2d", "max_pool2d", "max_pool2d_with_indices")},
    ":kernel_size": lambda d: 2,
    "upsample_nearest1d:self": lambda d: d.tensor((4, 4, d.count // 32)),
    "upsample_nearest1d:input": lambda d: d.tensor((4, 4, d.count // 32)),
    "upsample_nearest1d:output_size": lambda d: (d.count // 16,),
    ":normalized_shape": lambda d: (d.shape[-1],),
    "layer_norm:weight": lambda d: d.values((d.shape[-1],)),
    "layer_norm:bias": lambda d: d.values((d.shape[-1],)),
    "native_layer_norm:weight": lambda d: d.values((d.shape[-1],)),
    "native_layer_norm:bias": lambda d: d.values((d.shape[-1],)),
    "native_layer_norm_backward:weight": lambda d: d.values((d.shape[-1],)),
    "native_layer_norm_backward:bias": lambda d: d.values((d.shape[-1],)),
    "native_layer_norm_backward:mean": lambda d: d.values((*d.shape[:-1], 1)),
    "native_layer_norm_backward:rstd": lambda d: d.values((*d.shape[:-1], 1)),
    ":output_mask": lambda d: (True, True, True),
    # Parts and grids.
    "unflatten:sizes": lambda d: (2, -1),
    "diag_embed:self": _vector,
    "diagflat:self": _vector,
    "diag_embed:dim1": lambda d: 0,
    "diag_embed:dim2": lambda d: 1,
    **{f"{name}:sections": lambda d: 2 for name in ("tensor_split", "hsplit", "vsplit", "dsplit")},
    **{
        f"{name}:indices": lambda d: (1, 3)
        for name in ("tensor_split", "hsplit", "vsplit", "dsplit")
    },
    "tensor_split:tensor_indices_or_sections": lambda d: torch.tensor([1, 3]),
    **{
        f"{name}:tensors": lambda d: [_vector(d), _vector(d)]
        for name in ("meshgrid", "cartesian_prod")
    },
    ":indexing": lambda d: "ij",
    "block_diag:tensors": lambda d: [d.tensor(2 * (round(d.count**0.5) // 2,)) for _ in range(2)],
    # Lists.
    "cat:tensors": lambda d: [d.tensor(d.along(d.shape[d.dim] // 2)) for _ in range(2)],
    "stack:tensors": lambda d: [d.tensor((d.shape[0] // 2, *d.shape[1:])) for _ in range(2)],
    ":scalars": lambda d: [1.5] * 4,
}
# Operators that Python calls by a sign.
_SIGNS: Mapping[str, Callable[..., Any]] = {
    "index.Tensor": lambda self, indices: self[tuple(indices)]
}
# The dtype of a new tensor.
_MADE = frozenset(
    (
        "empty",
        "zeros",
        "ones",
        "full",
        "arange",
        "linspace",
        "eye",
        "rand",
        "randn",
        "empty_strided",
    )
)
# Optional arguments that a call has nevertheless: without them it would be another form or none.
_GIVEN = frozenset(
    ("min", "max", "weight", "bias", "output_size", "correction", "rounding_mode", "p")
)


def base_name(f: NativeFunction) -> str:
    return f.func.name.name.base


@dataclass(frozen=True)
class Case:
    """One operator in one form, for one dtype and size. `sides` are "own", "torch" and, where it has the function,
    "numpy": the functions to call.
    """

    operator: str
    family: str
    form: str
    dtype: str
    size: str
    mutates: bool
    sides: Mapping[str, Callable[..., Any]]
    _draw: Callable[[], tuple[list[Any], dict[str, Any]]]
    _own: ModuleType

    @property
    def name(self) -> str:
        return f"{self.operator} | {self.form} | {self.dtype} | {self.size}"

    def arguments(self) -> dict[str, tuple[list[Any], dict[str, Any]]]:
        """Return new arguments for each side. Sides share the memory of tensors."""
        args, named = self._draw()
        made = {
            side: (_translated(args, self._own, side), _translated(named, self._own, side))
            for side in self.sides
        }
        if "numpy" in made:
            args, named = made["numpy"]
            made["numpy"] = (
                args,
                {_NUMPY_ARGUMENTS.get(name, name): v for name, v in named.items()},
            )
        return made


@dataclass
class Cases:
    """The calls of a library, whose entries are in `yaml` and whose Python package is `own`."""

    yaml: Path
    own: ModuleType
    # Operators that no call was found for, with the reason.
    left_out: dict[str, str] = field(default_factory=dict)

    @cached_property
    def functions(self) -> tuple[NativeFunction, ...]:
        return opgen.load(self.yaml).functions

    @cached_property
    def _sections(self) -> list[tuple[int, str]]:
        text = self.yaml.read_text()
        return [(match.start(), match[1]) for match in _SECTION.finditer(text)]

    def family(self, f: NativeFunction) -> str:
        """Return the heading above the operator in the YAML."""
        at = f.spans.entry.start
        title = next((title for start, title in reversed(self._sections) if start < at), "others")
        return title.strip(". ")

    def find(
        self,
        operators: str = "",
        forms: str = "",
        dtypes: tuple[str, ...] = ("float32",),
        sizes: tuple[str, ...] = ("1M",),
        with_numpy: bool = True,
    ) -> Iterator[Case]:
        """Yield the calls whose operators (`add.Tensor`) and forms match these patterns, and that both libraries accept."""
        wanted, wanted_form = re.compile(operators), re.compile(forms)
        for f in self.functions:
            if not wanted.search(str(f.func.name)):
                continue
            found = [
                case
                for form in forms_of(f)
                if wanted_form.search(form.name)
                for dtype in dtypes
                for size in sizes
                if (case := self._case(f, form, dtype, size, with_numpy)) is not None
            ]
            if found:
                self.left_out.pop(str(f.func.name), None)
            yield from found

    def _case(
        self, f: NativeFunction, form: Form, dtype: str, size: str, with_numpy: bool
    ) -> Case | None:
        name = str(f.func.name)
        own, theirs = _callable(self.own, f), _callable(torch, f)
        if own is None or theirs is None:
            self.left_out[name] = f"not in Python for {'us' if own is None else 'torch'}"
            return None

        def draw(count: int = SIZES[size]) -> tuple[list[Any], dict[str, Any]]:
            return _arguments(Draw(f, form, dtype, count))

        sides = {"own": own, "torch": theirs}
        mutates = f.func.kind() in (SchemaKind.inplace, SchemaKind.mutable)
        case = Case(name, self.family(f), form.name, dtype, size, mutates, sides, draw, self.own)
        few = Case(
            name, "", form.name, dtype, size, mutates, sides, lambda: draw(1 << 10), self.own
        )
        refused = {}
        results = {}
        try:
            given = few.arguments()
        except Unfit:
            return None
        except Exception as error:
            self.left_out[name] = f"{form.name}, {dtype}: no arguments: {_first_line(error)}"
            return None
        for side, function in sides.items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    results[side] = function(*given[side][0], **given[side][1])
            except Exception as error:
                refused[side] = _first_line(error)
        if refused:
            self.left_out[name] = "; ".join(
                f"{side} refuses {form.name}, {dtype}: {why}" for side, why in refused.items()
            )
            return None
        numpy_function = _numpy_function(f) if with_numpy and dtype != "bfloat16" else None
        if numpy_function is not None and not mutates:
            with_it = Case(**{**few.__dict__, "sides": {"numpy": numpy_function}})
            if _agrees(with_it, results["torch"]):
                if _returns_view(with_it) and not _is_view(results["torch"], given["torch"]):
                    # As torch's function, NumPy's has to write the elements.
                    numpy_function = _copied(numpy_function)
                return Case(**{**case.__dict__, "sides": {**sides, "numpy": numpy_function}})
        return case


def forms_of(f: NativeFunction) -> tuple[Form, ...]:
    """Return the forms in which an operator is called: by its arguments, nothing else."""
    arguments = {a.name: a for a in f.func.arguments.flat_non_out}
    tensors = [a for a in arguments.values() if _base(a.type) is BaseTy.Tensor]
    functional = f.func.kind() in (SchemaKind.functional,)
    dim = arguments.get("dim")
    if dim is not None:
        every = _DIMS if functional else _DIMS[2:3]
        optional = isinstance(dim.type, OptionalType) or dim.default == "[]"
        return (*every, *((_ALL, _ALL_STRIDED) if optional and functional else ()))
    if not tensors:
        return (Form("new"),)
    if not functional:
        return (_PLAIN, *_MIXED) if base_name(f) == "copy_" else (_PLAIN,)
    single = [a for a in tensors if not isinstance(_inner(a.type), ListType)]
    return (*_LAYOUTS, *((_ROW, *_MIXED) if len(single) > 1 else ()))


def _inner(type_: Type) -> Type:
    return type_.elem if isinstance(type_, OptionalType) else type_


def _base(type_: Any) -> BaseTy | None:
    while isinstance(type_, (OptionalType, ListType)):
        type_ = type_.elem
    return type_.name if isinstance(type_, BaseType) else None


def _arguments(draw: Draw) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional and the named arguments, by the Python signature."""
    f = draw.function
    args: list[Any] = []
    named: dict[str, Any] = {}
    by_name = False
    first = True
    for argument in f.func.arguments.flat_non_out:
        value = _value(draw, argument, first)
        if _base(argument.type) is BaseTy.Tensor:
            first = False
        positional = argument in f.func.arguments.flat_positional
        if value is _ABSENT:
            by_name = True
        elif positional and not by_name:
            args.append(value)
        else:
            named[argument.name] = value
    outs = f.func.arguments.out
    if outs:
        found = _callable(torch, f)
        assert found is not None
        # As PyTorch's own function makes them.
        results = found(*args, **named)
        made = [torch.empty_like(each) for each in (results if len(outs) > 1 else [results])]
        named["out"] = made[0] if len(made) == 1 else tuple(made)
    return args, named


_ABSENT = object()


def _value(draw: Draw, argument: Argument, first: bool) -> Any:
    f = draw.function
    name = argument.name
    is_tensor = _base(argument.type) is BaseTy.Tensor
    overload = f.func.name.overload_name
    keys = [f"{f.func.name}:{name}", f"{draw.name}:{name}"]
    # An out= or in-place variant takes the arguments of the function.
    keys[1:1] = [f"{draw.name}.{overload.removesuffix('_out')}:{name}"] if overload else []
    # A rule for any operator is for numbers, or for one of the tensors that are not numbers.
    keys += [f":{name}"] if not is_tensor or name in ("mask", "condition", "index") else []
    rule = next((ARGUMENTS[key] for key in keys if key in ARGUMENTS), None)
    if name == "dim" and draw.form.dim is None:
        return _ABSENT if argument.default is not None else None
    if rule is None and name == "dtype" and draw.name in _MADE:
        return draw.dtype
    if argument.default is not None and (
        rule is None or (name not in _GIVEN and name not in ("dim", "start", "end"))
    ):
        return _ABSENT
    if rule is not None:
        value = rule(draw)
        if isinstance(_inner(argument.type), ListType) and isinstance(value, int) and name == "dim":
            return (value,)
        return value
    return _by_type(draw, argument, _inner(argument.type), first)


def _by_type(draw: Draw, argument: Argument, type_: Type, first: bool) -> Any:
    floating = draw.dtype.is_floating_point or draw.dtype.is_complex
    match type_:
        case BaseType(BaseTy.Tensor):
            if draw.form.broadcast and not first:
                return draw.values(draw.shape[-1:])
            if draw.form.other and not first:
                other = getattr(torch, draw.form.other)
                if other == draw.dtype and not draw.form.single:
                    raise Unfit
                return draw.values(() if draw.form.single else draw.shape, other)
            if argument.name.startswith("batch"):
                raise Unfit
            return draw.tensor(draw.shape)
        case ListType(BaseType(BaseTy.Tensor)):
            return [draw.tensor((draw.shape[0] // 4, *draw.shape[1:])) for _ in range(4)]
        case BaseType(BaseTy.Scalar):
            return 1.5 if floating else draw.dtype == torch.bool or 3
        case BaseType(BaseTy.bool):
            return False
        case BaseType(BaseTy.float):
            return 0.5
        case BaseType(BaseTy.ScalarType):
            return torch.float64 if draw.dtype == torch.float32 else torch.float32
        case BaseType(BaseTy.int | BaseTy.SymInt):
            return 1
        case BaseType(BaseTy.Device):
            return "cpu"
        case _:
            raise Unfit


def _callable(library: Any, f: NativeFunction) -> Callable[..., Any] | None:
    """Return the function or method of a library, by the names that PyTorch gives them."""
    sign = _SIGNS.get(str(f.func.name))
    if sign is not None:
        return sign
    name = str(f.func.name.name)
    if f.python_module:
        inner = {"nn": "_C._nn", "linalg": "linalg", "special": "special"}.get(
            f.python_module, f.python_module
        )
        path = inner if library is torch else f.python_module
        place = library
        for part in path.split("."):
            place = getattr(place, part, None)
        name = name.removeprefix(f"{f.python_module}_")
        return getattr(place, name, None) or getattr(place, str(f.func.name.name), None)
    if Variant.function in f.variants:
        found = getattr(library, name, None)
        if found is not None:
            return found  # type: ignore[no-any-return]
    return getattr(library.Tensor, name, None) if Variant.method in f.variants else None


def _translated(value: Any, own: ModuleType, side: str) -> Any:
    """Return a value of torch for another library."""
    if isinstance(value, dict):
        return {name: _translated(item, own, side) for name, item in value.items()}
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        return type(value)(_translated(item, own, side) for item in value)
    if side == "own":
        if isinstance(value, torch.Tensor):
            return own.from_dlpack(value)
        if isinstance(value, torch.dtype):
            return getattr(own, str(value).removeprefix("torch."))
    if side == "numpy":
        if isinstance(value, torch.Tensor):
            return value.numpy()
        if isinstance(value, torch.dtype):
            return getattr(np, str(value).removeprefix("torch."))
    return value


def _numpy_function(f: NativeFunction) -> Callable[..., Any] | None:
    if f.func.kind() is not SchemaKind.functional:
        return None
    name = base_name(f)
    return getattr(np, _NUMPY.get(name, name), None) if _NUMPY.get(name, name) else None


def _agrees(case: Case, expected: Any) -> bool:
    """Return whether NumPy's function takes the same arguments and returns the same numbers."""
    if not isinstance(expected, torch.Tensor):
        return False
    try:
        args, named = case.arguments()["numpy"]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = np.asarray(case.sides["numpy"](*args, **named))
        wanted = expected.numpy()
        return result.shape == wanted.shape and bool(
            np.allclose(result, wanted, 1e-3, 1e-3, equal_nan=True)
        )
    except Exception:
        return False


def _returns_view(case: Case) -> bool:
    """Return whether NumPy's function returns memory of its arguments, as np.flip does."""
    args, named = case.arguments()["numpy"]
    result = case.sides["numpy"](*args, **named)
    return any(
        np.may_share_memory(result, each)
        for each in _flat([*args, *named.values()])
        if isinstance(each, np.ndarray)
    )


def _is_view(result: torch.Tensor, arguments: tuple[list[Any], dict[str, Any]]) -> bool:
    """Return whether torch's result has memory of an argument."""
    place = result.untyped_storage().data_ptr()
    return any(
        each.untyped_storage().data_ptr() == place
        for each in _flat([*arguments[0], *arguments[1].values()])
        if isinstance(each, torch.Tensor)
    )


def _flat(values: list[Any]) -> Iterator[Any]:
    for value in values:
        yield from _flat(list(value)) if isinstance(value, (list, tuple)) else (value,)


def _copied(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **named: np.copy(function(*args, **named))


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0][:120] if lines else type(error).__name__
