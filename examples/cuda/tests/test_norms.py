"""The operator on each device that this machine has, beside PyTorch's."""

import norms
import pytest
import torch

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("sizes", [(4, 1000), (3, 5, 7), (0, 8), (300, 1)])
def test_values(sizes: tuple[int, ...], dtype: torch.dtype, device: str) -> None:
    x = torch.randn(*sizes, dtype=dtype, device=device)
    weight = torch.rand(sizes[-1], dtype=dtype, device=device)
    wanted = torch.nn.functional.rms_norm(x.float(), sizes[-1:], weight.float(), 1e-6)
    torch.testing.assert_close(norms.rms_norm(x, weight), wanted.to(dtype))
    transposed = x.transpose(0, -1).contiguous().transpose(0, -1)
    torch.testing.assert_close(norms.rms_norm(transposed, weight), wanted.to(dtype))


@pytest.mark.parametrize("device", DEVICES)
def test_opcheck(device: str) -> None:
    x, weight = torch.randn(4, 6, device=device), torch.rand(6, device=device)
    torch.library.opcheck(torch.ops.norms.rms_norm.default, (x, weight))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no GPU")
def test_the_device_and_the_stream_of_the_tensors() -> None:
    device = f"cuda:{torch.cuda.device_count() - 1}"
    x, weight = torch.randn(64, 512, device=device), torch.rand(512, device=device)
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(stream):
        found = norms.rms_norm(x, weight)
    stream.synchronize()
    torch.testing.assert_close(found, torch.nn.functional.rms_norm(x, (512,), weight, 1e-6))
    with pytest.raises(RuntimeError, match="same device"):
        norms.rms_norm(x, weight.cpu())
