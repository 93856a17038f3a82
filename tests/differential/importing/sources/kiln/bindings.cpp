// bindings.cpp: all operators of kiln in one place, in the manner of inference engines.
#include "ops.h"
#include "registration.h"

#include <torch/library.h>
#include <torch/types.h>

// The namespace is the extension's name, which the build gives.
TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {
  // Normalisation.
  ops.def(
      "steam(Tensor! result, Tensor input, Tensor weight, "
      "float epsilon) -> ()");
  ops.impl("steam", torch::kCUDA, &steam);

  ops.def(
      "fused_add_steam(Tensor! input, Tensor! residual, Tensor weight, "
      "float epsilon) -> ()");
  ops.impl("fused_add_steam", torch::kCUDA, fused_add_steam);

  ops.def("gate_and_mul(Tensor! out, Tensor input) -> ()");
  ops.impl("gate_and_mul", torch::kCUDA, TORCH_FN(gate_and_mul));

  ops.def("gate_tanh_and_mul(Tensor! out,Tensor input)->()");
  ops.impl("gate_tanh_and_mul", torch::kCUDA, &::gate_tanh_and_mul);

  /* Activations: "gate(x) * y" and kin;
     ops.def("not_this(Tensor x) -> Tensor") is only talked about. */
  ops.def(R"(fast_gate(Tensor! out,
      Tensor input) -> ())");
  ops.impl("fast_gate", torch::kCUDA, &fast_gate);

  ops.def("quick_gate(Tensor! out, Tensor input) ->  ()");
  ops.impl("quick_gate", torch::kCUDA, quick_gate);

  ops.def(
      "rotate_pairs(Tensor positions, Tensor! query, Tensor!? key, "
      "int head_size, Tensor cos_sin_cache, bool is_interleaved) -> ()");
  ops.impl("rotate_pairs", torch::kCUDA, TORCH_FN(rotate_pairs));

  ops.def(
      "batched_rotate_pairs(Tensor positions, Tensor! query, "
      "Tensor! key, int head_size, Tensor cos_sin_cache, "
      "bool is_interleaved, int rot_dim, "
      "Tensor cos_sin_cache_offsets) -> ()");
  ops.impl("batched_rotate_pairs", torch::kCUDA, &::batched_rotate_pairs);

  ops.def(
      "paged_lookup_v1(Tensor! out, Tensor query, Tensor key_pages, "
      "Tensor value_pages, int num_kv_heads, float scale, "
      "Tensor page_tables, Tensor seq_lens, int page_size, "
      "int max_seq_len, Tensor? slopes, str kv_dtype, Tensor k_scale, "
      "Tensor v_scale) -> ()",
      {at::Tag::needs_fixed_stride_order});
  ops.impl("paged_lookup_v1", torch::kCUDA, &paged_lookup_v1);

  ops.def(R"(paged_lookup_v2(Tensor! out,
      Tensor! exp_sums,
      Tensor! max_logits,
      Tensor! tmp_out,
      Tensor query,
      Tensor key_pages,
      Tensor value_pages,
      int num_kv_heads,
      float scale,
      Tensor page_tables,
      Tensor seq_lens,
      int page_size,
      int max_seq_len,
      Tensor? slopes,
      str kv_dtype,
      float k_scale,
      float v_scale,
      int tp_rank=0) -> ())");
  ops.impl("paged_lookup_v2", torch::kCUDA, paged_lookup_v2);

  ops.def(
      ""
      "merge_states(Tensor! output,Tensor!? output_lse,Tensor prefix_output,Tensor "
      "prefix_lse,Tensor suffix_output,Tensor suffix_lse)->()");
  // conditionally compiled so impl registration is in another file

#ifndef KILN_ROCM
  // Only where the other vendor's compiler is.
  ops.def(
      "packed_gemm(Tensor a, Tensor b, Tensor c, Tensor zeros, "
      "SymInt split_k) -> Tensor");
  ops.impl("packed_gemm", torch::kCUDA, &::packed_gemm);

  ops.def(
      "packed_unpack(Tensor a, Tensor scales, Tensor zeros, "
      "SymInt split_k, int thx, int thy) ->  Tensor");
  ops.impl("packed_unpack", torch::kCUDA, &packed_unpack);

  ops.def(
      "ladder_gemm(Tensor a, Tensor? c_or_none, Tensor q_weight, "
      "Tensor scales, Tensor? zeros_or_none, Tensor! workspace, "
      "int b_type_id, SymInt size_m, SymInt size_n, SymInt size_k, "
      "bool use_atomic_add=False) -> Tensor");
  ops.impl("ladder_gemm", torch::kCUDA, ladder_gemm);

  ops.def(R"(ladder_repack(Tensor b_q_weight,
      Tensor perm,
      SymInt size_k,
      SymInt size_n,
      int num_bits) -> Tensor)");
  ops.impl("ladder_repack", torch::kCUDA, TORCH_FN(ladder_repack));

  ops.def(
      "scaled_mm(Tensor! out, Tensor a, Tensor b, Tensor a_scales, "
      "Tensor b_scales, Tensor? bias) -> ()");
  ops.impl("scaled_mm", torch::kCUDA, &::scaled_mm);

  ops.def(
      "scaled_mm_zeros(Tensor! out, Tensor a, Tensor b, Tensor a_scales, "
      "Tensor b_scales, Tensor adj, Tensor? zp, Tensor? bias) -> ()");
  ops.impl("scaled_mm_zeros", torch::kCUDA, &scaled_mm_zeros);

  ops.def("scaled_mm_takes_fp8(int capability)->bool", {at::Tag::needs_fixed_stride_order});
  ops.impl("scaled_mm_takes_fp8", torch::kCUDA, scaled_mm_takes_fp8);

  ops.def("quant_static(Tensor! result, Tensor input, Tensor scale) -> ()");
  ops.impl("quant_static", torch::kCUDA, TORCH_FN(quant_static));
#endif

  ops.def(R"(quant_dynamic(Tensor! result,
      Tensor input,
      Tensor! scale) ->  ())");
  ops.impl("quant_dynamic", torch::kCUDA, &::quant_dynamic);

  ops.def(
      "quant_per_token(Tensor! result, Tensor input, Tensor! scale, "
      "Tensor? scale_ub) -> ()");
  ops.impl("quant_per_token", torch::kCUDA, &quant_per_token);

  ops.def(
      "quant_i8_static(Tensor! result, Tensor input, Tensor scale, "
      "Tensor? azp) -> ()");
  // Registered below.

  ops.def(
      "quant_i8_dynamic(Tensor! result, Tensor input, Tensor! scale, "
      "Tensor!? azp) -> ()");
  ops.impl("quant_i8_dynamic", torch::kCUDA, TORCH_FN(quant_i8_dynamic));

  ops.def(
      "top_experts(Tensor! weights, Tensor! indices, "
      "Tensor! token_indices, Tensor gating) -> ()");
  ops.impl("top_experts", torch::kCUDA, &::top_experts);

  ops.def(
      R"(align_blocks(Tensor topk_ids,int num_experts,int block_size,Tensor! sorted_token_ids,Tensor! experts_ids,Tensor! num_tokens_post_pad)->())");
  ops.impl("align_blocks", torch::kCUDA, &align_blocks);

  ops.def("sum_experts(Tensor input, Tensor! output) -> ()");
  ops.impl("sum_experts", torch::kCUDA, sum_experts);

  ops.def("permute_columns(Tensor A, Tensor perm) ->  Tensor", {at::Tag::needs_fixed_stride_order});
  ops.impl("permute_columns", torch::kCPU, TORCH_FN(permute_columns));

  ops.def(
      "convert_packed(Tensor w, int n, int k, int[] shape, "
      "ScalarType dtype) -> Tensor");
  ops.impl("convert_packed", torch::kCPU, &::convert_packed);

  ops.def(
      "sparse_entries(Tensor a, SymInt[] sizes, float threshold=-1.5, "
      "bool? keep=None, str mode=\"a, b\") -> Tensor[]");
  ops.impl("sparse_entries", torch::kCPU, &sparse_entries);

  ops.def(R"(dequant_rows(Tensor W,
      int type,
      SymInt m,
      SymInt n,
      ScalarType? dtype) -> Tensor)");
  ops.impl("dequant_rows", torch::kCPU, dequant_rows);

  ops.def("mul_rows(Tensor W, Tensor X, int type, SymInt row) -> Tensor");
  ops.impl("mul_rows", torch::kCPU, TORCH_FN(mul_rows));

  ops.def(
      ""
      "conv_update(Tensor! x,Tensor! conv_state,Tensor weight,Tensor? bias_,bool "
      "silu_activation,Tensor? cache_seqlens_,Tensor? conv_state_indices,int pad_slot_id)->()");
  ops.impl("conv_update", torch::kCPU, &::conv_update);

  ops.def(
      "scan_fwd(Tensor! u, Tensor! delta, Tensor! A, Tensor! B, "
      "Tensor! C, Tensor? D_, Tensor!? z_, Tensor? delta_bias_, "
      "bool delta_softplus, Tensor!? ssm_states, int pad_slot_id) -> ()");
  // Registered below.

#ifdef KILN_ROCM
  ops.def("which_vendor() -> int");
  ops.impl("which_vendor", c10::DispatchKey::CompositeExplicitAutograd, &which_vendor_rocm);
#else
  ops.def("which_vendor() -> int");
  ops.impl("which_vendor", c10::DispatchKey::CompositeExplicitAutograd, &which_vendor_cuda);
#endif
}

TORCH_LIBRARY_EXPAND(CONCAT(TORCH_EXTENSION_NAME, _cache_ops), cache_ops) {
  cache_ops.def("swap_pages(Tensor src, Tensor! dst, Tensor block_mapping) -> ()");
  cache_ops.impl("swap_pages", torch::kCUDA, &swap_pages);

  cache_ops.def(
      "copy_pages(Tensor(a!)[] key_caches, Tensor[](b!) value_caches, "
      "Tensor block_mapping) -> ()");
  cache_ops.impl("copy_pages", torch::kCUDA, &copy_pages);

  cache_ops.def(
      "store_pages(Tensor key, Tensor value, Tensor! key_cache, "
      "Tensor! value_cache, Tensor slot_mapping, str kv_dtype, "
      "Tensor k_scale, Tensor v_scale) -> ()");
  cache_ops.impl("store_pages", torch::kCUDA, &store_pages);

  cache_ops.def(
      "store_flat(Tensor key, Tensor value, Tensor! key_cache, "
      "Tensor! value_cache, Tensor slot_mapping, str kv_dtype, "
      "float k_scale=1.0, float v_scale=1.0) -> ()");
  cache_ops.impl("store_flat", torch::kCUDA, &store_flat);

  cache_ops.def(
      "convert_pages(Tensor! dst_cache, Tensor src_cache, float scale, "
      "str kv_dtype) -> ()");
  cache_ops.impl("convert_pages", torch::kCUDA, &convert_pages);

  cache_ops.def(
      "gather_pages(Tensor src_cache, Tensor! dst, Tensor block_table, "
      "Tensor cu_seq_lens, int batch_size, Tensor? seq_starts=None) -> ()");
  cache_ops.impl("gather_pages", torch::kCUDA, &gather_pages);
}

TORCH_LIBRARY_EXPAND(CONCAT(TORCH_EXTENSION_NAME, _utils), utils) {
  utils.def("device_attribute(int attribute, int device_id) -> int");
  utils.impl("device_attribute", &device_attribute);

  utils.def("max_shared_memory(int device_id) -> int");
  utils.impl("max_shared_memory", &max_shared_memory);
}

#if !defined(KILN_ROCM) || defined(KILN_RING)
TORCH_LIBRARY_EXPAND(CONCAT(TORCH_EXTENSION_NAME, _comm), comm) {
  comm.def(
      "init_ring(int[] ipc_tensors, Tensor rank_data, int rank, "
      "bool fully_connected) -> int");
  comm.impl("init_ring", torch::kCUDA, &kiln::init_ring);
  comm.def(
      "ring_sum(int fa, Tensor inp, Tensor! out, int reg_buffer, "
      "int reg_buffer_sz_bytes) -> ()");
  comm.impl("ring_sum", torch::kCUDA, &kiln::ring_sum);
  comm.def("drop_ring(int fa) -> ()");
  comm.impl("drop_ring", torch::kCUDA, &kiln::drop_ring);
  comm.def("meta_bytes() -> int", &kiln::meta_bytes);
  comm.def("register_ring(int fa, int[] ipc_tensors) -> ()", &kiln::register_ring);
  comm.def("ring_graph_buffers(int fa) -> (int[], int[])", &kiln::ring_graph_buffers);
}
#endif

TORCH_LIBRARY_IMPL_EXPAND(TORCH_EXTENSION_NAME, CUDA, more) {
  more.impl("merge_states", &merge_states);
  more.impl("quant_i8_static", &quant_i8_static);
  more.impl("scan_fwd", &scan_fwd);
}

REGISTER_EXTENSION(TORCH_EXTENSION_NAME)
