"""Compare each CUDA operator of the library with PyTorch's own."""

import sys

import torch

torch.ops.load_library(sys.argv[1])
ops = torch.ops.gpu
generator = torch.Generator().manual_seed(0)

for dtype in (torch.float32, torch.float64, torch.int64):
    for shapes in (((4, 5), (4, 5)), ((4, 1), (5,)), ((0, 3), (3,)), ((), (7,))):
        a, b = (torch.randint(-9, 9, s, generator=generator).to(dtype).cuda() for s in shapes)
        wanted = a + b
        assert torch.equal(ops.plus(a, b), wanted)
        assert torch.equal(
            ops.plus(a.t() if a.dim() == 2 else a, 0 * a.sum()), a.t() if a.dim() == 2 else a
        )
        out = torch.empty(0, dtype=dtype, device="cuda")
        assert ops.plus.out(a, b, out=out) is out and torch.equal(out, wanted)
        if wanted.shape == a.shape:
            copy = a.clone()
            assert ops.plus_(copy, b) is copy and torch.equal(copy, wanted)

a, weight = torch.rand(6, 7).cuda(), torch.rand(6).cuda()
torch.testing.assert_close(ops.total(a, 0, weight), (a * weight[:, None]).sum(0))
torch.testing.assert_close(ops.total(a, 1), a.sum(1))
torch.testing.assert_close(ops.sum_of(a, [0]), a.sum(0))
torch.testing.assert_close(ops.sum_of(a.t(), [0, -1], True), a.sum((0, 1), keepdim=True))

for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
    for shape in ((5, 7), (3, 1000), (2, 3, 8), (0, 4)):
        x = torch.randn(shape, generator=generator).to(dtype).cuda()
        scale = torch.randn(shape[-1], generator=generator).to(dtype).cuda()
        wanted = torch.nn.functional.rms_norm(x, shape[-1:], scale, 1e-6)
        torch.testing.assert_close(ops.rms_norm(x, scale), wanted, rtol=1e-2, atol=1e-2)
        if dtype is torch.float32 and x.numel():
            torch.library.opcheck(ops.rms_norm.default, (x, scale))
            compiled = torch.compile(lambda x, scale: ops.rms_norm(x * 2, scale) + 1, dynamic=True)
            torch.testing.assert_close(compiled(x, scale), ops.rms_norm(x * 2, scale) + 1)

assert ops.ramp([5], device="cuda").tolist() == [0, 1, 2, 3, 4]
assert torch.equal(ops.gather(a, [a, a]), 3 * a)
assert torch.equal(ops.unchecked(weight, weight.cpu()), 2 * weight)
try:
    ops.plus(a, a.cpu())
except RuntimeError as error:
    assert "other is on cpu, different from other tensors on cuda:0" in str(error)
else:
    raise AssertionError("plus takes tensors of two devices")

if torch.cuda.device_count() > 1:
    there = a.to("cuda:1")
    assert ops.plus(there, there).device == there.device and torch.cuda.current_device() == 0
