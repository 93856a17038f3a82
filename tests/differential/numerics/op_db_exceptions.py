"""Differences between our operators and PyTorch's on the inputs of torch.testing's op_db, each with its reason.

A key is "operator:form:kind:dtype" as counted by numerics.op_db; each part may be a pattern of fnmatch. The whole run
fails if a row matches nothing, so the list stays true.
"""

from __future__ import annotations

EXPECTED: dict[str, str] = {
    "topk:*:values:*": "PyTorch does not specify which of several equal elements is taken; ours takes the first",
    "kthvalue:*:values:*": "as topk: PyTorch does not specify which of several equal elements it is",
    "matmul:out:strides:*": "PyTorch changes the strides of an out argument that is not contiguous",
    "abs:out:accepted:complex*": "PyTorch takes an out argument of a wider complex dtype only for some shapes",
    "abs:out:strides:complex*": "PyTorch computes into a contiguous tensor first, whose strides a new output takes",
    "mul:*:values:complex64": "where products nearly cancel, the difference depends on their rounding",
    "std*:out:accepted:*": "PyTorch computes half types only into an out argument of the same dtype",
    "var*:out:accepted:*": "as std",
    "logsumexp:out:refused:complex*": "PyTorch drops the imaginary part for a real out argument",
    "logsumexp:out:values:*": "PyTorch computes integers in float, also if the out argument has double; ours in double",
    "i0:out:values:*int*": "PyTorch computes integers in float, to the last digit or the one before",
    "special.i1:out:values:*int*": "as i0",
    "atan2:out:values:*int*": "as i0",
    "special.entr:out:values:*int*": "as i0",
    "addbmm:in-place:warning:*": "PyTorch resizes the tensor without a warning",
    "nn.functional.logsigmoid:out:warning:*": "as addbmm",
    "addbmm:*:values:*": "PyTorch rounds the sum after each batch, and here it nearly cancels",
    "tensordot:*:refused:bool": "PyTorch multiplies tensors of bool for some shapes",
    "tensordot:*:accepted:bool": "as refused, for other shapes",
    "nn.functional.max_pool2d:*:missing:*": (
        "return_indices is not an argument of the operator but of torch.nn.functional"
    ),
    "nn.functional.max_pool1d:*:missing:*": "as max_pool2d",
    "nn.functional.conv*:function:accepted:*int*": "PyTorch convolves integers only in some cases",
    "nn.functional.conv_transpose3d:*:values:float32": "as mul: sums of products that nearly cancel",
    "nn.functional.conv_transpose*:*:values:*float16": (
        "PyTorch rounds the products before it adds them to one another"
    ),
    "nn.functional.pad/re*:function:accepted:bool": "PyTorch mirrors and repeats elements of some dtypes only",
    "nn.functional.*bilinear:function:values:uint8": "PyTorch weights bytes by fractions of few bits; ours by float",
    "polygamma/*:*:values:*": "PyTorch's trigamma of float32 is finite at the poles; ours is infinite",
    "nn.functional.gelu:out:values:*": (
        "PyTorch leaves the elements of out arguments that are not contiguous as they were"
    ),
}
