// lumen.cpp: attention with long schemas, written argument by argument.
#include <ATen/ATen.h>
#include <torch/library.h>
#include <torch/types.h>

#include <stdexcept>

namespace lumen {

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> mha_fwd(
    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const std::optional<at::Tensor>& k_new, const std::optional<at::Tensor>& v_new,
    const std::optional<at::Tensor>& q_v, const std::optional<at::Tensor>& out,
    const std::optional<at::Tensor>& cu_seqlens_q, const std::optional<at::Tensor>& cu_seqlens_k,
    std::optional<int64_t> max_seqlen_q, std::optional<int64_t> max_seqlen_k,
    const std::optional<at::Tensor>& page_table, std::optional<double> softmax_scale,
    bool is_causal, int64_t window_left, int64_t window_right, double softcap,
    std::optional<bool> pack, int64_t sm_margin) {
  throw std::runtime_error("not written");
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> mha_bwd(
    const at::Tensor& dout, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const at::Tensor& out, const at::Tensor& lse, const std::optional<at::Tensor>& dq,
    const std::optional<at::Tensor>& dk, const std::optional<at::Tensor>& dv,
    std::optional<double> softmax_scale, bool is_causal, bool deterministic) {
  throw std::runtime_error("not written");
}

std::tuple<at::Tensor, at::Tensor> mha_fwd_combine(const at::Tensor& out_partial,
                                                   const at::Tensor& lse_partial,
                                                   const std::optional<at::Tensor>& out,
                                                   std::optional<at::ScalarType> out_dtype) {
  throw std::runtime_error("not written");
}

at::Tensor mha_plan(int64_t batch_size, int64_t max_seqlen_q, int64_t max_seqlen_k,
                    int64_t num_heads, int64_t headdim, at::ScalarType qkv_dtype,
                    const at::Tensor& seqused_k, const std::optional<at::Tensor>& cu_seqlens_q,
                    std::optional<int64_t> page_size, bool is_causal) {
  throw std::runtime_error("not written");
}

}  // namespace lumen

TORCH_LIBRARY(lumen, m) {
  m.def(
      "fwd("
      "Tensor q, "  // (b, s, h, d)
      "Tensor k, "  // (b, s, h, d)
      "Tensor v, "  // (b, s, h, d)
      "Tensor(k_new!)? k_new=None, "
      "Tensor(v_new!)? v_new=None, "
      "Tensor? q_v=None, "
      "Tensor(out!)? out=None, "
      "Tensor? cu_seqlens_q=None, "
      "Tensor? cu_seqlens_k=None, "
      "int? max_seqlen_q=None, "
      "int? max_seqlen_k=None, "
      "Tensor? page_table=None, "
      "float? softmax_scale=None, "
      "bool is_causal=False, "
      "int window_left=-1, "
      "int window_right=-1, "
      "float softcap=0.0, "
      "bool? pack=None, "
      "int sm_margin=0) -> (Tensor(out!), Tensor, Tensor, Tensor)");

  m.def(
      "bwd("
      "Tensor dout, "  // (b, s, h, d)
      "Tensor q, "     // (b, s, h, d)
      "Tensor k, "     // (b, s, h, d)
      "Tensor v, "
      "Tensor out, "
      "Tensor lse, "
      "Tensor(dq!)? dq=None, "
      "Tensor(dk!)? dk=None, "
      "Tensor(dv!)? dv=None, "
      "float? softmax_scale=None, "
      "bool is_causal=False, "
      "bool deterministic=False) -> (Tensor, Tensor, Tensor, Tensor, Tensor)");

  m.def(
      "fwd_combine("
      "Tensor out_partial, "      // (b, s, h, d)
      "Tensor lse_partial, "      // (b, s, h, d)
      "Tensor(out!)? out=None, "  // (b, s, h, d)
      "ScalarType? out_dtype=None) -> (Tensor(out!), Tensor)");

  m.def(
      "plan("
      "int batch_size, "    // (b, s, h, d)
      "int max_seqlen_q, "  // (b, s, h, d)
      "int max_seqlen_k, "  // (b, s, h, d)
      "int num_heads, "
      "int headdim, "
      "ScalarType qkv_dtype, "
      "Tensor seqused_k, "
      "Tensor? cu_seqlens_q=None, "
      "int? page_size=None, "
      "bool is_causal=False) -> Tensor");
}

TORCH_LIBRARY_IMPL(lumen, CUDA, m) {
  m.impl("fwd", &lumen::mha_fwd);
  m.impl("bwd", &lumen::mha_bwd);
  m.impl("fwd_combine", &lumen::mha_fwd_combine);
  m.impl("plan", &lumen::mha_plan);
}
