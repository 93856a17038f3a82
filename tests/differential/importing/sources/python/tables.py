"""Operators that are defined by their schemas, in the manner of PyTorch's own libraries in Python."""

from textwrap import dedent

import torch
import torch.library as tl
from torch import Tag
from torch.library import Library, define, impl, register_fake

NAMESPACE = "tables"
HEAD = f"{NAMESPACE}::"
STRIDES = (Tag.needs_fixed_stride_order, torch.Tag.pt2_compliant_tag)

tables_lib = Library(NAMESPACE, "DEF")
tables_lib.define("row(Tensor table, int index) -> Tensor")
tables_lib.define("rows.range(Tensor table, int first, int last, " "*, int step=1) -> Tensor")
tables_lib.define(
    "fill_row(Tensor(a!) table, int index, Scalar value) -> ()", tags=Tag.pt2_compliant_tag
)
tables_lib.define("names(Tensor table) -> str[]", "CONSERVATIVE")
tables_lib.define(
    dedent("""
        joined(Tensor[] tables,
               str how='outer, left',
               bool? keep=None) -> (Tensor, int[])
        """).strip(),
    tags=STRIDES,
)
tables_lib.define("spaced ( Tensor ! x , Tensor []y , int ? z = None)->( )")
_ = tables_lib.define("view_of(Tensor(a) table) -> Tensor(a)")

for _name in ("looped",):
    tables_lib.define(f"{_name}(Tensor x) -> Tensor")


@impl(tables_lib, "row", "CPU")
def row(table, index):
    return table[index]


@torch.library.impl(tables_lib, "rows.range", "CompositeExplicitAutograd")
def rows(table, first, last, *, step=1):
    return table[first:last:step]


tables_lib.impl("fill_row", lambda table, index, value: None, "CPU")
tables_lib.impl("row", torch.library.fallthrough_kernel, "AutocastCPU")
tables_lib.impl(torch.ops.tables.names.default, lambda table: [], "CompositeExplicitAutograd")


@register_fake("tables::row", lib=tables_lib)
def row_fake(table, index):
    return torch.empty_like(table[0])


# More of the library, in pieces.
more = tl.Library(NAMESPACE, "FRAGMENT")
more.define("transposed.out(Tensor table, *, Tensor(a!) out) -> Tensor(a!)")
for_cuda = Library("tables", "IMPL", "CUDA")
for_cuda.impl("row", row)

tl.define(HEAD + "sorted", "(Tensor table, int[] columns=[0, 1], *, bool stable=False) -> Tensor")
define(
    "tables::largest",
    "(Tensor table, int n) -> (Tensor values, Tensor indices)",
    tags=(torch.Tag.core,),
)


@tl.impl("tables::sorted", ("cpu", "cuda"))
def sorted_rows(table, columns, *, stable=False):
    return table


@impl(HEAD + "largest", "default")
def largest(table, n):
    return table, table


class Registry:
    """A library that is an attribute."""

    def __init__(self):
        self.lib = torch.library.Library("tables_too", "FRAGMENT")
        self.lib.define("kept(Tensor x) -> Tensor")
        self.lib.define("dropped(Tensor x, float p=0.5, bool train=True) -> Tensor")
        self.lib.impl("kept", self.kept, "CPU")

    def kept(self, x):
        return x


registry = Registry()
with torch.library._scoped_library("tables_scoped", "FRAGMENT") as scoped:
    scoped.define("gone(Tensor x) -> Tensor")
