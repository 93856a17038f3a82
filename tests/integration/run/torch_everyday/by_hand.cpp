// The operators of native_functions.yaml registered by hand: the same schemas and kernels, in
// another namespace. Fake kernels that are not here are in Python, in cases.py.
#include <everyday/CPUFunctions.h>
#include <everyday/MetaFunctions.h>
#include <torch/library.h>

TORCH_LIBRARY(everyday_by_hand, m) {
  m.def("rms_norm(Tensor! result, Tensor input, Tensor weight, float epsilon) -> ()");
  m.def(
      "fused_add_rms_norm(Tensor! input, Tensor! residual, Tensor weight, "
      "float epsilon) -> ()");
  m.def("silu_and_mul(Tensor! result, Tensor input) -> ()");
  m.def(
      "rotary_embedding(Tensor positions, Tensor! query, Tensor!? key, int head_size, "
      "Tensor cos_sin_cache, bool is_neox) -> ()");
  m.def(
      "reshape_and_cache(Tensor key, Tensor value, Tensor! key_cache, Tensor! value_cache, "
      "Tensor slot_mapping, str kv_cache_dtype, Tensor k_scale, Tensor v_scale) -> ()");
  m.def(
      "copy_blocks(Tensor(a!)[] key_caches, Tensor(b!)[] value_caches, "
      "Tensor block_mapping) -> ()");
  m.def(
      "topk_softmax(Tensor! topk_weights, Tensor! topk_indices, "
      "Tensor! token_expert_indices, Tensor gating_output, bool renormalize, "
      "Tensor? bias) -> ()");
  m.def(
      "moe_align_block_size(Tensor topk_ids, int num_experts, int block_size, "
      "Tensor! sorted_token_ids, Tensor! experts_ids, Tensor! num_tokens_post_pad, "
      "Tensor? maybe_expert_map) -> ()");
  m.def(
      "merge_attn_states(Tensor! output, Tensor!? output_lse, Tensor prefix_output, "
      "Tensor prefix_lse, Tensor suffix_output, Tensor suffix_lse) -> ()");
  m.def(
      "dynamic_scaled_int8_quant(Tensor! result, Tensor input, Tensor! scale, "
      "Tensor!? azp) -> ()");
  m.def("permute_cols(Tensor A, Tensor perm) -> Tensor");
  m.def("weak_ref_tensor(Tensor(a) tensor) -> Tensor(a)");
  m.def("update_cache(Tensor value, Tensor(a!) cache, SymInt start_pos) -> Tensor");
  m.def("add_softmax_(Tensor(a!) self, Tensor other) -> Tensor(a!)");
  m.def("int8_vectorwise_quant(Tensor A, float threshold=0.0) -> (Tensor, Tensor, Tensor?)");
  m.def(
      "dequantize_blockwise(Tensor A, Tensor absmax, Tensor code, int blocksize, "
      "ScalarType dtype) -> Tensor");
  m.def(
      "fwd_combine(Tensor out_partial, Tensor lse_partial, Tensor(out!)? out=None, "
      "ScalarType? out_dtype=None) -> (Tensor(out!), Tensor)");
  m.def("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor");
  m.def(
      "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
      "SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor");
  m.def("_lfilter(Tensor waveform, Tensor a_coeffs, Tensor b_coeffs) -> Tensor");
  m.def("segment_matmul(Tensor input, Tensor ptr, Tensor other) -> Tensor");
  m.def(
      "scatter_sum(Tensor src, Tensor index, int dim, Tensor? optional_out, "
      "int? dim_size) -> Tensor");
  m.def(
      "jagged_to_padded_dense(Tensor values, Tensor[] offsets, SymInt[] max_lengths, "
      "float padding_value=0) -> Tensor");
  m.def("gelu(Tensor self, *, str approximate='none') -> Tensor");
  m.def("gelu_(Tensor(a!) self, *, str approximate='none') -> Tensor(a!)");
  m.def("gelu.out(Tensor self, *, str approximate='none', Tensor(a!) out) -> Tensor(a!)");
  m.def(
      "layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, "
      "float eps) -> (Tensor, Tensor, Tensor)");
  m.def(
      "layer_norm.out(Tensor input, SymInt[] normalized_shape, Tensor? weight, "
      "Tensor? bias, float eps, *, Tensor(a!) out0, Tensor(b!) out1, "
      "Tensor(c!) out2) -> (Tensor(a!), Tensor(b!), Tensor(c!))");
  m.def(
      "cross_entropy(Tensor logits, Tensor labels, float smoothing=0.0) -> (Tensor losses, "
      "Tensor lse)");
  m.def(
      "cross_entropy.out(Tensor logits, Tensor labels, float smoothing=0.0, *, "
      "Tensor(a!) losses, Tensor(b!) lse) -> (Tensor(a!) losses, Tensor(b!) lse)");
  m.def("foreach_norm(Tensor[] self, Scalar ord=2) -> Tensor[]");
  m.def("foreach_mul_(Tensor(a!)[] self, Scalar scalar) -> ()");
}

TORCH_LIBRARY_IMPL(everyday_by_hand, CPU, m) {
  m.impl("rms_norm", &everyday::cpu::rms_norm);
  m.impl("fused_add_rms_norm", &everyday::cpu::fused_add_rms_norm);
  m.impl("silu_and_mul", &everyday::cpu::silu_and_mul);
  m.impl("rotary_embedding", &everyday::cpu::rotary_embedding);
  m.impl("reshape_and_cache", &everyday::cpu::reshape_and_cache);
  m.impl("copy_blocks", &everyday::cpu::copy_blocks);
  m.impl("topk_softmax", &everyday::cpu::topk_softmax);
  m.impl("moe_align_block_size", &everyday::cpu::moe_align_block_size);
  m.impl("merge_attn_states", &everyday::cpu::merge_attn_states);
  m.impl("dynamic_scaled_int8_quant", &everyday::cpu::dynamic_scaled_int8_quant);
  m.impl("permute_cols", &everyday::cpu::permute_cols);
  m.impl("weak_ref_tensor", &everyday::cpu::weak_ref_tensor);
  m.impl("update_cache", &everyday::cpu::update_cache);
  m.impl("add_softmax_", &everyday::cpu::add_softmax_);
  m.impl("int8_vectorwise_quant", &everyday::cpu::int8_vectorwise_quant);
  m.impl("dequantize_blockwise", &everyday::cpu::dequantize_blockwise);
  m.impl("fwd_combine", &everyday::cpu::fwd_combine);
  m.impl("nms", &everyday::cpu::nms);
  m.impl("roi_align", &everyday::cpu::roi_align);
  m.impl("_lfilter", &everyday::cpu::_lfilter);
  m.impl("segment_matmul", &everyday::cpu::segment_matmul);
  m.impl("scatter_sum", &everyday::cpu::scatter_sum);
  m.impl("jagged_to_padded_dense", &everyday::cpu::jagged_to_padded_dense);
  m.impl("gelu", &everyday::cpu::gelu);
  m.impl("gelu_", &everyday::cpu::gelu_);
  m.impl("gelu.out", &everyday::cpu::gelu_outf);
  m.impl("layer_norm", &everyday::cpu::layer_norm);
  m.impl("layer_norm.out", &everyday::cpu::layer_norm_outf);
  m.impl("cross_entropy", &everyday::cpu::cross_entropy);
  m.impl("cross_entropy.out", &everyday::cpu::cross_entropy_outf);
  m.impl("foreach_norm", &everyday::cpu::foreach_norm);
  m.impl("foreach_mul_", &everyday::cpu::foreach_mul_);
}

TORCH_LIBRARY_IMPL(everyday_by_hand, Meta, m) {
  m.impl("permute_cols", &everyday::meta::permute_cols);
  m.impl("weak_ref_tensor", &everyday::meta::weak_ref_tensor);
  m.impl("update_cache", &everyday::meta::update_cache_symint);
  m.impl("dequantize_blockwise", &everyday::meta::dequantize_blockwise);
  m.impl("fwd_combine", &everyday::meta::fwd_combine);
  m.impl("roi_align", &everyday::meta::roi_align_symint);
  m.impl("_lfilter", &everyday::meta::_lfilter);
  m.impl("segment_matmul", &everyday::meta::segment_matmul);
  m.impl("jagged_to_padded_dense", &everyday::meta::jagged_to_padded_dense_symint);
  m.impl("foreach_norm", &everyday::meta::foreach_norm);
}
