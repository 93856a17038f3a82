"""Kernels, gradients and batching rules in Python: ../../table.yaml says which of them has which defect."""

import torch
from torch import Tensor

__all__: list[str] = []


def _check_floats(x: Tensor) -> None:
    if not x.is_floating_point():
        raise NotImplementedError("expected floating-point elements")


_TABLES: dict[tuple[torch.Size, torch.dtype], Tensor] = {}


@torch.library.impl("cert_torch::py_table", "CPU")
def py_table(x: Tensor, scale: float) -> Tensor:
    _check_floats(x)
    key = (x.shape, x.dtype)
    if key not in _TABLES:
        ramp = torch.arange(x.numel(), dtype=x.dtype).reshape(x.shape)
        _TABLES[key] = ramp * scale
    return x + _TABLES[key]


@torch.library.impl("cert_torch::py_total", "CPU")
def py_total(x: Tensor, seen: list[float] = []) -> Tensor:  # noqa: B006
    _check_floats(x)
    seen.append(1.0)
    return x + sum(seen)


@torch.library.impl("cert_torch::py_outer", "CPU")
def py_outer(x: Tensor, y: Tensor) -> Tensor:
    _check_floats(x)
    return torch.outer(x, y)


@torch.library.register_vmap("cert_torch::py_outer")
def _py_outer_vmap(info, in_dims, x, y):  # type: ignore[no-untyped-def]
    x = x.movedim(in_dims[0], 0) if in_dims[0] is not None else x.expand(info.batch_size, *x.shape)
    y = y.movedim(in_dims[1], 0) if in_dims[1] is not None else y.expand(info.batch_size, *y.shape)
    return x.unsqueeze(-1) * y.unsqueeze(-2), 1


@torch.library.impl("cert_torch::py_ratio", "CPU")
def py_ratio(x: Tensor, y: Tensor) -> Tensor:
    _check_floats(x)
    if x.shape != y.shape:
        raise ValueError("py_ratio: expected two tensors of the same sizes")
    return x / (y * y + 1)


def _save_both(ctx, inputs, output):  # type: ignore[no-untyped-def]
    ctx.save_for_backward(*inputs)


def _py_ratio_backward(ctx, grad):  # type: ignore[no-untyped-def]
    x, y = ctx.saved_tensors
    below = y * y + 1
    return -2 * grad * x * y / (below * below), grad / below


torch.library.register_autograd(
    "cert_torch::py_ratio", _py_ratio_backward, setup_context=_save_both
)


@torch.library.impl("cert_torch::py_mul", "CPU")
def py_mul(x: Tensor, y: Tensor) -> Tensor:
    _check_floats(x)
    if x.dtype != y.dtype or x.shape != y.shape:
        raise TypeError("py_mul: expected two tensors of the same sizes and dtype")
    return x * y


def _py_mul_backward(ctx, grad):  # type: ignore[no-untyped-def]
    x, y = ctx.saved_tensors
    flat = grad.view(-1)
    return (flat * y.reshape(-1)).reshape(x.shape), (flat * x.reshape(-1)).reshape(y.shape)


torch.library.register_autograd("cert_torch::py_mul", _py_mul_backward, setup_context=_save_both)


def _tanh_setup(ctx, inputs, output):  # type: ignore[no-untyped-def]
    ctx.save_for_backward(inputs[0])


def _tanh_backward(ctx, grad):  # type: ignore[no-untyped-def]
    (x,) = ctx.saved_tensors
    y = torch.tanh(x.detach())
    return grad * (1 - y * y)


torch.library.register_autograd("cert_torch::tanh_py", _tanh_backward, setup_context=_tanh_setup)


@torch.library.impl("cert_torch::py_checked", "CPU")
def py_checked(x: Tensor, size: int) -> Tensor:
    _check_floats(x)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    scale = torch.tensor(2.0)
    if size < 0:
        raise ValueError("py_checked: expected a size of at least 0")
    torch.set_default_dtype(before)
    return x * scale.to(x.dtype)


@torch.library.impl("cert_torch::py_sigmoid", "CPU")
def py_sigmoid(x: Tensor) -> Tensor:
    _check_floats(x)
    return torch.sigmoid(x)


def _sigmoid_setup(ctx, inputs, output):  # type: ignore[no-untyped-def]
    ctx.output = output


def _sigmoid_backward(ctx, grad):  # type: ignore[no-untyped-def]
    return grad * ctx.output * (1 - ctx.output)


torch.library.register_autograd(
    "cert_torch::py_sigmoid", _sigmoid_backward, setup_context=_sigmoid_setup
)


@torch.library.impl("cert_torch::ok_py_square", "CPU")
def ok_py_square(x: Tensor) -> Tensor:
    return x * x


def _square_backward(ctx, grad):  # type: ignore[no-untyped-def]
    (x,) = ctx.saved_tensors
    return 2 * grad * x.conj()


torch.library.register_autograd(
    "cert_torch::ok_py_square", _square_backward, setup_context=_tanh_setup
)


@torch.library.impl("cert_torch::py_scale_rows", "CPU")
def py_scale_rows(x: Tensor, y: Tensor) -> Tensor:
    _check_floats(x)
    if x.dtype != y.dtype or x.shape != y.shape:
        raise TypeError("py_scale_rows: expected two tensors of the same sizes and dtype")
    return x * y


@torch.library.register_vmap("cert_torch::py_scale_rows")
def _py_scale_rows_vmap(info, in_dims, x, y):  # type: ignore[no-untyped-def]
    if in_dims[1] is None:
        y = y.unsqueeze(-1)
    return x.movedim(in_dims[0] or 0, 0) * y, 0


@torch.library.impl("cert_torch::py_once", "CPU")
def py_once(x: Tensor) -> Tensor:
    _check_floats(x)
    return x * x


def _keep(ctx, inputs, output):  # type: ignore[no-untyped-def]
    ctx.save_for_backward(inputs[0])
    ctx.calls = 0


def _once_backward(ctx, grad):  # type: ignore[no-untyped-def]
    (x,) = ctx.saved_tensors
    ctx.calls += 1
    return 2 * grad * x if ctx.calls == 1 else torch.zeros_like(x)


torch.library.register_autograd("cert_torch::py_once", _once_backward, setup_context=_keep)


@torch.library.impl("cert_torch::py_rounded", "CPU")
def py_rounded(x: Tensor) -> Tensor:
    _check_floats(x)
    return x * x * x


def _rounded_backward(ctx, grad):  # type: ignore[no-untyped-def]
    (x,) = ctx.saved_tensors
    slope = 3 * x * x
    return grad * (slope if x.dtype == torch.float64 else slope.to(torch.bfloat16).to(x.dtype))


torch.library.register_autograd(
    "cert_torch::py_rounded", _rounded_backward, setup_context=_tanh_setup
)

_LAST = [0.0]


@torch.library.impl("cert_torch::py_last", "CPU")
def py_last(x: Tensor, by: float) -> Tensor:
    _check_floats(x)
    _LAST[0] = by
    return x * by


def _last_backward(ctx, grad):  # type: ignore[no-untyped-def]
    return grad * _LAST[0], None


torch.library.register_autograd("cert_torch::py_last", _last_backward)
