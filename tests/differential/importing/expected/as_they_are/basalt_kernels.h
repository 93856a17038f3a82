// The kernels that basalt.yaml names, as their sources define them.
// Written by opgen import.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace basalt::device {

at::Tensor quantize(const at::Tensor& input,
    const at::Tensor& scale,
    const at::Tensor& zero_point,
    int64_t quant_min,
    int64_t quant_max,
    at::ScalarType dtype);
at::Tensor quantize_per_tensor(const at::Tensor& input,
    double scale,
    int64_t zero_point,
    int64_t quant_min,
    int64_t quant_max,
    at::ScalarType dtype);
at::Tensor quantize_out(const at::Tensor& input,
    const at::Tensor& scale,
    const at::Tensor& zero_point,
    int64_t quant_min,
    int64_t quant_max,
    at::ScalarType dtype,
    at::Tensor& out);
at::Tensor quantize_per_tensor_out(const at::Tensor& input,
    double scale,
    int64_t zero_point,
    int64_t quant_min,
    int64_t quant_max,
    at::ScalarType dtype,
    at::Tensor& out);
at::Tensor dequantize(const at::Tensor& X, const at::Tensor& X_scale, const at::Tensor& X_zero_point);
at::Tensor dequantize_out(const at::Tensor& X,
    const at::Tensor& X_scale,
    const at::Tensor& X_zero_point,
    at::Tensor& out);
at::Tensor conv(const at::Tensor& input,
    const at::Tensor& weight,
    const std::optional<at::Tensor>& bias,
    std::vector<int64_t> stride,
    at::SymIntArrayRef padding,
    std::vector<int64_t> dilation,
    int64_t groups,
    double bias_scale);
at::Tensor conv_out(const at::Tensor& input,
    const at::Tensor& weight,
    const std::optional<at::Tensor>& bias,
    at::IntArrayRef stride,
    at::SymIntArrayRef padding,
    at::IntArrayRef dilation,
    int64_t groups,
    double bias_scale,
    at::Tensor& out);
at::Tensor pool(const at::Tensor& input,
    at::IntArrayRef kernel_size,
    at::IntArrayRef stride,
    at::IntArrayRef padding,
    bool ceil_mode,
    std::optional<int64_t> divisor);
at::Tensor linear(const at::Tensor& src,
    const at::Tensor& weight,
    const at::Tensor& bias,
    at::SymInt in_zero_point,
    const std::optional<at::Tensor>& offset);
at::Tensor linear_out(const at::Tensor& src,
    const at::Tensor& weight,
    const at::Tensor& bias,
    at::SymInt in_zero_point,
    const std::optional<at::Tensor>& offset,
    at::Tensor& out);
at::Tensor where_scalar(const at::Tensor& condition, double self, double other);
at::Tensor add_(at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha);
at::Tensor fused_add(at::Tensor& self, const at::Tensor& other);
at::Tensor normal_(at::Tensor& self,
    double mean,
    double std,
    std::optional<at::Generator> generator);
std::tuple<at::Tensor, at::Tensor, at::Tensor> attention(const at::Tensor& query,
    const at::Tensor& key,
    const at::Tensor& value,
    const std::optional<at::Tensor>& mask,
    double scale_value,
    int64_t heads,
    std::string layout,
    at::OptionalSymIntArrayRef lens,
    int64_t pre_tokens);
at::Tensor attention_metadata(int64_t heads_q,
    int64_t heads_kv,
    const std::optional<at::Tensor>& lens,
    int64_t batch_size,
    const std::string& layout_q,
    const std::string& device);
std::tuple<at::Tensor, at::Tensor> ring_update(const at::Tensor& prev_out,
    const at::Tensor& prev_max,
    const at::Tensor& cur_out,
    const at::Tensor& cur_max,
    const std::optional<at::Tensor>& lens,
    std::optional<std::string> layout);
std::vector<at::Tensor> grouped_mm(const std::vector<at::Tensor>& x,
    const std::vector<at::Tensor>& weight,
    const std::optional<std::vector<at::Tensor>>& bias,
    const std::optional<std::vector<at::Tensor>>& scale,
    std::optional<std::vector<int64_t>> group_list,
    std::optional<int64_t> split_item,
    std::optional<at::ScalarType> output_dtype);
std::vector<at::Tensor> scatter_list(at::TensorList self,
    const at::Tensor& indices,
    const at::Tensor& updates,
    const std::optional<at::Tensor>& mask,
    const std::string& reduce,
    int64_t axis);
std::vector<at::Tensor> scatter_list_(at::TensorList self,
    const at::Tensor& indices,
    const at::Tensor& updates,
    const std::optional<at::Tensor>& mask,
    std::string_view reduce,
    int64_t axis);
at::Tensor optional_lists(std::vector<std::optional<at::Tensor>> indices,
    const std::optional<at::Tensor>& state);
at::Tensor format_cast(const at::Tensor& self, int64_t format);
at::Tensor format_cast_(at::Tensor& self, int64_t format);
int64_t format_of(const at::Tensor& self);
int64_t stored_size(const at::Tensor& self);
at::Tensor empty_on(at::SymIntArrayRef size,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout> layout,
    std::optional<at::Device> device,
    std::optional<bool> pin_memory,
    std::optional<at::MemoryFormat> memory_format);
void set_timeout(int64_t timeout);
std::string version();
std::tuple<bool, double> all_finite(at::TensorList grads, double inv_scale);
std::tuple<at::Tensor, at::Tensor> sort_v2(const at::Tensor& self, int64_t dim, bool descending, bool stable);
at::Tensor rotate(const at::Tensor& x,
    const at::Tensor& r1,
    const at::Tensor& r2,
    const std::string& mode);
at::Tensor prompt(const at::Tensor& q,
    const at::Tensor& k,
    const at::Tensor& v,
    at::OptionalSymIntArrayRef lens,
    int64_t heads,
    double scale,
    int64_t sparse);
std::tuple<at::Tensor, at::Tensor> masked(const at::Tensor& x,
    const std::optional<at::Tensor>& mask,
    bool inplace,
    double p);
std::tuple<at::Tensor, at::Tensor, at::Tensor> moe_gate(const at::Tensor& x,
    int64_t k,
    const std::optional<at::Tensor>& bias,
    bool renorm);
std::tuple<at::Tensor, at::Tensor> swap_in_place(at::Tensor& left, at::Tensor& right);
void write_both(at::Tensor& key_cache,
    at::Tensor& value_cache,
    const at::Tensor& key,
    const at::Tensor& value);
std::tuple<at::Tensor, at::Tensor> label_words(const std::optional<at::Tensor>& state, const at::Tensor& x);
at::Tensor first_of(at::TensorList tensors);
void no_op(const at::Tensor& x);

}  // namespace basalt::device

namespace basalt::autograd_device {

at::Tensor pool(const at::Tensor& input,
    at::IntArrayRef kernel_size,
    at::IntArrayRef stride,
    at::IntArrayRef padding,
    bool ceil_mode,
    std::optional<int64_t> divisor);
at::Tensor linear(const at::Tensor& src,
    const at::Tensor& weight,
    const at::Tensor& bias,
    at::SymInt in_zero_point,
    const std::optional<at::Tensor>& offset);
std::tuple<at::Tensor, at::Tensor, at::Tensor> attention(const at::Tensor& query,
    const at::Tensor& key,
    const at::Tensor& value,
    const std::optional<at::Tensor>& mask,
    double scale_value,
    int64_t heads,
    std::string layout,
    at::OptionalSymIntArrayRef lens,
    int64_t pre_tokens);
std::tuple<at::Tensor, at::Tensor> ring_update(const at::Tensor& prev_out,
    const at::Tensor& prev_max,
    const at::Tensor& cur_out,
    const at::Tensor& cur_max,
    const std::optional<at::Tensor>& lens,
    std::optional<std::string> layout);
at::Tensor rotate(const at::Tensor& x,
    const at::Tensor& r1,
    const at::Tensor& r2,
    const std::string& mode);
at::Tensor prompt(const at::Tensor& q,
    const at::Tensor& k,
    const at::Tensor& v,
    at::OptionalSymIntArrayRef lens,
    int64_t heads,
    double scale,
    int64_t sparse);

}  // namespace basalt::autograd_device
