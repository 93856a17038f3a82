// extension.cc: all schemas of granite, and where their kernels are registered.
#include <torch/library.h>
#include <torch/types.h>

#include "include/granite_ops.h"

using namespace granite;

TORCH_LIBRARY_FRAGMENT(granite, m) {
  /*
   * From csrc/groups
   */
  m.def("get_group_handle(Tensor rank_data, bool connected) -> int");
  m.impl("get_group_handle", torch::kCUDA, &get_group_handle);

  m.def("drop_group(int handle) -> ()");
  m.impl("drop_group", torch::kCUDA, &drop_group);

  m.def("reduce_group(int handle, Tensor inp, Tensor! out) -> ()");
  m.impl("reduce_group", torch::kCUDA, &reduce_group);

  /*
   * From csrc/elementwise
   */
  m.def(
      "norm_rows(Tensor! output, Tensor input, Tensor weight, float eps, "
      "bool early_launch) -> ()");
  m.impl("norm_rows", torch::kCUDA, &norm_rows);

  m.def(
      "add_norm_rows(Tensor! input, Tensor! residual, Tensor weight, "
      "float eps, bool early_launch) -> ()");
  m.impl("add_norm_rows", torch::kCUDA, &add_norm_rows);

  m.def("soft_gate(Tensor! out, Tensor input, int cuda_stream) -> ()");
  m.impl("soft_gate", torch::kCUDA, &soft_gate);

  m.def(
      "rotate_in_place(Tensor q, Tensor k, Tensor! q_rot, Tensor! k_rot, "
      "Tensor cos_sin, Tensor pos_ids, bool interleave, int stream) -> ()");
  m.impl("rotate_in_place", torch::kCUDA, &rotate_in_place);

  m.def(
      "downcast(Tensor k, Tensor v, Tensor(a!) k_out, Tensor(b!) v_out, "
      "Tensor k_scale, Tensor v_scale, Tensor loc, int mult, int offset, "
      "int stream) -> ()");
  m.impl("downcast", torch::kCUDA, &downcast);

  m.def(
      "bmm8(Tensor A, Tensor B, Tensor! D, Tensor A_scale, "
      "Tensor B_scale, Tensor workspace, int handle, int stream) -> ()");
  m.impl("bmm8", torch::kCUDA, &bmm8);

  /*
   * From csrc/gemm
   */
  m.def("dequantize4(Tensor qweight, Tensor scales, Tensor qzeros) -> Tensor");
  m.impl("dequantize4", torch::kCUDA, &dequantize4);

  m.def(
      "mm8_scaled(Tensor mat_a, Tensor mat_b, Tensor scales_a, "
      "Tensor scales_b, ScalarType out_dtype, Tensor? bias) -> Tensor");
  m.impl("mm8_scaled", torch::kCUDA, &mm8_scaled);

  m.def(
      "quant_groups(Tensor input, Tensor output_q, Tensor output_s, "
      "int group_size, float eps, float fp8_min, float fp8_max, "
      "bool scale_ue8m0) -> ()");
  m.impl("quant_groups", torch::kCUDA, &quant_groups);

  m.def(
      "quant_tensor(Tensor input, Tensor output_q, Tensor output_s, "
      "bool is_static) -> ()");
  m.impl("quant_tensor", torch::kCUDA, &quant_tensor);

  m.def("cublas_like_mm(Tensor! D, Tensor A, Tensor? B=None) -> Tensor");
  m.impl("cublas_like_mm", torch::kCUDA, &cublas_like_mm);

  /*
   * From csrc/experts
   */
  m.def(
      "count_experts(Tensor topk_ids, int num_experts, int block_size, "
      "Tensor! sorted_token_ids, Tensor! expert_ids, "
      "Tensor! num_tokens_post_pad, Tensor! token_cnts, Tensor! cumsum, "
      "bool pad) -> ()");
  m.impl("count_experts", torch::kCUDA, &count_experts);

  m.def(
      "soft_top(Tensor! topk_weights, Tensor! topk_indices, "
      "Tensor gating_output, bool renormalize, float moe_softcapping=0., "
      "Tensor? correction_bias=None) -> ()");
  m.impl("soft_top", torch::kCUDA, &soft_top);

  m.def(
      "fused_top(Tensor input, Tensor bias, int num_expert_group, "
      "int topk_group, int topk, int num_shared, float routed_scale, "
      "bool apply_scale) -> Tensor[]");
  m.impl("fused_top", torch::kCUDA, &fused_top);

  m.def("shuffle_rows(Tensor input, Tensor dst2src_map, Tensor output) -> ()");
  m.impl("shuffle_rows", torch::kCUDA, &shuffle_rows);

  /*
   * From csrc/sampling
   */
  m.def(
      "tree_sample(Tensor! predicts, Tensor! accept_index, "
      "Tensor! accept_token_num, Tensor candidates, Tensor uniform, "
      "Tensor target_probs, float threshold_single=1, "
      "float threshold_acc=1.0, bool deterministic=True) -> ()");
  m.impl("tree_sample", torch::kCUDA, &tree_sample);

  m.def(
      "build_tree(Tensor parents, Tensor selected, Tensor verified, "
      "Tensor tree_mask, Tensor! positions, int topk, int depth, "
      "int draft_token_num) -> ()");
  m.impl("build_tree", torch::kCUDA, &build_tree);

  m.def(
      "move_layer(Tensor src_k, Tensor dst_k, Tensor src_v, "
      "Tensor dst_v, Tensor src_indices, Tensor dst_indices, "
      "int item_size, int block_quota, int num_warps_per_block) -> ()");
#ifndef USE_MUSA
  m.impl("move_layer", torch::kCUDA, &move_layer);
#endif

  m.def("grammar_mask(Tensor! logits, Tensor bitmask, Tensor? indices=None) -> ()");
  m.impl("grammar_mask", torch::kCUDA, &grammar_mask);

  m.def(
      "renorm_probs(Tensor probs, Tensor! renorm, "
      "Tensor? maybe_top_k_arr, int top_k_val) -> ()");
  m.impl("renorm_probs", torch::kCUDA, &renorm_probs);

  m.def(
      "sample_min_p(Tensor probs, Tensor! output, Tensor? maybe_indices, "
      "Tensor? maybe_min_p, float min_p_val, bool deterministic, "
      "Generator? gen) -> ()");
  m.impl("sample_min_p", torch::kCUDA, &sample_min_p);

  m.def(
      "ragged_fwd(Tensor q, Tensor k, Tensor v, Tensor? k_new, "
      "int? max_k, float? softmax_scale, bool causal, SymInt[2] window, "
      "float[]? sinks=None) -> Tensor[]");
  m.impl("ragged_fwd", torch::kCUDA, &ragged_fwd);

  m.def(
      "convert_vertical(Tensor! block_count, Tensor! block_offset, "
      "Tensor q_seqlens, int context_size, int block_m, "
      "bool causal) -> ()");
  m.impl("convert_vertical", torch::kCUDA, &convert_vertical);

  m.def("warm_up(int? device=None) -> bool", &warm_up);
  m.def("library_name() -> str", {at::Tag::pt2_compliant_tag});
  m.impl("library_name", c10::DispatchKey::CompositeExplicitAutograd, library_name);
  m.def("supported(str[] names, bool strict=True) -> int[]", TORCH_FN(supported));
}
