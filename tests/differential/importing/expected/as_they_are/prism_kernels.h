// The kernels that prism.yaml names, as their sources define them.
// Written by opgen import.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace opgen_kernels::autocast_cpp {

at::Tensor prism_ops_suppress_autocast(const at::Tensor& dets, const at::Tensor& scores, double iou_threshold);
at::Tensor prism_ops_crop_align_autocast(const at::Tensor& input,
    const at::Tensor& rois,
    double spatial_scale,
    at::SymInt pooled_height,
    at::SymInt pooled_width,
    int64_t sampling_ratio,
    bool aligned);
std::tuple<at::Tensor, at::Tensor> prism_ops_crop_pool_autocast(const at::Tensor& input,
    const at::Tensor& rois,
    double spatial_scale,
    at::SymInt pooled_height,
    at::SymInt pooled_width);
at::Tensor prism_ops_bent_conv2d_autocast(const at::Tensor& input,
    const at::Tensor& weight,
    const at::Tensor& offset,
    const at::Tensor& mask,
    const at::Tensor& bias,
    at::SymInt stride_h,
    at::SymInt stride_w,
    at::SymInt pad_h,
    at::SymInt pad_w,
    at::SymInt dilation_h,
    at::SymInt dilation_w,
    at::SymInt groups,
    at::SymInt offset_groups,
    bool use_mask);
at::Tensor prism_ops_blend_autocast(const at::Tensor& image, const at::Tensor& other, double alpha);
at::Tensor prism_ops_resample_autocast(const at::Tensor& input,
    std::optional<std::vector<int64_t>> size,
    std::optional<std::vector<double>> scale_factors,
    bool antialias);

}  // namespace opgen_kernels::autocast_cpp

namespace opgen_kernels::autograd_cpp {

at::Tensor prism_ops_suppress_autograd(const at::Tensor& dets, const at::Tensor& scores, double iou_threshold);
at::Tensor prism_ops_crop_align_autograd(const at::Tensor& input,
    const at::Tensor& rois,
    double spatial_scale,
    at::SymInt pooled_height,
    at::SymInt pooled_width,
    int64_t sampling_ratio,
    bool aligned);
std::tuple<at::Tensor, at::Tensor> prism_ops_crop_pool_autograd(const at::Tensor& input,
    const at::Tensor& rois,
    double spatial_scale,
    at::SymInt pooled_height,
    at::SymInt pooled_width);
at::Tensor prism_ops_bent_conv2d_autograd(const at::Tensor& input,
    const at::Tensor& weight,
    const at::Tensor& offset,
    const at::Tensor& mask,
    const at::Tensor& bias,
    at::SymInt stride_h,
    at::SymInt stride_w,
    at::SymInt pad_h,
    at::SymInt pad_w,
    at::SymInt dilation_h,
    at::SymInt dilation_w,
    at::SymInt groups,
    at::SymInt offset_groups,
    bool use_mask);
at::Tensor prism_ops_blend_autograd(const at::Tensor& image, const at::Tensor& other, double alpha);
at::Tensor prism_ops_resample_autograd(const at::Tensor& input,
    std::optional<std::vector<int64_t>> size,
    std::optional<std::vector<double>> scale_factors,
    bool antialias);

}  // namespace opgen_kernels::autograd_cpp

namespace opgen_kernels::cpu_cpp {

at::Tensor prism_ops_suppress_cpu(const at::Tensor& dets, const at::Tensor& scores, double iou_threshold);
at::Tensor prism_ops_crop_align_cpu(const at::Tensor& input,
    const at::Tensor& rois,
    double spatial_scale,
    at::SymInt pooled_height,
    at::SymInt pooled_width,
    int64_t sampling_ratio,
    bool aligned);
at::Tensor prism_ops__crop_align_backward_cpu(const at::Tensor& grad,
    const at::Tensor& rois,
    double spatial_scale,
    at::SymInt pooled_height,
    at::SymInt pooled_width,
    at::SymInt batch_size,
    at::SymInt channels,
    at::SymInt height,
    at::SymInt width,
    int64_t sampling_ratio,
    bool aligned);
std::tuple<at::Tensor, at::Tensor> prism_ops_crop_pool_cpu(const at::Tensor& input,
    const at::Tensor& rois,
    double spatial_scale,
    at::SymInt pooled_height,
    at::SymInt pooled_width);
at::Tensor prism_ops__crop_pool_backward_cpu(const at::Tensor& grad,
    const at::Tensor& rois,
    const at::Tensor& argmax,
    double spatial_scale,
    at::SymInt pooled_height,
    at::SymInt pooled_width,
    at::SymInt batch_size,
    at::SymInt channels,
    at::SymInt height,
    at::SymInt width);
at::Tensor prism_ops_bent_conv2d_cpu(const at::Tensor& input,
    const at::Tensor& weight,
    const at::Tensor& offset,
    const at::Tensor& mask,
    const at::Tensor& bias,
    at::SymInt stride_h,
    at::SymInt stride_w,
    at::SymInt pad_h,
    at::SymInt pad_w,
    at::SymInt dilation_h,
    at::SymInt dilation_w,
    at::SymInt groups,
    at::SymInt offset_groups,
    bool use_mask);
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> prism_ops__bent_conv2d_backward_cpu(const at::Tensor& grad,
    const at::Tensor& input,
    const at::Tensor& weight,
    const at::Tensor& offset,
    const at::Tensor& mask,
    const at::Tensor& bias,
    at::SymInt stride_h,
    at::SymInt stride_w,
    at::SymInt groups,
    bool use_mask);
at::Tensor prism_ops_blend_cpu(const at::Tensor& image, const at::Tensor& other, double alpha);
at::Tensor prism_ops_blend_out_cpu(const at::Tensor& image, const at::Tensor& other, double alpha, at::Tensor& out);
at::Tensor prism_ops_blend__cpu(at::Tensor& self, const at::Tensor& other, double alpha);
at::Tensor prism_ops_tile_view_cpu(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef step);
std::vector<at::Tensor> prism_ops_halves_cpu(const at::Tensor& self, int64_t dim);
at::Tensor prism_ops_resample_cpu(const at::Tensor& input,
    std::optional<std::vector<int64_t>> size,
    std::optional<std::vector<double>> scale_factors,
    bool antialias);
at::Tensor prism_ops_noise_like_cpu(const at::Tensor& input,
    std::optional<at::Generator> generator,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Device> device);

}  // namespace opgen_kernels::cpu_cpp

namespace opgen_kernels::meta_cpp {

at::Tensor prism_ops_suppress_meta(const at::Tensor& dets, const at::Tensor& scores, double iou_threshold);
at::Tensor prism_ops_crop_align_meta(const at::Tensor& input,
    const at::Tensor& rois,
    double spatial_scale,
    at::SymInt pooled_height,
    at::SymInt pooled_width,
    int64_t sampling_ratio,
    bool aligned);
at::Tensor prism_ops__crop_align_backward_meta(const at::Tensor& grad,
    const at::Tensor& rois,
    double spatial_scale,
    at::SymInt pooled_height,
    at::SymInt pooled_width,
    at::SymInt batch_size,
    at::SymInt channels,
    at::SymInt height,
    at::SymInt width,
    int64_t sampling_ratio,
    bool aligned);
std::tuple<at::Tensor, at::Tensor> prism_ops_crop_pool_meta(const at::Tensor& input,
    const at::Tensor& rois,
    double spatial_scale,
    at::SymInt pooled_height,
    at::SymInt pooled_width);
at::Tensor prism_ops__crop_pool_backward_meta(const at::Tensor& grad,
    const at::Tensor& rois,
    const at::Tensor& argmax,
    double spatial_scale,
    at::SymInt pooled_height,
    at::SymInt pooled_width,
    at::SymInt batch_size,
    at::SymInt channels,
    at::SymInt height,
    at::SymInt width);
at::Tensor prism_ops_bent_conv2d_meta(const at::Tensor& input,
    const at::Tensor& weight,
    const at::Tensor& offset,
    const at::Tensor& mask,
    const at::Tensor& bias,
    at::SymInt stride_h,
    at::SymInt stride_w,
    at::SymInt pad_h,
    at::SymInt pad_w,
    at::SymInt dilation_h,
    at::SymInt dilation_w,
    at::SymInt groups,
    at::SymInt offset_groups,
    bool use_mask);
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> prism_ops__bent_conv2d_backward_meta(const at::Tensor& grad,
    const at::Tensor& input,
    const at::Tensor& weight,
    const at::Tensor& offset,
    const at::Tensor& mask,
    const at::Tensor& bias,
    at::SymInt stride_h,
    at::SymInt stride_w,
    at::SymInt groups,
    bool use_mask);
at::Tensor prism_ops_blend_meta(const at::Tensor& image, const at::Tensor& other, double alpha);
at::Tensor prism_ops_blend_out_meta(const at::Tensor& image, const at::Tensor& other, double alpha, at::Tensor& out);
at::Tensor prism_ops_blend__meta(at::Tensor& self, const at::Tensor& other, double alpha);
at::Tensor prism_ops_tile_view_meta(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef step);
std::vector<at::Tensor> prism_ops_halves_meta(const at::Tensor& self, int64_t dim);
at::Tensor prism_ops_resample_meta(const at::Tensor& input,
    std::optional<std::vector<int64_t>> size,
    std::optional<std::vector<double>> scale_factors,
    bool antialias);
at::Tensor prism_ops_noise_like_meta(const at::Tensor& input,
    std::optional<at::Generator> generator,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Device> device);

}  // namespace opgen_kernels::meta_cpp

namespace opgen_kernels::quantized_cpp {

at::Tensor prism_ops_suppress_quantized(const at::Tensor& dets, const at::Tensor& scores, double iou_threshold);
at::Tensor prism_ops_crop_align_quantized(const at::Tensor& input,
    const at::Tensor& rois,
    double spatial_scale,
    at::SymInt pooled_height,
    at::SymInt pooled_width,
    int64_t sampling_ratio,
    bool aligned);
std::tuple<at::Tensor, at::Tensor> prism_ops_crop_pool_quantized(const at::Tensor& input,
    const at::Tensor& rois,
    double spatial_scale,
    at::SymInt pooled_height,
    at::SymInt pooled_width);

}  // namespace opgen_kernels::quantized_cpp
