"""Check `pocket` for everything that PyTorch expects of a device."""

from __future__ import annotations

import copy
import gc
import io
import re
from collections.abc import Callable

import pocket
import torch


def check(what: str, condition: bool) -> None:
    assert condition, what


def refuses(error: type[Exception], pattern: str, call: Callable[[], object]) -> None:
    """Check that `call` raises this exception with this message."""
    try:
        call()
    except error as raised:
        assert re.search(pattern, str(raised)), raised
        return
    raise AssertionError(f"no {error.__name__}: {pattern}")


def same(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    """Check that the result is on the device, and has this dtype, shape and values."""
    return (
        ours.device.type == "pocket"
        and torch.equal(ours.cpu(), theirs)
        and ours.dtype == theirs.dtype
    )


def copies() -> None:
    """Check copies to the device, from it, on it and between two of them, with all strides and dtypes."""
    a = torch.arange(24).view(2, 3, 4)
    for view in (
        a,
        a.transpose(0, 2),
        a[:, ::2],
        a[1],
        a[:0],
        a[0, 0, 0],
        a[:, :1].expand(2, 3, 4),
    ):
        for dtype in (torch.int64, torch.float16, torch.bool, torch.complex64):
            there = view.to("pocket", dtype)
            check("to", same(there, view.to(dtype)))
            check("between", same(there.to("pocket:1"), view.to(dtype)))
            target = (
                torch.zeros(view.shape, dtype=torch.float64, device="pocket").t_()
                if view.dim() == 2
                else None
            )
            if target is not None and dtype != torch.complex64:
                target.copy_(there.t())
                check("copy_", same(target, view.to(dtype).t().double()))
    broadcast = torch.zeros(2, 3, device="pocket").copy_(torch.arange(3))
    check("broadcast", same(broadcast, torch.arange(3.0).expand(2, 3)))
    z = torch.randn(4, dtype=torch.complex64)
    for ours, theirs in (
        (z.to("pocket").conj(), z.conj()),
        (z.conj().to("pocket"), z.conj()),
        (z.to("pocket").conj().imag, z.conj().imag),
        (z.conj().imag.to("pocket"), z.conj().imag),
        (z.to("pocket").conj() + 1, z.conj() + 1),
    ):
        check("conj and neg", same(ours, theirs))
    conjugated = torch.zeros(4, dtype=torch.complex64, device="pocket")
    conjugated.conj().copy_(z)
    check("into a conjugated view", same(conjugated, z.conj().resolve_conj()))


def tensors() -> None:
    """Check that tensors can be made, viewed, resized and filled."""
    a = torch.arange(12.0, device="pocket").view(3, 4)
    b = torch.arange(12.0).view(3, 4)
    check("view", same(a.view(2, 6), b.view(2, 6)) and a.view(-1).data_ptr() == a.data_ptr())
    check("reshape", same(a.t().reshape(2, 6), b.t().reshape(2, 6)))
    check("unfold", same(a.unfold(1, 2, 1), b.unfold(1, 2, 1)))
    check("as_strided", same(a.as_strided((2, 2), (1, 4), 1), b.as_strided((2, 2), (1, 4), 1)))
    check("index", same(a[1, ::2], b[1, ::2]) and a[2, 3].item() == 11)
    check("fill_", same(a.clone()[:, 0].fill_(7), b.clone()[:, 0].fill_(7)))
    check("write through a view", same(written(a.clone()), written(b.clone())))
    grown = a.clone().resize_(5, 4)
    check("resize_", same(grown[:3], b) and grown.untyped_storage().nbytes() == 80)
    check("set_", same(torch.empty(0, device="pocket").set_(a), b))
    check(
        "set_ of storage", torch.empty(0, device="pocket").set_(a.untyped_storage()).shape == (12,)
    )
    check(
        "channels last",
        torch.empty(2, 3, 4, 5, device="pocket", memory_format=torch.channels_last).stride(1) == 1,
    )
    check("factories", same(torch.full((2,), 3, device="pocket"), torch.full((2,), 3)))
    check(
        "like",
        torch.zeros_like(a).device == a.device and torch.ones(2, device="pocket").sum().item() == 2,
    )
    check("frexp", all(map(same, torch.frexp(a), torch.frexp(b))))
    for variant in (torch.nn.functional.hardtanh, torch.nn.functional.hardtanh_):
        check("hardtanh", same(variant(a - 5, -2, 2), variant(b - 5, -2, 2)))
    check("deepcopy", same(copy.deepcopy(a), b))
    refuses(
        RuntimeError,
        "cannot be pinned",
        lambda: torch.empty(2, device="pocket", pin_memory=True),
    )


def written(tensor: torch.Tensor) -> torch.Tensor:
    tensor[:, 1:3] += tensor[:, :2] * 2
    return tensor


def devices() -> None:
    """Check that kernels run on the device of their operands, and that tensors of two devices do not mix."""
    a, b = torch.randn(3, 4), torch.randn(4)
    one, two = a.to("pocket:1"), b.to("pocket:1")
    before = pocket.launches(0), pocket.launches(1)
    sums = (one + two, torch.mm(one, one.t()), one.sum(0), torch.relu(one), one.clone())
    check("results", all(t.device.index == 1 for t in sums))
    check("guard", pocket.launches(0) == before[0] and pocket.launches(1) > before[1])
    check("current device", torch.pocket.current_device() == 0)
    with torch.pocket.device(1):
        check("context", torch.empty(1, device="pocket").device.index == 1)
    check("after context", torch.empty(1, device="pocket").device.index == 0)
    check("accelerator", torch.accelerator.current_accelerator().type == "pocket")
    check("count", torch.pocket.device_count() == 2 and torch.pocket.is_available())
    refuses(RuntimeError, "same device", lambda: one + a.to("pocket"))
    refuses(RuntimeError, "same device", lambda: torch.mm(one, a.t().to("pocket")))
    refuses(RuntimeError, "same device", lambda: one + a)
    refuses(RuntimeError, "no device", lambda: torch.empty(1, device="pocket:5"))
    refuses(
        RuntimeError, "single memory location", lambda: one.as_strided((3, 4), (0, 1)).add_(two)
    )


def saving() -> None:
    """Check torch.save and torch.load, state dicts, and printing."""
    a = torch.randn(3, 4)
    there = a.to("pocket")
    file = io.BytesIO()
    torch.save({"a": there, "view": there.t()}, file)
    file.seek(0)
    loaded = torch.load(file)
    check("load", same(loaded["a"], a) and same(loaded["view"], a.t()))
    check("shared", loaded["a"].data_ptr() == loaded["view"].data_ptr())
    file.seek(0)
    check("load to the CPU", torch.equal(torch.load(file, map_location="cpu")["a"], a))
    model = torch.nn.Linear(4, 2).pocket()
    check("module", all(p.is_pocket for p in model.parameters()))
    other = torch.nn.Linear(4, 2).to("pocket")
    other.load_state_dict({k: v.cpu() for k, v in model.state_dict().items()})
    check("state dict", same(other(there), model(there).cpu()))
    check("print", repr(torch.ones(2, device="pocket")) == "tensor([1., 1.], device='pocket:0')")
    torch.manual_seed(7)
    ours = torch.randn(3, device="pocket")
    torch.manual_seed(7)
    check("randn", same(ours, torch.randn(3)))


def gradients() -> None:
    """Check gradients: autograd's formulas are PyTorch's own, and call our kernels."""

    def losses(device: str) -> list[torch.Tensor]:
        torch.manual_seed(3)
        made = (torch.randn(5, 3), torch.randn(3, 4), torch.randn(4))
        x, w, b = (t.to(device).requires_grad_() for t in made)
        hidden = torch.nn.functional.gelu(torch.addmm(b, x, w).tanh()).sigmoid() * x.mean()
        loss = torch.nn.functional.mse_loss(hidden.pow(2).exp(), torch.zeros_like(hidden))
        loss.backward()
        return [t.detach().cpu() for t in (loss, x.grad, w.grad, b.grad)]

    for ours, theirs in zip(losses("pocket"), losses("cpu")):
        torch.testing.assert_close(ours, theirs)


def main() -> None:
    for part in (copies, tensors, devices, saving, gradients):
        part()
    gc.collect()
    check("every byte is freed", pocket.memory_allocated(0) == pocket.memory_allocated(1) == 0)


main()
