// device.cpp: kernels for PrivateUse1.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <stdexcept>

namespace basalt::device {

at::Tensor quantize(const at::Tensor& input, const at::Tensor& scale, const at::Tensor& zero_point,
                    int64_t quant_min, int64_t quant_max, at::ScalarType dtype) {
  throw std::runtime_error("not written");
}

at::Tensor quantize_per_tensor(const at::Tensor& input, double scale, int64_t zero_point,
                               int64_t quant_min, int64_t quant_max, at::ScalarType dtype) {
  throw std::runtime_error("not written");
}

at::Tensor quantize_out(const at::Tensor& input, const at::Tensor& scale,
                        const at::Tensor& zero_point, int64_t quant_min, int64_t quant_max,
                        at::ScalarType dtype, at::Tensor& out) {
  throw std::runtime_error("not written");
}

at::Tensor quantize_per_tensor_out(const at::Tensor& input, double scale, int64_t zero_point,
                                   int64_t quant_min, int64_t quant_max, at::ScalarType dtype,
                                   at::Tensor& out) {
  throw std::runtime_error("not written");
}

at::Tensor dequantize(const at::Tensor& X, const at::Tensor& X_scale,
                      const at::Tensor& X_zero_point) {
  throw std::runtime_error("not written");
}

at::Tensor dequantize_out(const at::Tensor& X, const at::Tensor& X_scale,
                          const at::Tensor& X_zero_point, at::Tensor& out) {
  throw std::runtime_error("not written");
}

at::Tensor conv(const at::Tensor& input, const at::Tensor& weight,
                const std::optional<at::Tensor>& bias, std::vector<int64_t> stride,
                c10::SymIntArrayRef padding, std::vector<int64_t> dilation, int64_t groups,
                double bias_scale) {
  throw std::runtime_error("not written");
}

at::Tensor conv_out(const at::Tensor& input, const at::Tensor& weight,
                    const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                    c10::SymIntArrayRef padding, at::IntArrayRef dilation, int64_t groups,
                    double bias_scale, at::Tensor& out) {
  throw std::runtime_error("not written");
}

at::Tensor pool(const at::Tensor& input, at::IntArrayRef kernel_size, at::IntArrayRef stride,
                at::IntArrayRef padding, bool ceil_mode, std::optional<int64_t> divisor) {
  throw std::runtime_error("not written");
}

at::Tensor linear(const at::Tensor& src, const at::Tensor& weight, const at::Tensor& bias,
                  c10::SymInt in_zero_point, const std::optional<at::Tensor>& offset) {
  throw std::runtime_error("not written");
}

at::Tensor linear_out(const at::Tensor& src, const at::Tensor& weight, const at::Tensor& bias,
                      c10::SymInt in_zero_point, const std::optional<at::Tensor>& offset,
                      at::Tensor& out) {
  throw std::runtime_error("not written");
}

at::Tensor where_scalar(const at::Tensor& condition, double self, double other) {
  throw std::runtime_error("not written");
}

at::Tensor add_(at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha) {
  throw std::runtime_error("not written");
}

at::Tensor fused_add(at::Tensor& self, const at::Tensor& other) {
  throw std::runtime_error("not written");
}

at::Tensor normal_(at::Tensor& self, double mean, double std,
                   std::optional<at::Generator> generator) {
  throw std::runtime_error("not written");
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> attention(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const std::optional<at::Tensor>& mask, double scale_value, int64_t heads, std::string layout,
    at::OptionalSymIntArrayRef lens, int64_t pre_tokens) {
  throw std::runtime_error("not written");
}

at::Tensor attention_metadata(int64_t heads_q, int64_t heads_kv,
                              const std::optional<at::Tensor>& lens, int64_t batch_size,
                              const std::string& layout_q, const std::string& device) {
  throw std::runtime_error("not written");
}

std::tuple<at::Tensor, at::Tensor> ring_update(const at::Tensor& prev_out,
                                               const at::Tensor& prev_max,
                                               const at::Tensor& cur_out, const at::Tensor& cur_max,
                                               const std::optional<at::Tensor>& lens,
                                               std::optional<std::string> layout) {
  throw std::runtime_error("not written");
}

std::vector<at::Tensor> grouped_mm(const std::vector<at::Tensor>& x,
                                   const std::vector<at::Tensor>& weight,
                                   const std::optional<std::vector<at::Tensor>>& bias,
                                   const std::optional<std::vector<at::Tensor>>& scale,
                                   std::optional<std::vector<int64_t>> group_list,
                                   std::optional<int64_t> split_item,
                                   std::optional<at::ScalarType> output_dtype) {
  throw std::runtime_error("not written");
}

std::vector<at::Tensor> scatter_list(at::TensorList self, const at::Tensor& indices,
                                     const at::Tensor& updates,
                                     const std::optional<at::Tensor>& mask,
                                     const std::string& reduce, int64_t axis) {
  throw std::runtime_error("not written");
}

std::vector<at::Tensor> scatter_list_(at::TensorList self, const at::Tensor& indices,
                                      const at::Tensor& updates,
                                      const std::optional<at::Tensor>& mask,
                                      std::string_view reduce, int64_t axis) {
  throw std::runtime_error("not written");
}

at::Tensor optional_lists(std::vector<std::optional<at::Tensor>> indices,
                          const std::optional<at::Tensor>& state) {
  throw std::runtime_error("not written");
}

at::Tensor format_cast(const at::Tensor& self, int64_t format) {
  throw std::runtime_error("not written");
}

at::Tensor format_cast_(at::Tensor& self, int64_t format) {
  throw std::runtime_error("not written");
}

int64_t format_of(const at::Tensor& self) {
  throw std::runtime_error("not written");
}

int64_t stored_size(const at::Tensor& self) {
  throw std::runtime_error("not written");
}

at::Tensor empty_on(c10::SymIntArrayRef size, std::optional<at::ScalarType> dtype,
                    std::optional<at::Layout> layout, std::optional<at::Device> device,
                    std::optional<bool> pin_memory, std::optional<at::MemoryFormat> memory_format) {
  throw std::runtime_error("not written");
}

void set_timeout(int64_t timeout) {
  throw std::runtime_error("not written");
}

std::string version() {
  throw std::runtime_error("not written");
}

std::tuple<bool, double> all_finite(at::TensorList grads, double inv_scale) {
  throw std::runtime_error("not written");
}

std::tuple<at::Tensor, at::Tensor> sort_v2(const at::Tensor& self, int64_t dim, bool descending,
                                           bool stable) {
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

std::tuple<at::Tensor, at::Tensor> masked(const at::Tensor& x,
                                          const std::optional<at::Tensor>& mask, bool inplace,
                                          double p) {
  throw std::runtime_error("not written");
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> moe_gate(const at::Tensor& x, int64_t k,
                                                        const std::optional<at::Tensor>& bias,
                                                        bool renorm) {
  throw std::runtime_error("not written");
}

std::tuple<at::Tensor, at::Tensor> swap_in_place(at::Tensor& left, at::Tensor& right) {
  throw std::runtime_error("not written");
}

void write_both(at::Tensor& key_cache, at::Tensor& value_cache, const at::Tensor& key,
                const at::Tensor& value) {
  throw std::runtime_error("not written");
}

std::tuple<at::Tensor, at::Tensor> label_words(const std::optional<at::Tensor>& state,
                                               const at::Tensor& x) {
  throw std::runtime_error("not written");
}

at::Tensor first_of(at::TensorList tensors) {
  throw std::runtime_error("not written");
}

void no_op(const at::Tensor& x) {
  throw std::runtime_error("not written");
}

}  // namespace basalt::device

namespace {

TORCH_LIBRARY_IMPL(basalt, PrivateUse1, m) {
  m.impl("quantize", TORCH_FN(basalt::device::quantize));
  m.impl("quantize.per_tensor", TORCH_FN(basalt::device::quantize_per_tensor));
  m.impl("quantize.out", TORCH_FN(basalt::device::quantize_out));
  m.impl("quantize.per_tensor_out", TORCH_FN(basalt::device::quantize_per_tensor_out));
  m.impl("dequantize", TORCH_FN(basalt::device::dequantize));
  m.impl("dequantize.out", TORCH_FN(basalt::device::dequantize_out));
  m.impl("conv", TORCH_FN(basalt::device::conv));
  m.impl("conv.out", TORCH_FN(basalt::device::conv_out));
  m.impl("pool", TORCH_FN(basalt::device::pool));
  m.impl("linear", TORCH_FN(basalt::device::linear));
  m.impl("linear.out", TORCH_FN(basalt::device::linear_out));
  m.impl("where_scalar", TORCH_FN(basalt::device::where_scalar));
  m.impl("add_", TORCH_FN(basalt::device::add_));
  m.impl("fused_add", TORCH_FN(basalt::device::fused_add));
  m.impl("normal_", TORCH_FN(basalt::device::normal_));
  m.impl("attention", TORCH_FN(basalt::device::attention));
  m.impl("attention_metadata", TORCH_FN(basalt::device::attention_metadata));
  m.impl("ring_update", TORCH_FN(basalt::device::ring_update));
  m.impl("grouped_mm", TORCH_FN(basalt::device::grouped_mm));
  m.impl("scatter_list", TORCH_FN(basalt::device::scatter_list));
  m.impl("scatter_list_", TORCH_FN(basalt::device::scatter_list_));
  m.impl("optional_lists", TORCH_FN(basalt::device::optional_lists));
  m.impl("format_cast", TORCH_FN(basalt::device::format_cast));
  m.impl("format_cast_", TORCH_FN(basalt::device::format_cast_));
  m.impl("format_of", TORCH_FN(basalt::device::format_of));
  m.impl("stored_size", TORCH_FN(basalt::device::stored_size));
  m.impl("empty_on", TORCH_FN(basalt::device::empty_on));
  m.impl("set_timeout", TORCH_FN(basalt::device::set_timeout));
  m.impl("version", TORCH_FN(basalt::device::version));
  m.impl("all_finite", TORCH_FN(basalt::device::all_finite));
  m.impl("sort_v2", TORCH_FN(basalt::device::sort_v2));
  m.impl("rotate", TORCH_FN(basalt::device::rotate));
  m.impl("prompt", TORCH_FN(basalt::device::prompt));
  m.impl("masked", TORCH_FN(basalt::device::masked));
  m.impl("moe_gate", TORCH_FN(basalt::device::moe_gate));
  m.impl("swap_in_place", TORCH_FN(basalt::device::swap_in_place));
  m.impl("write_both", TORCH_FN(basalt::device::write_both));
  m.impl("label_words", TORCH_FN(basalt::device::label_words));
  m.impl("first_of", TORCH_FN(basalt::device::first_of));
  m.impl("no_op", TORCH_FN(basalt::device::no_op));
}

}  // namespace
