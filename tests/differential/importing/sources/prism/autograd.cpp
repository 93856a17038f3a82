// autograd.cpp: kernels of prism for Autograd.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <stdexcept>

namespace prism {
namespace ops {

namespace {

at::Tensor suppress_autograd(const at::Tensor& dets, const at::Tensor& scores,
                             double iou_threshold) {
  throw std::runtime_error("not written");
}

at::Tensor crop_align_autograd(const at::Tensor& input, const at::Tensor& rois,
                               double spatial_scale, c10::SymInt pooled_height,
                               c10::SymInt pooled_width, int64_t sampling_ratio, bool aligned) {
  throw std::runtime_error("not written");
}

std::tuple<at::Tensor, at::Tensor> crop_pool_autograd(const at::Tensor& input,
                                                      const at::Tensor& rois, double spatial_scale,
                                                      c10::SymInt pooled_height,
                                                      c10::SymInt pooled_width) {
  throw std::runtime_error("not written");
}

at::Tensor bent_conv2d_autograd(const at::Tensor& input, const at::Tensor& weight,
                                const at::Tensor& offset, const at::Tensor& mask,
                                const at::Tensor& bias, c10::SymInt stride_h, c10::SymInt stride_w,
                                c10::SymInt pad_h, c10::SymInt pad_w, c10::SymInt dilation_h,
                                c10::SymInt dilation_w, c10::SymInt groups,
                                c10::SymInt offset_groups, bool use_mask) {
  throw std::runtime_error("not written");
}

at::Tensor blend_autograd(const at::Tensor& image, const at::Tensor& other, double alpha) {
  throw std::runtime_error("not written");
}

at::Tensor resample_autograd(const at::Tensor& input, std::optional<std::vector<int64_t>> size,
                             std::optional<std::vector<double>> scale_factors, bool antialias) {
  throw std::runtime_error("not written");
}

}  // namespace

TORCH_LIBRARY_IMPL(prism, Autograd, m) {
  m.impl(TORCH_SELECTIVE_NAME("prism::suppress"), TORCH_FN(suppress_autograd));
  m.impl("crop_align", TORCH_FN(crop_align_autograd));
  m.impl("prism::crop_pool", crop_pool_autograd);
  m.impl(TORCH_SELECTIVE_NAME("prism::bent_conv2d"), TORCH_FN(bent_conv2d_autograd));
  m.impl("blend", TORCH_FN(blend_autograd));
  m.impl("prism::resample", resample_autograd);
}

}  // namespace ops
}  // namespace prism
