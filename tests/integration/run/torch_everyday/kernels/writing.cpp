// Kernels of operators that write their arguments: plain loops over contiguous tensors.
#include <everyday/NativeFunctions.h>
#include <opgen/kernel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace {

// Outside of kernels the names are in namespace opgen.
using opgen::MemoryFormat;
using opgen::Tensor;

// The rows along the last dimension.
std::int64_t rows_of(const Tensor& x) {
  return x.size(-1) == 0 ? 0 : x.numel() / x.size(-1);
}

// x / sqrt(mean(x^2) + epsilon) * weight, row by row.
template <class T>
void normalize_rows(const T* x, const T* weight, T* y, std::int64_t rows, std::int64_t columns,
                    double epsilon) {
  opgen::parallel_for(0, rows, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* from = x + row * columns;
      T squares = 0;
      for (std::int64_t i = 0; i < columns; ++i) squares += from[i] * from[i];
      const T scale = T(1) / std::sqrt(squares / static_cast<T>(columns) + static_cast<T>(epsilon));
      for (std::int64_t i = 0; i < columns; ++i) y[row * columns + i] = from[i] * scale * weight[i];
    }
  });
}

}  // namespace

OPGEN_KERNEL(rms_norm_cpu)
(Tensor& result, const Tensor& input, const Tensor& weight, double epsilon) {
  OPGEN_CHECK(result.sizes() == input.sizes(), "rms_norm: result has other sizes than input");
  const Tensor x = opgen::contiguous(input), w = opgen::contiguous(weight);
  const Tensor y = opgen::empty_like(x);
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm", [&] {
    normalize_rows(x.const_data_ptr<scalar_t>(), w.const_data_ptr<scalar_t>(),
                   y.mutable_data_ptr<scalar_t>(), rows_of(x), x.size(-1), epsilon);
  });
  opgen::copy_(result, y);
}

OPGEN_KERNEL(fused_add_rms_norm_cpu)
(Tensor& input, Tensor& residual, const Tensor& weight, double epsilon) {
  const Tensor sum = opgen::clone(residual, MemoryFormat::Contiguous);
  const Tensor x = opgen::contiguous(input), w = opgen::contiguous(weight);
  const Tensor y = opgen::empty_like(x);
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "fused_add_rms_norm", [&] {
    const scalar_t* from = x.const_data_ptr<scalar_t>();
    scalar_t* to = sum.mutable_data_ptr<scalar_t>();
    for (std::int64_t i = 0; i < x.numel(); ++i) to[i] += from[i];
    normalize_rows(sum.const_data_ptr<scalar_t>(), w.const_data_ptr<scalar_t>(),
                   y.mutable_data_ptr<scalar_t>(), rows_of(x), x.size(-1), epsilon);
  });
  opgen::copy_(residual, sum);
  opgen::copy_(input, y);
}

OPGEN_KERNEL(silu_and_mul_cpu)(Tensor& result, const Tensor& input) {
  const Tensor x = opgen::contiguous(input);
  const Tensor y = opgen::new_empty(x, result.sizes());
  const std::int64_t half = x.size(-1) / 2, rows = rows_of(x);
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "silu_and_mul", [&] {
    const scalar_t* from = x.const_data_ptr<scalar_t>();
    scalar_t* to = y.mutable_data_ptr<scalar_t>();
    for (std::int64_t row = 0; row < rows; ++row) {
      const scalar_t* gate = from + row * 2 * half;
      for (std::int64_t i = 0; i < half; ++i) {
        to[row * half + i] = gate[i] / (scalar_t(1) + std::exp(-gate[i])) * gate[half + i];
      }
    }
  });
  opgen::copy_(result, y);
}

namespace {

// Rotates every head of `x` (tokens, heads * head_size) by the angles of its token's position.
void rotate(Tensor& x, const Tensor& positions, const Tensor& cos_sin, std::int64_t head_size,
            bool is_neox) {
  const Tensor y = opgen::clone(x, MemoryFormat::Contiguous);
  const std::int64_t half = cos_sin.size(1) / 2, tokens = positions.numel();
  const std::int64_t heads = tokens == 0 ? 0 : x.numel() / tokens / head_size;
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rotary_embedding", [&] {
    scalar_t* all = y.mutable_data_ptr<scalar_t>();
    const scalar_t* table = cos_sin.const_data_ptr<scalar_t>();
    const std::int64_t* at = positions.const_data_ptr<std::int64_t>();
    for (std::int64_t token = 0; token < tokens; ++token) {
      const scalar_t *cosine = table + at[token] * 2 * half, *sine = cosine + half;
      for (std::int64_t head = 0; head < heads; ++head) {
        scalar_t* one = all + (token * heads + head) * head_size;
        for (std::int64_t i = 0; i < half; ++i) {
          scalar_t& a = one[is_neox ? i : 2 * i];
          scalar_t& b = one[is_neox ? i + half : 2 * i + 1];
          const scalar_t old = a;
          a = a * cosine[i] - b * sine[i];
          b = b * cosine[i] + old * sine[i];
        }
      }
    }
  });
  opgen::copy_(x, y);
}

}  // namespace

OPGEN_KERNEL(rotary_embedding_cpu)
(const Tensor& positions, Tensor& query, const std::optional<Tensor>& key, int64_t head_size,
 const Tensor& cos_sin_cache, bool is_neox) {
  const Tensor at = opgen::contiguous(positions), table = opgen::contiguous(cos_sin_cache);
  rotate(query, at, table, head_size, is_neox);
  if (key.has_value()) {
    Tensor other = *key;
    rotate(other, at, table, head_size, is_neox);
  }
}

OPGEN_KERNEL(reshape_and_cache_cpu)
(const Tensor& key, const Tensor& value, Tensor& key_cache, Tensor& value_cache,
 const Tensor& slot_mapping, c10::string_view kv_cache_dtype, const Tensor&, const Tensor&) {
  OPGEN_CHECK(kv_cache_dtype == "auto", "reshape_and_cache: unknown dtype ", kv_cache_dtype);
  // key_cache: (blocks, heads, head_size / x, block_size, x); value_cache: (blocks, heads,
  // head_size, block_size).
  const std::int64_t block_size = key_cache.size(3), x = key_cache.size(4);
  const Tensor slots = opgen::contiguous(slot_mapping);
  OPGEN_DISPATCH_FLOATING_TYPES(key.scalar_type(), "reshape_and_cache", [&] {
    const auto k = key.accessor<const scalar_t, 3>(), v = value.accessor<const scalar_t, 3>();
    auto keys = key_cache.accessor<scalar_t, 5>();
    auto values = value_cache.accessor<scalar_t, 4>();
    const std::int64_t* slot = slots.const_data_ptr<std::int64_t>();
    for (std::int64_t token = 0; token < slots.numel(); ++token) {
      if (slot[token] < 0) continue;
      const std::int64_t block = slot[token] / block_size, at = slot[token] % block_size;
      for (std::int64_t head = 0; head < key.size(1); ++head) {
        for (std::int64_t i = 0; i < key.size(2); ++i) {
          keys[block][head][i / x][at][i % x] = k[token][head][i];
          values[block][head][i][at] = v[token][head][i];
        }
      }
    }
  });
}

OPGEN_KERNEL(copy_blocks_cpu)
(TensorList key_caches, TensorList value_caches, const Tensor& block_mapping) {
  const Tensor mapping = opgen::contiguous(block_mapping);
  const std::int64_t* pairs = mapping.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < mapping.size(0); ++i) {
    for (const TensorList& caches : {key_caches, value_caches}) {
      for (const Tensor& cache : caches) {
        opgen::copy_(cache.select(0, pairs[2 * i + 1]), cache.select(0, pairs[2 * i]));
      }
    }
  }
}

OPGEN_KERNEL(topk_softmax_cpu)
(Tensor& topk_weights, Tensor& topk_indices, Tensor& token_expert_indices,
 const Tensor& gating_output, bool renormalize, const std::optional<Tensor>& bias) {
  const std::int64_t tokens = gating_output.size(0), experts = gating_output.size(1);
  const std::int64_t k = topk_weights.size(1);
  const auto gates = gating_output.accessor<const float, 2>();
  auto weights = topk_weights.accessor<float, 2>();
  auto indices = topk_indices.accessor<std::int32_t, 2>();
  auto sources = token_expert_indices.accessor<std::int32_t, 2>();
  std::vector<float> shares(experts), scores(experts);
  std::vector<std::int32_t> order(experts);
  for (std::int64_t token = 0; token < tokens; ++token) {
    float most = -std::numeric_limits<float>::infinity(), sum = 0, chosen = 0;
    for (std::int64_t e = 0; e < experts; ++e) most = std::max(most, gates[token][e]);
    for (std::int64_t e = 0; e < experts; ++e) sum += std::exp(gates[token][e] - most);
    for (std::int64_t e = 0; e < experts; ++e) {
      shares[e] = std::exp(gates[token][e] - most) / sum;
      scores[e] = shares[e] + (bias.has_value() ? bias->accessor<const float, 1>()[e] : 0);
    }
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return scores[a] > scores[b]; });
    for (std::int64_t i = 0; i < k; ++i) chosen += shares[order[i]];
    for (std::int64_t i = 0; i < k; ++i) {
      weights[token][i] = shares[order[i]] / (renormalize ? chosen : 1);
      indices[token][i] = order[i];
      sources[token][i] = static_cast<std::int32_t>(i * tokens + token);
    }
  }
}

OPGEN_KERNEL(moe_align_block_size_cpu)
(const Tensor& topk_ids, int64_t num_experts, int64_t block_size, Tensor& sorted_token_ids,
 Tensor& experts_ids, Tensor& num_tokens_post_pad, const std::optional<Tensor>& maybe_expert_map) {
  const Tensor ids = opgen::contiguous(topk_ids);
  const std::int32_t* expert = ids.const_data_ptr<std::int32_t>();
  auto sorted = sorted_token_ids.accessor<std::int32_t, 1>();
  auto blocks = experts_ids.accessor<std::int32_t, 1>();
  opgen::fill_(sorted_token_ids, ids.numel());
  opgen::fill_(experts_ids, -1);
  std::int64_t at = 0;
  for (std::int64_t e = 0; e < num_experts; ++e) {
    const std::int64_t begin = at;
    for (std::int64_t i = 0; i < ids.numel(); ++i) {
      if (expert[i] == e) sorted[at++] = static_cast<std::int32_t>(i);
    }
    at = (at + block_size - 1) / block_size * block_size;
    for (std::int64_t block = begin / block_size; block < at / block_size; ++block) {
      blocks[block] = maybe_expert_map.has_value()
                          ? maybe_expert_map->accessor<const std::int32_t, 1>()[e]
                          : static_cast<std::int32_t>(e);
    }
  }
  opgen::fill_(num_tokens_post_pad, at);
}

OPGEN_KERNEL(merge_attn_states_cpu)
(Tensor& output, const std::optional<Tensor>& output_lse, const Tensor& prefix_output,
 const Tensor& prefix_lse, const Tensor& suffix_output, const Tensor& suffix_lse) {
  // Outputs are (tokens, heads, head_size), logarithms of sums (heads, tokens).
  auto out = output.accessor<float, 3>();
  const auto a = prefix_output.accessor<const float, 3>();
  const auto b = suffix_output.accessor<const float, 3>();
  const auto la = prefix_lse.accessor<const float, 2>(), lb = suffix_lse.accessor<const float, 2>();
  for (std::int64_t token = 0; token < output.size(0); ++token) {
    for (std::int64_t head = 0; head < output.size(1); ++head) {
      const float most = std::max(la[head][token], lb[head][token]);
      const float wa = std::exp(la[head][token] - most), wb = std::exp(lb[head][token] - most);
      for (std::int64_t i = 0; i < output.size(2); ++i) {
        out[token][head][i] = (a[token][head][i] * wa + b[token][head][i] * wb) / (wa + wb);
      }
      if (output_lse.has_value()) {
        output_lse->accessor<float, 2>()[head][token] = std::log(wa + wb) + most;
      }
    }
  }
}

OPGEN_KERNEL(dynamic_scaled_int8_quant_cpu)
(Tensor& result, const Tensor& input, Tensor& scale, const std::optional<Tensor>& azp) {
  const auto x = input.accessor<const float, 2>();
  auto y = result.accessor<std::int8_t, 2>();
  auto scales = scale.accessor<float, 2>();
  for (std::int64_t row = 0; row < input.size(0); ++row) {
    float least = std::numeric_limits<float>::infinity(), most = -least;
    for (std::int64_t i = 0; i < input.size(1); ++i) {
      least = std::min(least, x[row][i]);
      most = std::max(most, x[row][i]);
    }
    const float step =
        azp.has_value() ? (most - least) / 255 : std::max(std::abs(least), std::abs(most)) / 127;
    const float zero = azp.has_value() ? std::nearbyint(-128 - least / step) : 0;
    scales[row][0] = step;
    if (azp.has_value()) {
      azp->accessor<std::int32_t, 2>()[row][0] = static_cast<std::int32_t>(zero);
    }
    for (std::int64_t i = 0; i < input.size(1); ++i) {
      const float code = std::nearbyint(x[row][i] / step) + zero;
      y[row][i] = static_cast<std::int8_t>(std::clamp(code, -128.0F, 127.0F));
    }
  }
}

OPGEN_KERNEL(update_cache_cpu)(const Tensor& value, Tensor& cache, int64_t start_pos) {
  const std::int64_t end = start_pos + value.size(1);
  OPGEN_CHECK(start_pos >= 0 && end <= cache.size(1), "update_cache: ", end, " of ", cache.size(1));
  opgen::copy_(cache.slice(1, start_pos, end), value);
  return opgen::zeros({1}, value.options());
}

OPGEN_KERNEL(update_cache_meta_symint)(const Tensor& value, Tensor&, c10::SymInt) {
  return opgen::empty_symint({1}, value.options());
}

OPGEN_KERNEL(add_softmax__cpu)(Tensor& self, const Tensor& other) {
  const Tensor x = opgen::clone(self, MemoryFormat::Contiguous);
  const Tensor y = opgen::contiguous(opgen::expand(other, self.sizes()));
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "add_softmax_", [&] {
    for (std::int64_t row = 0; row < rows_of(x); ++row) {
      const std::int64_t columns = x.size(-1);
      scalar_t* to = x.mutable_data_ptr<scalar_t>() + row * columns;
      const scalar_t* from = y.const_data_ptr<scalar_t>() + row * columns;
      scalar_t most = -std::numeric_limits<scalar_t>::infinity(), sum = 0;
      for (std::int64_t i = 0; i < columns; ++i) most = std::max(most, to[i] += from[i]);
      for (std::int64_t i = 0; i < columns; ++i) sum += to[i] = std::exp(to[i] - most);
      for (std::int64_t i = 0; i < columns; ++i) to[i] /= sum;
    }
  });
  opgen::copy_(self, x);
  return self;
}

OPGEN_KERNEL(fwd_combine_cpu)
(const Tensor& out_partial, const Tensor& lse_partial, const std::optional<Tensor>& out,
 std::optional<ScalarType> out_dtype) {
  // (splits, tokens, heads, head_size) and (splits, tokens, heads): each split has the weight
  // exp(lse).
  const std::int64_t splits = out_partial.size(0), tokens = out_partial.size(1);
  const std::int64_t heads = out_partial.size(2), size = out_partial.size(3);
  const auto parts = out_partial.accessor<const float, 4>();
  const auto logs = lse_partial.accessor<const float, 3>();
  const Tensor sum = opgen::zeros({tokens, heads, size}, out_partial.options());
  const Tensor lse = opgen::empty({tokens, heads}, lse_partial.options());
  auto sums = sum.accessor<float, 3>();
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t h = 0; h < heads; ++h) {
      float most = -std::numeric_limits<float>::infinity(), total = 0;
      for (std::int64_t s = 0; s < splits; ++s) most = std::max(most, logs[s][t][h]);
      for (std::int64_t s = 0; s < splits; ++s) total += std::exp(logs[s][t][h] - most);
      for (std::int64_t s = 0; s < splits; ++s) {
        const float weight = std::exp(logs[s][t][h] - most) / total;
        for (std::int64_t i = 0; i < size; ++i) sums[t][h][i] += weight * parts[s][t][h][i];
      }
      lse.accessor<float, 2>()[t][h] = most + std::log(total);
    }
  }
  const ScalarType dtype = out_dtype.value_or(out_partial.scalar_type());
  if (!out.has_value()) return {opgen::to_dtype(sum, dtype), lse};
  opgen::copy_(*out, sum);
  return {*out, lse};
}

OPGEN_KERNEL(fwd_combine_meta)
(const Tensor& out_partial, const Tensor& lse_partial, const std::optional<Tensor>& out,
 std::optional<ScalarType> out_dtype) {
  const ScalarType dtype = out_dtype.value_or(out_partial.scalar_type());
  const auto lse = opgen::empty_symint(lse_partial.sym_sizes().slice(1), lse_partial.options());
  if (out.has_value()) return {*out, lse};
  return {opgen::empty_symint(out_partial.sym_sizes().slice(1), out_partial.options().dtype(dtype)),
          lse};
}

OPGEN_KERNEL(foreach_mul__cpu)(TensorList self, const Scalar& scalar) {
  for (Tensor x : self) x.mul_(scalar);
}
