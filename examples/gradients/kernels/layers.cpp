// Layers of language models.
#include <c10/core/SymIntArrayRef.h>
#include <graded/ops/rms_norm_backward_native.h>
#include <graded/ops/rms_norm_native.h>
#include <graded/ops/rotary_embedding_native.h>
#include <graded/ops/silu_and_mul_backward_native.h>
#include <graded/ops/silu_and_mul_jvp_native.h>
#include <graded/ops/silu_and_mul_native.h>
#include <opgen/kernel.h>

#include <array>
#include <cmath>
#include <optional>
#include <vector>

using namespace opgen::types;

namespace {

Tensor dense(const Tensor& tensor) {
  return opgen::contiguous(tensor);
}

void check_weight(const Tensor& input, const std::optional<Tensor>& weight) {
  OPGEN_CHECK(input.dim() >= 1, "rms_norm: input has no dimension");
  if (!weight) return;
  OPGEN_CHECK(weight->dim() == 1 && weight->sym_size(0) == input.sym_size(-1),
              "rms_norm: one weight for each column of input is expected");
  OPGEN_CHECK(weight->scalar_type() == input.scalar_type(), "rms_norm: weight of another dtype");
}

void check_like(const Tensor& tensor, const Tensor& input, const char* what) {
  OPGEN_CHECK(
      tensor.sym_sizes() == input.sym_sizes() && tensor.scalar_type() == input.scalar_type(), what,
      " is not like input");
}

// The number of columns, and of rows.
std::array<std::int64_t, 2> rows_of(const Tensor& tensor) {
  const std::int64_t columns = tensor.size(-1);
  return {columns, columns == 0 ? 0 : tensor.numel() / columns};
}

}  // namespace

// y = x r w, where r = (mean(x^2) + eps)^(-1/2) for each row.
OPGEN_KERNEL(rms_norm_cpu)
(const Tensor& input, const std::optional<Tensor>& weight, double eps) {
  check_weight(input, weight);
  const Tensor from = dense(input), scale = weight ? dense(*weight) : Tensor();
  const Tensor result = opgen::empty(input.sizes(), input.options());
  opgen::dispatch<float, double>(input.scalar_type(), "rms_norm", [&]<class scalar_t> {
    const auto [columns, rows] = rows_of(from);
    const scalar_t* x = from.const_data_ptr<scalar_t>();
    const scalar_t* w = weight ? scale.const_data_ptr<scalar_t>() : nullptr;
    scalar_t* y = result.mutable_data_ptr<scalar_t>();
    for (std::int64_t row = 0; row < rows; ++row, x += columns, y += columns) {
      scalar_t squares = 0;
      for (std::int64_t i = 0; i < columns; ++i) squares += x[i] * x[i];
      const scalar_t r =
          1 / std::sqrt(squares / static_cast<scalar_t>(columns) + static_cast<scalar_t>(eps));
      for (std::int64_t i = 0; i < columns; ++i) y[i] = x[i] * r * (w ? w[i] : scalar_t(1));
    }
  });
  return result;
}
OPGEN_KERNEL(rms_norm_meta)
(const Tensor& input, const std::optional<Tensor>& weight, double) {
  check_weight(input, weight);
  return opgen::empty_symint(input.sym_sizes(), input.options());
}

// dx = r (w g - x r^2 mean(w g x)), dw = the sum of g x r over the rows.
OPGEN_KERNEL(rms_norm_backward_cpu)
(const Tensor& grad_output, const Tensor& input, const std::optional<Tensor>& weight, double eps,
 std::array<bool, 2> output_mask) {
  check_weight(input, weight);
  check_like(grad_output, input, "rms_norm_backward: grad_output");
  const Tensor from = dense(input), grad = dense(grad_output);
  const Tensor scale = weight ? dense(*weight) : Tensor();
  Tensor grad_input, grad_weight;
  if (output_mask[0]) grad_input = opgen::empty(input.sizes(), input.options());
  if (output_mask[1]) grad_weight = opgen::zeros({input.size(-1)}, input.options());
  opgen::dispatch<float, double>(input.scalar_type(), "rms_norm_backward", [&]<class scalar_t> {
    const auto [columns, rows] = rows_of(from);
    const scalar_t* x = from.const_data_ptr<scalar_t>();
    const scalar_t* g = grad.const_data_ptr<scalar_t>();
    const scalar_t* w = weight ? scale.const_data_ptr<scalar_t>() : nullptr;
    scalar_t* dx = output_mask[0] ? grad_input.mutable_data_ptr<scalar_t>() : nullptr;
    scalar_t* dw = output_mask[1] ? grad_weight.mutable_data_ptr<scalar_t>() : nullptr;
    for (std::int64_t row = 0; row < rows; ++row, x += columns, g += columns) {
      scalar_t squares = 0, products = 0;
      for (std::int64_t i = 0; i < columns; ++i) {
        squares += x[i] * x[i];
        products += g[i] * x[i] * (w ? w[i] : scalar_t(1));
      }
      const scalar_t n = static_cast<scalar_t>(columns);
      const scalar_t r = 1 / std::sqrt(squares / n + static_cast<scalar_t>(eps));
      for (std::int64_t i = 0; i < columns; ++i) {
        const scalar_t wg = g[i] * (w ? w[i] : scalar_t(1));
        if (dx) dx[row * columns + i] = r * (wg - x[i] * r * r * products / n);
        if (dw) dw[i] += g[i] * x[i] * r;
      }
    }
  });
  return {grad_input, grad_weight};
}
OPGEN_KERNEL(rms_norm_backward_meta)
(const Tensor& grad_output, const Tensor& input, const std::optional<Tensor>& weight, double,
 std::array<bool, 2> output_mask) {
  check_weight(input, weight);
  check_like(grad_output, input, "rms_norm_backward: grad_output");
  Tensor grad_input, grad_weight;
  if (output_mask[0]) grad_input = opgen::empty_symint(input.sym_sizes(), input.options());
  if (output_mask[1]) grad_weight = opgen::empty_symint({input.sym_size(-1)}, input.options());
  return {grad_input, grad_weight};
}

namespace {

void check_halves(const Tensor& input) {
  OPGEN_CHECK(input.dim() >= 1, "silu_and_mul: input has no dimension");
  OPGEN_SYM_CHECK(opgen::sym_eq(input.sym_size(-1) % 2, 0),
                  "silu_and_mul: an even number of columns is expected");
}

std::vector<c10::SymInt> half_sizes(const Tensor& input) {
  std::vector<c10::SymInt> sizes(input.sym_sizes().begin(), input.sym_sizes().end());
  sizes.back() = sizes.back() / 2;
  return sizes;
}

void check_halves(const Tensor& grad_output, const Tensor& input) {
  check_halves(input);
  OPGEN_CHECK(c10::SymIntArrayRef(half_sizes(input)) == grad_output.sym_sizes() &&
                  grad_output.scalar_type() == input.scalar_type(),
              "silu_and_mul_backward: grad_output is not like half of input");
}

}  // namespace

// silu(a) b, where a and b are the halves of each row.
OPGEN_KERNEL(silu_and_mul_cpu)(const Tensor& input) {
  check_halves(input);
  const Tensor from = dense(input);
  const Tensor result = opgen::empty_symint(half_sizes(input), input.options());
  opgen::dispatch<float, double>(input.scalar_type(), "silu_and_mul", [&]<class scalar_t> {
    const scalar_t* x = from.const_data_ptr<scalar_t>();
    scalar_t* y = result.mutable_data_ptr<scalar_t>();
    const std::int64_t n = input.size(-1) / 2;
    for (std::int64_t i = 0; i < result.numel(); ++i) {
      const scalar_t a = x[i / n * 2 * n + i % n], b = x[i / n * 2 * n + i % n + n];
      y[i] = a / (1 + std::exp(-a)) * b;
    }
  });
  return result;
}
OPGEN_KERNEL(silu_and_mul_meta)(const Tensor& input) {
  check_halves(input);
  return opgen::empty_symint(half_sizes(input), input.options());
}

OPGEN_KERNEL(silu_and_mul_backward_cpu)(const Tensor& grad_output, const Tensor& input) {
  check_halves(grad_output, input);
  const Tensor from = dense(input), grad = dense(grad_output);
  const Tensor result = opgen::empty(input.sizes(), input.options());
  opgen::dispatch<float, double>(input.scalar_type(), "silu_and_mul_backward", [&]<class scalar_t> {
    const scalar_t* x = from.const_data_ptr<scalar_t>();
    const scalar_t* g = grad.const_data_ptr<scalar_t>();
    scalar_t* dx = result.mutable_data_ptr<scalar_t>();
    const std::int64_t n = input.size(-1) / 2;
    for (std::int64_t i = 0; i < grad.numel(); ++i) {
      const std::int64_t at_a = i / n * 2 * n + i % n, at_b = at_a + n;
      const scalar_t s = 1 / (1 + std::exp(-x[at_a]));
      dx[at_a] = g[i] * x[at_b] * s * (1 + x[at_a] * (1 - s));
      dx[at_b] = g[i] * x[at_a] * s;
    }
  });
  return result;
}
OPGEN_KERNEL(silu_and_mul_backward_meta)(const Tensor& grad_output, const Tensor& input) {
  check_halves(grad_output, input);
  return opgen::empty_symint(input.sym_sizes(), input.options());
}

OPGEN_KERNEL(silu_and_mul_jvp_cpu)(const Tensor& tangent, const Tensor& input) {
  check_halves(input);
  check_like(tangent, input, "silu_and_mul_jvp: tangent");
  const Tensor from = dense(input), along = dense(tangent);
  const Tensor result = opgen::empty_symint(half_sizes(input), input.options());
  opgen::dispatch<float, double>(input.scalar_type(), "silu_and_mul_jvp", [&]<class scalar_t> {
    const scalar_t* x = from.const_data_ptr<scalar_t>();
    const scalar_t* t = along.const_data_ptr<scalar_t>();
    scalar_t* y = result.mutable_data_ptr<scalar_t>();
    const std::int64_t n = input.size(-1) / 2;
    for (std::int64_t i = 0; i < result.numel(); ++i) {
      const std::int64_t at_a = i / n * 2 * n + i % n, at_b = at_a + n;
      const scalar_t s = 1 / (1 + std::exp(-x[at_a]));
      y[i] = t[at_a] * x[at_b] * s * (1 + x[at_a] * (1 - s)) + t[at_b] * x[at_a] * s;
    }
  });
  return result;
}
OPGEN_KERNEL(silu_and_mul_jvp_meta)(const Tensor& tangent, const Tensor& input) {
  check_halves(input);
  check_like(tangent, input, "silu_and_mul_jvp: tangent");
  return opgen::empty_symint(half_sizes(input), input.options());
}

namespace {

void check_rotation(const Tensor& query, const Tensor& key, const Tensor& positions,
                    const Tensor& cache) {
  for (const Tensor* tensor : {&query, &key}) {
    OPGEN_CHECK(tensor->dim() == 3, "rotary_embedding: (tokens, heads, size) is expected");
    OPGEN_CHECK(tensor->sym_size(0) == positions.sym_size(0),
                "rotary_embedding: one position for each token is expected");
    OPGEN_CHECK(tensor->sym_size(2) == cache.sym_size(1),
                "rotary_embedding: the cache is of another size");
    OPGEN_CHECK(tensor->scalar_type() == cache.scalar_type(),
                "rotary_embedding: the cache is of another dtype");
  }
}

template <class T>
void rotate(const Tensor& input, const Tensor& positions, const Tensor& cache, bool is_neox,
            bool inverse, const Tensor& result) {
  const auto x = input.accessor<const T, 3>();
  const auto place = positions.accessor<const std::int64_t, 1>();
  const auto angles = cache.accessor<const T, 2>();
  auto y = result.accessor<T, 3>();
  const std::int64_t half = input.size(2) / 2;
  for (std::int64_t token = 0; token < input.size(0); ++token) {
    for (std::int64_t head = 0; head < input.size(1); ++head) {
      for (std::int64_t i = 0; i < half; ++i) {
        const std::int64_t first = is_neox ? i : 2 * i, second = is_neox ? i + half : 2 * i + 1;
        const T cosine = angles[place[token]][i];
        const T sine = (inverse ? -1 : 1) * angles[place[token]][i + half];
        y[token][head][first] = x[token][head][first] * cosine - x[token][head][second] * sine;
        y[token][head][second] = x[token][head][second] * cosine + x[token][head][first] * sine;
      }
    }
  }
}

}  // namespace

// Each pair of numbers is turned by the angle of its position.
OPGEN_KERNEL(rotary_embedding_cpu)
(const Tensor& query, const Tensor& key, const Tensor& positions, const Tensor& cos_sin_cache,
 bool is_neox, bool inverse) {
  OPGEN_CHECK(positions.dim() == 1 && positions.scalar_type() == kLong,
              "rotary_embedding: positions is a vector of integers");
  OPGEN_CHECK(cos_sin_cache.dim() == 2 && cos_sin_cache.size(1) % 2 == 0,
              "rotary_embedding: rows of cosines and sines are expected");
  check_rotation(query, key, positions, cos_sin_cache);
  for (std::int64_t i = 0; i < positions.size(0); ++i) {
    const std::int64_t place = positions.accessor<const std::int64_t, 1>()[i];
    OPGEN_CHECK_INDEX(place >= 0 && place < cos_sin_cache.size(0), "rotary_embedding: no position ",
                      place);
  }
  const Tensor turned_query = opgen::empty(query.sizes(), query.options());
  const Tensor turned_key = opgen::empty(key.sizes(), key.options());
  opgen::dispatch<float, double>(query.scalar_type(), "rotary_embedding", [&]<class scalar_t> {
    rotate<scalar_t>(query, positions, cos_sin_cache, is_neox, inverse, turned_query);
    rotate<scalar_t>(key, positions, cos_sin_cache, is_neox, inverse, turned_key);
  });
  return {turned_query, turned_key};
}
OPGEN_KERNEL(rotary_embedding_meta)
(const Tensor& query, const Tensor& key, const Tensor& positions, const Tensor& cos_sin_cache, bool,
 bool) {
  OPGEN_CHECK(positions.dim() == 1 && cos_sin_cache.dim() == 2,
              "rotary_embedding: positions is a vector, the cache a matrix");
  check_rotation(query, key, positions, cos_sin_cache);
  return {opgen::empty_symint(query.sym_sizes(), query.options()),
          opgen::empty_symint(key.sym_sizes(), key.options())};
}
