"""Check what happens before a CUDA kernel, by calls with the key CUDA and tensors on other devices."""

import sys

import torch

torch.ops.load_library(sys.argv[1])
CUDA = torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)
here, nowhere = torch.ones(2), torch.ones(2, device="meta")


def refused(name: str, *arguments: object, overload: str = "default", **keywords: object) -> str:
    """Return the first line of the error of a call."""
    operator = getattr(getattr(torch.ops.gpu, name), overload)
    try:
        operator.redispatch(CUDA, *arguments, **keywords)
    except (NotImplementedError, RuntimeError) as error:
        return str(error).splitlines()[0]
    raise AssertionError(f"{name} ran")


def differs(argument: str, method: str, first: str = "cpu", other: str = "meta") -> str:
    """Return ATen's message about two devices."""
    return (
        f"Expected all tensors to be on the same device, but got {argument} is on {other}, different "
        f"from other tensors on {first} (when checking argument in method {method})"
    )


def missing(text: str) -> bool:
    return " kernel yet; write" in text


x, scale = torch.randn(3, 5), torch.randn(5)
torch.testing.assert_close(
    torch.ops.gpu.rms_norm(x, scale), torch.nn.functional.rms_norm(x, (5,), scale, 1e-6)
)
assert torch.ops.gpu.sum_of(x.to("meta"), [0], True).shape == (1, 5)

# Structured: first outs, then positional arguments.
assert refused("plus", here, nowhere) == differs("other", "gpu::plus")
assert refused("plus_", here, nowhere) == differs("other", "gpu::plus_")
assert refused("plus", here, here, overload="out", out=nowhere) == differs(
    "self", "gpu::plus", "meta", "cpu"
)
assert refused("total", here, 0, nowhere) == differs("weight", "gpu::total")
assert missing(refused("total", here, 0, here))
# Unstructured: lists are checked, keyword-only tensors never.
assert refused("gather", here, [here, nowhere]) == differs("others", "gpu::gather")
assert missing(refused("gather", here, [here], extra=nowhere))
# device_check: NoCheck, device_guard: False.
assert missing(refused("unchecked", here, nowhere))
assert missing(refused("unguarded", here))
# The device determines the key of a factory: the CPU has a kernel, and the other device does not exist.
assert torch.ops.gpu.ramp([3]).tolist() == [0, 1, 2]
if not torch.cuda.is_available():
    refused("ramp", [3], device="cuda")
assert torch.equal(torch.ops.gpu.plus(here, here), here + here)

# A selective build: operators that are not selected do not exist, and kernels that call them raise;
# and one element type.
assert not hasattr(torch.ops.gpu, "missed") or torch.ops.gpu.missed.overloads() == ["out"]
for refusal, call in (
    (
        "gpu::missed is not part of this build",
        lambda: torch.ops.gpu.missed(here, out=here),
    ),
    (
        '"plus": this build has no code for Long',
        lambda: torch.ops.gpu.plus(here.long(), here.long()),
    ),
):
    try:
        call()
    except NotImplementedError as error:
        assert refusal in str(error), error
    else:
        raise AssertionError(f"no error: {refusal}")
