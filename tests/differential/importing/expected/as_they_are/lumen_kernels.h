// The kernels that lumen.yaml names, as their sources define them.
// Written by opgen import.
#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <optional>
#include <tuple>

namespace lumen {

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> mha_fwd(const at::Tensor& q,
    const at::Tensor& k,
    const at::Tensor& v,
    const std::optional<at::Tensor>& k_new,
    const std::optional<at::Tensor>& v_new,
    const std::optional<at::Tensor>& q_v,
    const std::optional<at::Tensor>& out,
    const std::optional<at::Tensor>& cu_seqlens_q,
    const std::optional<at::Tensor>& cu_seqlens_k,
    std::optional<int64_t> max_seqlen_q,
    std::optional<int64_t> max_seqlen_k,
    const std::optional<at::Tensor>& page_table,
    std::optional<double> softmax_scale,
    bool is_causal,
    int64_t window_left,
    int64_t window_right,
    double softcap,
    std::optional<bool> pack,
    int64_t sm_margin);
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> mha_bwd(const at::Tensor& dout,
    const at::Tensor& q,
    const at::Tensor& k,
    const at::Tensor& v,
    const at::Tensor& out,
    const at::Tensor& lse,
    const std::optional<at::Tensor>& dq,
    const std::optional<at::Tensor>& dk,
    const std::optional<at::Tensor>& dv,
    std::optional<double> softmax_scale,
    bool is_causal,
    bool deterministic);
std::tuple<at::Tensor, at::Tensor> mha_fwd_combine(const at::Tensor& out_partial,
    const at::Tensor& lse_partial,
    const std::optional<at::Tensor>& out,
    std::optional<at::ScalarType> out_dtype);
at::Tensor mha_plan(int64_t batch_size,
    int64_t max_seqlen_q,
    int64_t max_seqlen_k,
    int64_t num_heads,
    int64_t headdim,
    at::ScalarType qkv_dtype,
    const at::Tensor& seqused_k,
    const std::optional<at::Tensor>& cu_seqlens_q,
    std::optional<int64_t> page_size,
    bool is_causal);

}  // namespace lumen
