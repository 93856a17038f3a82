// prism.cpp: the schemas, in fragments of one library.
#include <torch/library.h>

namespace prism {
namespace ops {

TORCH_LIBRARY_FRAGMENT(prism, m) {
  m.def(
      TORCH_SELECTIVE_SCHEMA("prism::suppress(Tensor dets, Tensor scores, "
                             "float iou_threshold) -> Tensor"));
  m.def(
      TORCH_SELECTIVE_SCHEMA("prism::crop_align(Tensor input, Tensor rois, float spatial_scale, "
                             "SymInt pooled_height, SymInt pooled_width, int sampling_ratio, "
                             "bool aligned) -> Tensor"));
  m.def(
      TORCH_SELECTIVE_SCHEMA("prism::_crop_align_backward(Tensor grad, Tensor rois, "
                             "float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
                             "SymInt batch_size, SymInt channels, SymInt height, SymInt width, "
                             "int sampling_ratio, bool aligned) -> Tensor"));
  m.def(
      TORCH_SELECTIVE_SCHEMA("prism::crop_pool(Tensor input, Tensor rois, float spatial_scale, "
                             "SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)"));
  m.def(
      TORCH_SELECTIVE_SCHEMA("prism::_crop_pool_backward(Tensor grad, Tensor rois, "
                             "Tensor argmax, float spatial_scale, SymInt pooled_height, "
                             "SymInt pooled_width, SymInt batch_size, SymInt channels, "
                             "SymInt height, SymInt width) -> Tensor"));
}

TORCH_LIBRARY_FRAGMENT(prism, m) {
  m.def(
      TORCH_SELECTIVE_SCHEMA("prism::bent_conv2d(Tensor input, Tensor weight, Tensor offset, "
                             "Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, "
                             "SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, "
                             "SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor"));
  m.def(
      TORCH_SELECTIVE_SCHEMA("prism::_bent_conv2d_backward(Tensor grad, Tensor input, "
                             "Tensor weight, Tensor offset, Tensor mask, Tensor bias, "
                             "SymInt stride_h, SymInt stride_w, SymInt groups, "
                             "bool use_mask) -> (Tensor, Tensor, Tensor, Tensor, Tensor)"));
}

TORCH_LIBRARY_FRAGMENT(prism, m) {
  m.def(
      TORCH_SELECTIVE_SCHEMA("prism::blend(Tensor image, Tensor other, *, "
                             "float alpha=0.5) -> Tensor"));
  m.def(
      TORCH_SELECTIVE_SCHEMA("prism::blend.out(Tensor image, Tensor other, *, float alpha=0.5, "
                             "Tensor(a!) out) -> Tensor(a!)"));
  m.def(
      TORCH_SELECTIVE_SCHEMA("prism::blend_(Tensor(a!) self, Tensor other, *, "
                             "float alpha=0.5) -> Tensor(a!)"));
  m.def(
      TORCH_SELECTIVE_SCHEMA("prism::tile_view(Tensor(a) self, int[2] size, "
                             "int[2] step=[1,1]) -> Tensor(a)"));
  m.def(TORCH_SELECTIVE_SCHEMA("prism::halves(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]"));
  m.def(
      TORCH_SELECTIVE_SCHEMA("prism::resample(Tensor input, int[]? size, "
                             "float[]? scale_factors, bool antialias=False) -> Tensor"));
  m.def(
      TORCH_SELECTIVE_SCHEMA("prism::noise_like(Tensor input, *, Generator? generator=None, "
                             "ScalarType? dtype=None, Device? device=None) -> Tensor"));
}

}  // namespace ops
}  // namespace prism
