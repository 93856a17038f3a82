// autograd_device.cpp: kernels for AutogradPrivateUse1.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <stdexcept>

namespace basalt::autograd_device {

at::Tensor pool(const at::Tensor& input, at::IntArrayRef kernel_size, at::IntArrayRef stride,
                at::IntArrayRef padding, bool ceil_mode, std::optional<int64_t> divisor) {
  throw std::runtime_error("not written");
}

at::Tensor linear(const at::Tensor& src, const at::Tensor& weight, const at::Tensor& bias,
                  c10::SymInt in_zero_point, const std::optional<at::Tensor>& offset) {
  throw std::runtime_error("not written");
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> attention(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const std::optional<at::Tensor>& mask, double scale_value, int64_t heads, std::string layout,
    at::OptionalSymIntArrayRef lens, int64_t pre_tokens) {
  throw std::runtime_error("not written");
}

std::tuple<at::Tensor, at::Tensor> ring_update(const at::Tensor& prev_out,
                                               const at::Tensor& prev_max,
                                               const at::Tensor& cur_out, const at::Tensor& cur_max,
                                               const std::optional<at::Tensor>& lens,
                                               std::optional<std::string> layout) {
  throw std::runtime_error("not written");
}

at::Tensor rotate(const at::Tensor& x, const at::Tensor& r1, const at::Tensor& r2,
                  const std::string& mode) {
  throw std::runtime_error("not written");
}

at::Tensor prompt(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  at::OptionalSymIntArrayRef lens, int64_t heads, double scale, int64_t sparse) {
  throw std::runtime_error("not written");
}

}  // namespace basalt::autograd_device

namespace {

TORCH_LIBRARY_IMPL(basalt, AutogradPrivateUse1, m) {
  m.impl("pool", TORCH_FN(basalt::autograd_device::pool));
  m.impl("linear", TORCH_FN(basalt::autograd_device::linear));
  m.impl("attention", TORCH_FN(basalt::autograd_device::attention));
  m.impl("ring_update", TORCH_FN(basalt::autograd_device::ring_update));
  m.impl("rotate", TORCH_FN(basalt::autograd_device::rotate));
  m.impl("prompt", TORCH_FN(basalt::autograd_device::prompt));
}

}  // namespace
