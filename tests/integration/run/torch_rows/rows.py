"""Check what the rows of rows.yaml do when they are called: `python rows.py LIBRARY`."""

from __future__ import annotations

import sys
from typing import Any

import torch

KEYS = torch._C.DispatchKey


def has(name: str, key: str) -> bool:
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(name, key))


def raises(call: Any, text: str) -> None:
    try:
        call()
    except Exception as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no error: {text}")


def keys() -> None:
    """Check that every row is registered for its key and for no other."""
    for key in ("CPU", "CUDA", "QuantizedCPU", "AutocastCPU", "AutocastCUDA", "Meta"):
        assert has("vision::nms", key), key
    assert not has("vision::nms", "QuantizedCUDA") and not has("vision::nms", "AutocastXPU")
    assert has("npu::scale", "PrivateUse1") and not has("vision::scale", "PrivateUse1")
    assert has("vision::grid", "BackendSelect")
    for name, key in (
        ("vision::offset", "Autograd"),
        ("vision::offset", "ADInplaceOrView"),
        ("npu::offset", "AutogradPrivateUse1"),
    ):
        assert torch._C._dispatch_kernel_for_dispatch_key_is_fallthrough(name, key), (name, key)


def nms() -> None:
    dets, scores = torch.rand(5, 4), torch.rand(5)
    want = scores.sort(descending=True).indices
    assert torch.equal(torch.ops.vision.nms(dets, scores, 0.5), want)
    half = dets.bfloat16(), scores.bfloat16()
    raises(lambda: torch.ops.vision.nms(*half, 0.5), "boxes of Float, not BFloat16")
    with torch.autocast("cpu"):
        assert torch.equal(
            torch.ops.vision.nms(*half, 0.5), half[1].float().sort(descending=True).indices
        )
    quantized = [torch.quantize_per_tensor(x, 0.01, 0, torch.quint8) for x in (dets, scores)]
    have = torch.ops.vision.nms(*quantized, 0.5)
    assert torch.equal(have, quantized[1].dequantize().sort(descending=True).indices)
    have = torch.ops.vision.nms(dets.to("meta"), scores.to("meta"), 0.5)
    assert have.shape == (5,) and have.dtype == torch.int64
    raises(lambda: torch.ops.vision.nms(dets.to_sparse(), scores, 0.5), "SparseCPU")


def gradients() -> None:
    x = torch.rand(4, requires_grad=True)
    torch.ops.vision.square(x).sum().backward()
    torch.testing.assert_close(x.grad, 2 * x.detach())
    compiled = torch.compile(torch.ops.vision.square, fullgraph=True, dynamic=True)
    y = torch.rand(4, requires_grad=True)
    compiled(y).sum().backward()
    torch.testing.assert_close(y.grad, 2 * y.detach())
    raises(lambda: torch.ops.vision.scale(x, 2.0).sum().backward(), "not implemented")
    # If a kernel falls through for Autograd, its gradients are those of the operators that it
    # calls.
    assert not torch.ops.vision.offset(torch.rand(3), 2).requires_grad


def namespaces() -> None:
    x = torch.rand(3)
    assert torch.equal(torch.ops.vision.scale(x, 2.0), x * 2)
    assert torch.equal(torch.ops.npu.scale(x, 2.0), x * 2 + 1)
    assert torch.equal(torch.ops.npu.scale.default._op_dk(KEYS.PrivateUse1, x, 2.0), x * 2 + 2)
    torch.ops.npu.offset(x, 1)
    assert torch.equal(torch.ops.vision.offset(x, 1), x + 1)


def classes() -> None:
    Box = torch.classes.vision.Box
    assert torch.ops.vision.area(Box(3, 4)) == 12.0
    assert torch.ops.vision.boxed(torch.rand(2), 7).height() == 2
    assert torch.ops.vision.boxed(torch.rand(2), 7, Box(1, 5)).height() == 7
    have = torch.ops.vision.areas(torch.rand(1), [Box(1, 2), Box(3, 4)])
    assert have.tolist() == [2.0, 12.0]
    text = str(torch.ops.vision.area.default._schema)
    assert text == "vision::area(__torch__.torch.classes.vision.Box box) -> float", text


def devices() -> None:
    assert torch.equal(torch.ops.vision.grid(3), torch.arange(3))
    assert torch.equal(torch.ops.vision.grid(3, device="cpu"), torch.arange(3))
    raises(lambda: torch.ops.vision.grid(3, device="privateuseone:0"), "no grid on")
    raises(lambda: torch.ops.vision.grid(3, device="xpu"), "XPU")


def main() -> None:
    torch.ops.load_library(sys.argv[1])
    for check in (keys, nms, gradients, namespaces, classes, devices):
        check()
    print("ok")


if __name__ == "__main__":
    main()
