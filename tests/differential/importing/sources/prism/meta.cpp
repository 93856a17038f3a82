// meta.cpp: kernels of prism for Meta.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <stdexcept>

namespace prism {
namespace ops {

namespace {

at::Tensor suppress_meta(const at::Tensor& dets, const at::Tensor& scores, double iou_threshold) {
  throw std::runtime_error("not written");
}

at::Tensor crop_align_meta(const at::Tensor& input, const at::Tensor& rois, double spatial_scale,
                           c10::SymInt pooled_height, c10::SymInt pooled_width,
                           int64_t sampling_ratio, bool aligned) {
  throw std::runtime_error("not written");
}

at::Tensor _crop_align_backward_meta(const at::Tensor& grad, const at::Tensor& rois,
                                     double spatial_scale, c10::SymInt pooled_height,
                                     c10::SymInt pooled_width, c10::SymInt batch_size,
                                     c10::SymInt channels, c10::SymInt height, c10::SymInt width,
                                     int64_t sampling_ratio, bool aligned) {
  throw std::runtime_error("not written");
}

std::tuple<at::Tensor, at::Tensor> crop_pool_meta(const at::Tensor& input, const at::Tensor& rois,
                                                  double spatial_scale, c10::SymInt pooled_height,
                                                  c10::SymInt pooled_width) {
  throw std::runtime_error("not written");
}

at::Tensor _crop_pool_backward_meta(const at::Tensor& grad, const at::Tensor& rois,
                                    const at::Tensor& argmax, double spatial_scale,
                                    c10::SymInt pooled_height, c10::SymInt pooled_width,
                                    c10::SymInt batch_size, c10::SymInt channels,
                                    c10::SymInt height, c10::SymInt width) {
  throw std::runtime_error("not written");
}

at::Tensor bent_conv2d_meta(const at::Tensor& input, const at::Tensor& weight,
                            const at::Tensor& offset, const at::Tensor& mask,
                            const at::Tensor& bias, c10::SymInt stride_h, c10::SymInt stride_w,
                            c10::SymInt pad_h, c10::SymInt pad_w, c10::SymInt dilation_h,
                            c10::SymInt dilation_w, c10::SymInt groups, c10::SymInt offset_groups,
                            bool use_mask) {
  throw std::runtime_error("not written");
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> _bent_conv2d_backward_meta(
    const at::Tensor& grad, const at::Tensor& input, const at::Tensor& weight,
    const at::Tensor& offset, const at::Tensor& mask, const at::Tensor& bias, c10::SymInt stride_h,
    c10::SymInt stride_w, c10::SymInt groups, bool use_mask) {
  throw std::runtime_error("not written");
}

at::Tensor blend_meta(const at::Tensor& image, const at::Tensor& other, double alpha) {
  throw std::runtime_error("not written");
}

at::Tensor blend_out_meta(const at::Tensor& image, const at::Tensor& other, double alpha,
                          at::Tensor& out) {
  throw std::runtime_error("not written");
}

at::Tensor blend__meta(at::Tensor& self, const at::Tensor& other, double alpha) {
  throw std::runtime_error("not written");
}

at::Tensor tile_view_meta(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef step) {
  throw std::runtime_error("not written");
}

std::vector<at::Tensor> halves_meta(const at::Tensor& self, int64_t dim) {
  throw std::runtime_error("not written");
}

at::Tensor resample_meta(const at::Tensor& input, std::optional<std::vector<int64_t>> size,
                         std::optional<std::vector<double>> scale_factors, bool antialias) {
  throw std::runtime_error("not written");
}

at::Tensor noise_like_meta(const at::Tensor& input, std::optional<at::Generator> generator,
                           std::optional<at::ScalarType> dtype, std::optional<at::Device> device) {
  throw std::runtime_error("not written");
}

}  // namespace

TORCH_LIBRARY_IMPL(prism, Meta, m) {
  m.impl(TORCH_SELECTIVE_NAME("prism::suppress"), TORCH_FN(suppress_meta));
  m.impl("crop_align", TORCH_FN(crop_align_meta));
  m.impl("prism::_crop_align_backward", _crop_align_backward_meta);
  m.impl(TORCH_SELECTIVE_NAME("prism::crop_pool"), TORCH_FN(crop_pool_meta));
  m.impl("_crop_pool_backward", TORCH_FN(_crop_pool_backward_meta));
  m.impl("prism::bent_conv2d", bent_conv2d_meta);
  m.impl(TORCH_SELECTIVE_NAME("prism::_bent_conv2d_backward"),
         TORCH_FN(_bent_conv2d_backward_meta));
  m.impl("blend", TORCH_FN(blend_meta));
  m.impl("prism::blend.out", blend_out_meta);
  m.impl(TORCH_SELECTIVE_NAME("prism::blend_"), TORCH_FN(blend__meta));
  m.impl("tile_view", TORCH_FN(tile_view_meta));
  m.impl("prism::halves", halves_meta);
  m.impl(TORCH_SELECTIVE_NAME("prism::resample"), TORCH_FN(resample_meta));
  m.impl("noise_like", TORCH_FN(noise_like_meta));
}

}  // namespace ops
}  // namespace prism
