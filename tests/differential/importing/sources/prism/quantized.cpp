// quantized.cpp: kernels of prism for QuantizedCPU.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <stdexcept>

namespace prism {
namespace ops {

namespace {

at::Tensor suppress_quantized(const at::Tensor& dets, const at::Tensor& scores,
                              double iou_threshold) {
  throw std::runtime_error("not written");
}

at::Tensor crop_align_quantized(const at::Tensor& input, const at::Tensor& rois,
                                double spatial_scale, c10::SymInt pooled_height,
                                c10::SymInt pooled_width, int64_t sampling_ratio, bool aligned) {
  throw std::runtime_error("not written");
}

std::tuple<at::Tensor, at::Tensor> crop_pool_quantized(const at::Tensor& input,
                                                       const at::Tensor& rois, double spatial_scale,
                                                       c10::SymInt pooled_height,
                                                       c10::SymInt pooled_width) {
  throw std::runtime_error("not written");
}

}  // namespace

TORCH_LIBRARY_IMPL(prism, QuantizedCPU, m) {
  m.impl(TORCH_SELECTIVE_NAME("prism::suppress"), TORCH_FN(suppress_quantized));
  m.impl("crop_align", TORCH_FN(crop_align_quantized));
  m.impl("prism::crop_pool", crop_pool_quantized);
}

}  // namespace ops
}  // namespace prism
