// ops.h: the kernels of kiln, as bindings.cpp registers them.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/core/Tensor.h>

void steam(at::Tensor& result, const at::Tensor& input, const at::Tensor& weight, double epsilon);
void fused_add_steam(at::Tensor& input, at::Tensor& residual, const at::Tensor& weight,
                     double epsilon);
void gate_and_mul(at::Tensor& out, const at::Tensor& input);
void gate_tanh_and_mul(at::Tensor& out, const at::Tensor& input);
void fast_gate(at::Tensor& out, const at::Tensor& input);
void quick_gate(at::Tensor& out, const at::Tensor& input);
void rotate_pairs(const at::Tensor& positions, at::Tensor& query,
                  const std::optional<at::Tensor>& key, int64_t head_size,
                  const at::Tensor& cos_sin_cache, bool is_interleaved);
void batched_rotate_pairs(const at::Tensor& positions, at::Tensor& query, at::Tensor& key,
                          int64_t head_size, const at::Tensor& cos_sin_cache, bool is_interleaved,
                          int64_t rot_dim, const at::Tensor& cos_sin_cache_offsets);
void paged_lookup_v1(at::Tensor& out, const at::Tensor& query, const at::Tensor& key_pages,
                     const at::Tensor& value_pages, int64_t num_kv_heads, double scale,
                     const at::Tensor& page_tables, const at::Tensor& seq_lens, int64_t page_size,
                     int64_t max_seq_len, const std::optional<at::Tensor>& slopes,
                     std::string kv_dtype, const at::Tensor& k_scale, const at::Tensor& v_scale);
void paged_lookup_v2(at::Tensor& out, at::Tensor& exp_sums, at::Tensor& max_logits,
                     at::Tensor& tmp_out, const at::Tensor& query, const at::Tensor& key_pages,
                     const at::Tensor& value_pages, int64_t num_kv_heads, double scale,
                     const at::Tensor& page_tables, const at::Tensor& seq_lens, int64_t page_size,
                     int64_t max_seq_len, const std::optional<at::Tensor>& slopes,
                     std::string kv_dtype, double k_scale, double v_scale, int64_t tp_rank);
void merge_states(at::Tensor& output, const std::optional<at::Tensor>& output_lse,
                  const at::Tensor& prefix_output, const at::Tensor& prefix_lse,
                  const at::Tensor& suffix_output, const at::Tensor& suffix_lse);
at::Tensor packed_gemm(const at::Tensor& a, const at::Tensor& b, const at::Tensor& c,
                       const at::Tensor& zeros, c10::SymInt split_k);
at::Tensor packed_unpack(const at::Tensor& a, const at::Tensor& scales, const at::Tensor& zeros,
                         c10::SymInt split_k, int64_t thx, int64_t thy);
at::Tensor ladder_gemm(const at::Tensor& a, const std::optional<at::Tensor>& c_or_none,
                       const at::Tensor& q_weight, const at::Tensor& scales,
                       const std::optional<at::Tensor>& zeros_or_none, at::Tensor& workspace,
                       int64_t b_type_id, c10::SymInt size_m, c10::SymInt size_n,
                       c10::SymInt size_k, bool use_atomic_add);
at::Tensor ladder_repack(const at::Tensor& b_q_weight, const at::Tensor& perm, c10::SymInt size_k,
                         c10::SymInt size_n, int64_t num_bits);
void scaled_mm(at::Tensor& out, const at::Tensor& a, const at::Tensor& b,
               const at::Tensor& a_scales, const at::Tensor& b_scales,
               const std::optional<at::Tensor>& bias);
void scaled_mm_zeros(at::Tensor& out, const at::Tensor& a, const at::Tensor& b,
                     const at::Tensor& a_scales, const at::Tensor& b_scales, const at::Tensor& adj,
                     const std::optional<at::Tensor>& zp, const std::optional<at::Tensor>& bias);
bool scaled_mm_takes_fp8(int64_t capability);
void quant_static(at::Tensor& result, const at::Tensor& input, const at::Tensor& scale);
void quant_dynamic(at::Tensor& result, const at::Tensor& input, at::Tensor& scale);
void quant_per_token(at::Tensor& result, const at::Tensor& input, at::Tensor& scale,
                     const std::optional<at::Tensor>& scale_ub);
void quant_i8_static(at::Tensor& result, const at::Tensor& input, const at::Tensor& scale,
                     const std::optional<at::Tensor>& azp);
void quant_i8_dynamic(at::Tensor& result, const at::Tensor& input, at::Tensor& scale,
                      const std::optional<at::Tensor>& azp);
void top_experts(at::Tensor& weights, at::Tensor& indices, at::Tensor& token_indices,
                 const at::Tensor& gating);
void align_blocks(const at::Tensor& topk_ids, int64_t num_experts, int64_t block_size,
                  at::Tensor& sorted_token_ids, at::Tensor& experts_ids,
                  at::Tensor& num_tokens_post_pad);
void sum_experts(const at::Tensor& input, at::Tensor& output);
at::Tensor permute_columns(const at::Tensor& A, const at::Tensor& perm);
at::Tensor convert_packed(const at::Tensor& w, int64_t n, int64_t k, std::vector<int64_t> shape,
                          at::ScalarType dtype);
std::vector<at::Tensor> sparse_entries(const at::Tensor& a, c10::SymIntArrayRef sizes,
                                       double threshold, std::optional<bool> keep,
                                       std::string mode);
at::Tensor dequant_rows(const at::Tensor& W, int64_t type, c10::SymInt m, c10::SymInt n,
                        std::optional<at::ScalarType> dtype);
at::Tensor mul_rows(const at::Tensor& W, const at::Tensor& X, int64_t type, c10::SymInt row);
void conv_update(at::Tensor& x, at::Tensor& conv_state, const at::Tensor& weight,
                 const std::optional<at::Tensor>& bias_, bool silu_activation,
                 const std::optional<at::Tensor>& cache_seqlens_,
                 const std::optional<at::Tensor>& conv_state_indices, int64_t pad_slot_id);
void scan_fwd(at::Tensor& u, at::Tensor& delta, at::Tensor& A, at::Tensor& B, at::Tensor& C,
              const std::optional<at::Tensor>& D_, const std::optional<at::Tensor>& z_,
              const std::optional<at::Tensor>& delta_bias_, bool delta_softplus,
              const std::optional<at::Tensor>& ssm_states, int64_t pad_slot_id);
void swap_pages(const at::Tensor& src, at::Tensor& dst, const at::Tensor& block_mapping);
void copy_pages(const std::vector<at::Tensor>& key_caches,
                const std::vector<at::Tensor>& value_caches, const at::Tensor& block_mapping);
void store_pages(const at::Tensor& key, const at::Tensor& value, at::Tensor& key_cache,
                 at::Tensor& value_cache, const at::Tensor& slot_mapping, std::string kv_dtype,
                 const at::Tensor& k_scale, const at::Tensor& v_scale);
void store_flat(const at::Tensor& key, const at::Tensor& value, at::Tensor& key_cache,
                at::Tensor& value_cache, const at::Tensor& slot_mapping, std::string kv_dtype,
                double k_scale, double v_scale);
void convert_pages(at::Tensor& dst_cache, const at::Tensor& src_cache, double scale,
                   std::string kv_dtype);
void gather_pages(const at::Tensor& src_cache, at::Tensor& dst, const at::Tensor& block_table,
                  const at::Tensor& cu_seq_lens, int64_t batch_size,
                  const std::optional<at::Tensor>& seq_starts);
int64_t device_attribute(int64_t attribute, int64_t device_id);
int64_t max_shared_memory(int64_t device_id);
int64_t which_vendor_cuda();
int64_t which_vendor_rocm();

namespace kiln {

int64_t init_ring(std::vector<int64_t> ipc_tensors, const at::Tensor& rank_data, int64_t rank,
                  bool fully_connected);
void ring_sum(int64_t fa, const at::Tensor& inp, at::Tensor& out, int64_t reg_buffer,
              int64_t reg_buffer_sz_bytes);
void drop_ring(int64_t fa);
int64_t meta_bytes();
void register_ring(int64_t fa, std::vector<int64_t> ipc_tensors);
std::tuple<std::vector<int64_t>, std::vector<int64_t>> ring_graph_buffers(int64_t fa);

}  // namespace kiln
