"""Check every way to write a kernel for a PyTorch backend: functional, in-place and out=, guards, fallback."""

import sys
import time
import types
import warnings

import torch

torch.ops.load_library(sys.argv[1])
torch.utils.rename_privateuse1_backend("host")
module = types.ModuleType("torch.host")
module.is_available = lambda: True
module.device_count = lambda: 2
module.current_device = torch.ops.pu1.current_device
module._is_in_bad_fork = lambda: False
torch._register_device_module("host", module)

a, b = torch.randn(3, 4), torch.randn(4)
device_a, device_b = a.to("host:0"), b.to("host:0")


def same(result, expected):
    assert result.device.type == "host", result.device
    assert result.stride() == expected.stride(), (result.stride(), expected.stride())
    torch.testing.assert_close(result.cpu(), expected)


def fails(text, f):
    try:
        f()
    except RuntimeError as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no error: {text}")


def count(f):
    before = torch.ops.pu1.allocations()
    f()
    return torch.ops.pu1.allocations() - before


# Structured, with the installed meta and an installed stub.
def check_structured(op, op_):
    same(op(device_a, device_b), op(a, b))
    same(op(device_a.t(), device_a.t()), op(a.t(), a.t()))
    same(getattr(a.to("host:0"), op_)(device_b), op(a, b))
    out = torch.empty(3, 4, device="host:0")
    assert op(device_a, device_b, out=out) is out
    same(out, op(a, b))
    turned = torch.empty(4, 3, device="host:0").t()
    same(op(device_a, device_b, out=turned), op(a, b, out=torch.empty(4, 3).t()))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        grown = torch.empty(2, device="host:0")
        same(op(device_a, device_b, out=grown), op(a, b))
    assert any("was resized" in str(w.message) for w in caught)
    fails("output with shape [4] doesn't match", lambda: getattr(b.to("host:0"), op_)(device_a))
    fails("same device", lambda: op(device_a, b.to("host:1")))
    whole = torch.empty(3, 4, dtype=torch.long, device="host")
    fails("can't be cast", lambda: op(device_a, device_b, out=whole))
    assert count(lambda: op(device_a, device_b)) == 1
    assert count(lambda: op(device_a, device_b, out=out)) == 0


check_structured(torch.add, "add_")
check_structured(torch.mul, "mul_")
same(torch.add(device_a, device_b, alpha=3), torch.add(a, b, alpha=3))

# The device of the tensors is current while the output is allocated.
elsewhere = torch.add(a.to("host:1"), a.to("host:1"))
assert elsewhere.device == torch.device("host:1") and torch.ops.pu1.current_device() == 0

# Meta passes on the wrapped dimension.
index, source = torch.tensor([0, 2, 0]), torch.randn(3)
expected = b.index_add(0, index, source, alpha=2)
same(device_b.index_add(-1, index.to("host:0"), source.to("host:0"), alpha=2), expected)

# An own meta, with its own rule and error messages.
same(device_b.cumsum(-1), b.cumsum(-1))
same(b.to("host:0").cumsum_(0), b.cumsum(0))
fails("pu1 sums one dimension", lambda: device_a.cumsum(0))


# Out kernels that serve all variants: no tensor is created except the result.
def check_out_alone(op, op_, allocations):
    same(op(device_a), op(a))
    mine = a.to("host:0")
    assert count(lambda: op_(mine)) == 0
    same(mine, op(a))
    assert count(lambda: op(device_a)) == allocations


check_out_alone(torch.neg, torch.neg_, 1)
# The functional one makes a tensor of no elements, which the kernel resizes.
check_out_alone(torch.nn.functional.hardswish, torch._C._nn.hardswish_, 2)

# All other operators run on the CPU.
same(device_a.tanh(), a.tanh())
assert float(device_a.sum()) == float(a.sum())

# Autograd is PyTorch's.
x = a.to("host:0").requires_grad_()
(x * x + x).backward(torch.ones(3, 4).to("host:0"))
torch.testing.assert_close(x.grad.cpu(), 2 * a + 1)
print("good")
# A thread of PyTorch's engine computes a device's gradients. It releases the graph after backward() has returned, and
# takes the GIL for that. If the interpreter is ending at that moment, CPython 3.11 exits the thread inside a destructor, which
# aborts the process. The thread needs some microseconds.
time.sleep(1)
