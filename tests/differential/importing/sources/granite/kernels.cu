// kernels.cu: kernels of granite. CUDA launches are placed between them.
#include "include/granite_ops.h"

#include <stdexcept>

#include <torch/library.h>

namespace granite {

template <typename T, int kThreads>
__global__ void __launch_bounds__(kThreads)
    copy_kernel(const T* __restrict__ in, T* __restrict__ out, int64_t n) {
  out[0] = in[n - 1];
}

__device__ __forceinline__ float square(float x) {
  return x * x;
}

static void launch(const at::Tensor& from, at::Tensor& to, int64_t blocks) {
  copy_kernel<float, 256><<<dim3(blocks), 256, 0, nullptr>>>(from.data_ptr<float>(),
                                                             to.data_ptr<float>(), from.numel());
  copy_kernel<float, 128><<<blocks, 128>>>(from.data_ptr<float>(), to.data_ptr<float>(), 1);
}

int64_t get_group_handle(const at::Tensor& rank_data, bool connected) {
  throw std::runtime_error("not written");
}

void drop_group(int64_t handle) {
  throw std::runtime_error("not written");
}

void reduce_group(int64_t handle, const at::Tensor& inp, at::Tensor& out) {
  throw std::runtime_error("not written");
}

void norm_rows(at::Tensor& output, const at::Tensor& input, const at::Tensor& weight, double eps,
               bool early_launch) {
  throw std::runtime_error("not written");
}

void add_norm_rows(at::Tensor& input, at::Tensor& residual, const at::Tensor& weight, double eps,
                   bool early_launch) {
  throw std::runtime_error("not written");
}

void soft_gate(at::Tensor& out, const at::Tensor& input, int64_t cuda_stream) {
  throw std::runtime_error("not written");
}

void rotate_in_place(const at::Tensor& q, const at::Tensor& k, at::Tensor& q_rot, at::Tensor& k_rot,
                     const at::Tensor& cos_sin, const at::Tensor& pos_ids, bool interleave,
                     int64_t stream) {
  throw std::runtime_error("not written");
}

void downcast(const at::Tensor& k, const at::Tensor& v, at::Tensor& k_out, at::Tensor& v_out,
              const at::Tensor& k_scale, const at::Tensor& v_scale, const at::Tensor& loc,
              int64_t mult, int64_t offset, int64_t stream) {
  throw std::runtime_error("not written");
}

void bmm8(const at::Tensor& A, const at::Tensor& B, at::Tensor& D, const at::Tensor& A_scale,
          const at::Tensor& B_scale, const at::Tensor& workspace, int64_t handle, int64_t stream) {
  throw std::runtime_error("not written");
}

at::Tensor dequantize4(const at::Tensor& qweight, const at::Tensor& scales,
                       const at::Tensor& qzeros) {
  throw std::runtime_error("not written");
}

at::Tensor mm8_scaled(const at::Tensor& mat_a, const at::Tensor& mat_b, const at::Tensor& scales_a,
                      const at::Tensor& scales_b, at::ScalarType out_dtype,
                      const std::optional<at::Tensor>& bias) {
  throw std::runtime_error("not written");
}

void quant_groups(const at::Tensor& input, const at::Tensor& output_q, const at::Tensor& output_s,
                  int64_t group_size, double eps, double fp8_min, double fp8_max,
                  bool scale_ue8m0) {
  throw std::runtime_error("not written");
}

void quant_tensor(const at::Tensor& input, const at::Tensor& output_q, const at::Tensor& output_s,
                  bool is_static) {
  throw std::runtime_error("not written");
}

at::Tensor cublas_like_mm(at::Tensor& D, const at::Tensor& A, const std::optional<at::Tensor>& B) {
  throw std::runtime_error("not written");
}

void count_experts(const at::Tensor& topk_ids, int64_t num_experts, int64_t block_size,
                   at::Tensor& sorted_token_ids, at::Tensor& expert_ids,
                   at::Tensor& num_tokens_post_pad, at::Tensor& token_cnts, at::Tensor& cumsum,
                   bool pad) {
  throw std::runtime_error("not written");
}

void soft_top(at::Tensor& topk_weights, at::Tensor& topk_indices, const at::Tensor& gating_output,
              bool renormalize, double moe_softcapping,
              const std::optional<at::Tensor>& correction_bias) {
  throw std::runtime_error("not written");
}

std::vector<at::Tensor> fused_top(const at::Tensor& input, const at::Tensor& bias,
                                  int64_t num_expert_group, int64_t topk_group, int64_t topk,
                                  int64_t num_shared, double routed_scale, bool apply_scale) {
  throw std::runtime_error("not written");
}

void shuffle_rows(const at::Tensor& input, const at::Tensor& dst2src_map,
                  const at::Tensor& output) {
  at::Tensor to = output;
  launch(input, to, (input.numel() + 255) / 256);
}

void tree_sample(at::Tensor& predicts, at::Tensor& accept_index, at::Tensor& accept_token_num,
                 const at::Tensor& candidates, const at::Tensor& uniform,
                 const at::Tensor& target_probs, double threshold_single, double threshold_acc,
                 bool deterministic) {
  throw std::runtime_error("not written");
}

void build_tree(const at::Tensor& parents, const at::Tensor& selected, const at::Tensor& verified,
                const at::Tensor& tree_mask, at::Tensor& positions, int64_t topk, int64_t depth,
                int64_t draft_token_num) {
  throw std::runtime_error("not written");
}

void move_layer(const at::Tensor& src_k, const at::Tensor& dst_k, const at::Tensor& src_v,
                const at::Tensor& dst_v, const at::Tensor& src_indices,
                const at::Tensor& dst_indices, int64_t item_size, int64_t block_quota,
                int64_t num_warps_per_block) {
  throw std::runtime_error("not written");
}

void grammar_mask(at::Tensor& logits, const at::Tensor& bitmask,
                  const std::optional<at::Tensor>& indices) {
  throw std::runtime_error("not written");
}

void renorm_probs(const at::Tensor& probs, at::Tensor& renorm,
                  const std::optional<at::Tensor>& maybe_top_k_arr, int64_t top_k_val) {
  throw std::runtime_error("not written");
}

void sample_min_p(const at::Tensor& probs, at::Tensor& output,
                  const std::optional<at::Tensor>& maybe_indices,
                  const std::optional<at::Tensor>& maybe_min_p, double min_p_val,
                  bool deterministic, std::optional<at::Generator> gen) {
  throw std::runtime_error("not written");
}

std::vector<at::Tensor> ragged_fwd(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                   const std::optional<at::Tensor>& k_new,
                                   std::optional<int64_t> max_k,
                                   std::optional<double> softmax_scale, bool causal,
                                   c10::SymIntArrayRef window,
                                   std::optional<std::vector<double>> sinks) {
  throw std::runtime_error("not written");
}

void convert_vertical(at::Tensor& block_count, at::Tensor& block_offset,
                      const at::Tensor& q_seqlens, int64_t context_size, int64_t block_m,
                      bool causal) {
  throw std::runtime_error("not written");
}

bool warm_up(std::optional<int64_t> device) {
  throw std::runtime_error("not written");
}

std::string library_name() {
  throw std::runtime_error("not written");
}

std::vector<int64_t> supported(std::vector<std::string> names, bool strict) {
  throw std::runtime_error("not written");
}

TORCH_LIBRARY_IMPL(granite, CPU, m) {
  m.impl("norm_rows", &norm_rows);
  m.impl("add_norm_rows", &add_norm_rows);
  m.impl("soft_gate", &soft_gate);
  m.impl("rotate_in_place", &rotate_in_place);
  m.impl("downcast", &downcast);
  m.impl("bmm8", &bmm8);
  m.impl("dequantize4", &dequantize4);
  m.impl("mm8_scaled", &mm8_scaled);
  m.impl("quant_groups", &quant_groups);
  m.impl("quant_tensor", &quant_tensor);
  m.impl("cublas_like_mm", &cublas_like_mm);
  m.impl("count_experts", &count_experts);
  m.impl("soft_top", &soft_top);
  m.impl("fused_top", &fused_top);
  m.impl("shuffle_rows", &shuffle_rows);
  m.impl("tree_sample", &tree_sample);
  m.impl("build_tree", &build_tree);
}

}  // namespace granite
