// layers.cpp: layers that combine the elements of rows, and their gradients.
//
// Functions with names that end in _result check the arguments and make the results. Kernels for
// Meta return these, and kernels for the CPU fill them. Sizes may be symbols, see
// docs/guides/kernels.md.
#include <opgen/kernel.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include <lookup/ops/attention_backward_native.h>
#include <lookup/ops/attention_native.h>
#include <lookup/ops/cross_entropy_backward_native.h>
#include <lookup/ops/cross_entropy_native.h>
#include <lookup/ops/layer_norm_backward_native.h>
#include <lookup/ops/layer_norm_native.h>
#include <lookup/ops/linear_native.h>
#include <lookup/ops/outer_sum_native.h>
#include <lookup/ops/transposed_native.h>

using namespace opgen::types;

namespace {

Tensor dense(const Tensor& tensor) {
  return opgen::contiguous(tensor);
}
Tensor empty_like(const Tensor& tensor) {
  return opgen::empty_symint(tensor.sym_sizes(), tensor.options());
}

// Returns the number of rows.
int64_t rows_of(const Tensor& tensor) {
  const int64_t columns = tensor.size(-1);
  return columns == 0 ? 0 : tensor.numel() / columns;
}

template <class T>
T dot(const T* a, const T* b, int64_t n) {
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// Adds factor * from to `to`.
template <class T>
void add_row(T* to, T factor, const T* from, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

// ---- Linear layers -----------------------------------------------------------------------------

Tensor linear_result(const Tensor& input, const Tensor& weight) {
  OPGEN_CHECK(input.dim() >= 1 && weight.dim() == 2 && input.sym_size(-1) == weight.sym_size(1),
              "linear: rows of ", input.sym_sizes(), " against weight of ", weight.sym_sizes());
  std::vector<SymInt> sizes(input.sym_sizes().begin(), input.sym_sizes().end());
  sizes.back() = weight.sym_size(0);
  return opgen::empty_symint(sizes, input.options());
}

Tensor outer_sum_result(const Tensor& left, const Tensor& right) {
  OPGEN_CHECK(left.dim() >= 1 && left.dim() == right.dim(), "outer_sum: different dimensions");
  for (int64_t i = 0; i + 1 < left.dim(); ++i) {
    OPGEN_CHECK(left.sym_size(i) == right.sym_size(i), "outer_sum: different numbers of rows");
  }
  const std::vector<SymInt> sizes{left.sym_size(-1), right.sym_size(-1)};
  return opgen::empty_symint(sizes, left.options());
}

}  // namespace

OPGEN_KERNEL(linear_meta)(const Tensor& input, const Tensor& weight) {
  return linear_result(input, weight);
}
OPGEN_KERNEL(linear_cpu)(const Tensor& input, const Tensor& weight) {
  const Tensor result = linear_result(input, weight), from = dense(input), factor = dense(weight);
  opgen::dispatch<float, double>(input.scalar_type(), "linear", [&]<class scalar_t> {
    const scalar_t* x = from.const_data_ptr<scalar_t>();
    const scalar_t* w = factor.const_data_ptr<scalar_t>();
    scalar_t* y = result.mutable_data_ptr<scalar_t>();
    const int64_t n = weight.size(1), m = weight.size(0);
    for (int64_t row = 0; row < rows_of(result); ++row) {
      for (int64_t i = 0; i < m; ++i) y[row * m + i] = dot(x + row * n, w + i * n, n);
    }
  });
  return result;
}

OPGEN_KERNEL(transposed)(const Tensor& self) {
  OPGEN_CHECK(self.dim() == 2, "transposed: a matrix is expected");
  const std::vector<SymInt> sizes{self.sym_size(1), self.sym_size(0)};
  const std::vector<SymInt> strides{self.sym_stride(1), self.sym_stride(0)};
  return opgen::as_strided_symint(self, sizes, strides);
}

OPGEN_KERNEL(outer_sum_meta)(const Tensor& left, const Tensor& right) {
  return outer_sum_result(left, right);
}
OPGEN_KERNEL(outer_sum_cpu)(const Tensor& left, const Tensor& right) {
  const Tensor result = outer_sum_result(left, right), lefts = dense(left), rights = dense(right);
  opgen::zero_(result);
  opgen::dispatch<float, double>(left.scalar_type(), "outer_sum", [&]<class scalar_t> {
    const scalar_t* a = lefts.const_data_ptr<scalar_t>();
    const scalar_t* b = rights.const_data_ptr<scalar_t>();
    scalar_t* y = result.mutable_data_ptr<scalar_t>();
    const int64_t n = result.size(0), m = result.size(1);
    for (int64_t row = 0; row < rows_of(lefts); ++row) {
      for (int64_t i = 0; i < n; ++i) add_row(y + i * m, a[row * n + i], b + row * m, m);
    }
  });
  return result;
}

// ---- Normalisation -----------------------------------------------------------------------------

namespace {

Tensor layer_norm_result(const Tensor& input, const Tensor& weight) {
  OPGEN_CHECK(input.dim() >= 1 && weight.dim() == 1 && weight.sym_size(0) == input.sym_size(-1),
              "layer_norm: one weight for each column is expected");
  return empty_like(input);
}

// The mean of a row, and 1 / sqrt(variance + eps).
template <class T>
std::tuple<T, T> moments(const T* x, int64_t n, double eps) {
  T mean = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) mean += x[i] / static_cast<T>(n);
  for (int64_t i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
  return {mean, 1 / std::sqrt(squares / static_cast<T>(n) + static_cast<T>(eps))};
}

}  // namespace

OPGEN_KERNEL(layer_norm_meta)
(const Tensor& input, const Tensor& weight, const Tensor&, double) {
  return layer_norm_result(input, weight);
}
OPGEN_KERNEL(layer_norm_cpu)
(const Tensor& input, const Tensor& weight, const Tensor& bias, double eps) {
  const Tensor result = layer_norm_result(input, weight), from = dense(input);
  const Tensor weights = dense(weight), biases = dense(bias);
  OPGEN_CHECK(bias.sizes() == weight.sizes(), "layer_norm: weight and bias differ in shape");
  opgen::dispatch<float, double>(input.scalar_type(), "layer_norm", [&]<class scalar_t> {
    const scalar_t* w = weights.const_data_ptr<scalar_t>();
    const scalar_t* b = biases.const_data_ptr<scalar_t>();
    const int64_t n = input.size(-1);
    for (int64_t row = 0; row < rows_of(from); ++row) {
      const scalar_t* x = from.const_data_ptr<scalar_t>() + row * n;
      scalar_t* y = result.mutable_data_ptr<scalar_t>() + row * n;
      const auto [mean, scale] = moments(x, n, eps);
      for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * w[i] + b[i];
    }
  });
  return result;
}

OPGEN_KERNEL(layer_norm_backward_meta)
(const Tensor&, const Tensor& input, const Tensor& weight, double) {
  return {layer_norm_result(input, weight), empty_like(weight), empty_like(weight)};
}
// With z = (x - mean) scale: dx = scale (w g - mean(w g) - z mean(w g z)).
OPGEN_KERNEL(layer_norm_backward_cpu)
(const Tensor& grad_output, const Tensor& input, const Tensor& weight, double eps) {
  const Tensor grad_input = layer_norm_result(input, weight);
  const Tensor grad_weight = empty_like(weight), grad_bias = empty_like(weight);
  opgen::zero_(grad_weight);
  opgen::zero_(grad_bias);
  const Tensor grads = dense(grad_output), from = dense(input), weights = dense(weight);
  opgen::dispatch<float, double>(input.scalar_type(), "layer_norm_backward", [&]<class scalar_t> {
    const scalar_t* w = weights.const_data_ptr<scalar_t>();
    scalar_t* dw = grad_weight.mutable_data_ptr<scalar_t>();
    scalar_t* db = grad_bias.mutable_data_ptr<scalar_t>();
    const int64_t n = input.size(-1);
    for (int64_t row = 0; row < rows_of(from); ++row) {
      const scalar_t* g = grads.const_data_ptr<scalar_t>() + row * n;
      const scalar_t* x = from.const_data_ptr<scalar_t>() + row * n;
      scalar_t* dx = grad_input.mutable_data_ptr<scalar_t>() + row * n;
      const auto [mean, scale] = moments(x, n, eps);
      scalar_t sum = 0, products = 0;
      for (int64_t i = 0; i < n; ++i) {
        const scalar_t z = (x[i] - mean) * scale;
        sum += w[i] * g[i] / static_cast<scalar_t>(n);
        products += w[i] * g[i] * z / static_cast<scalar_t>(n);
        dw[i] += g[i] * z;
        db[i] += g[i];
      }
      for (int64_t i = 0; i < n; ++i) {
        dx[i] = scale * (w[i] * g[i] - sum - (x[i] - mean) * scale * products);
      }
    }
  });
  return {grad_input, grad_weight, grad_bias};
}

// ---- Attention ---------------------------------------------------------------------------------

namespace {

// Replaces a row by its softmax.
template <class T>
void softmax(T* row, int64_t n) {
  const T highest = *std::max_element(row, row + n);
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += row[i] = std::exp(row[i] - highest);
  for (int64_t i = 0; i < n; ++i) row[i] /= sum;
}

std::tuple<Tensor, Tensor> attention_result(const Tensor& query, const Tensor& key,
                                            const Tensor& value) {
  OPGEN_CHECK(query.dim() == 3 && key.dim() == 3 && value.dim() == 3,
              "attention: batches of matrices are expected");
  OPGEN_CHECK(query.sym_size(0) == key.sym_size(0) && key.sym_size(0) == value.sym_size(0) &&
                  query.sym_size(2) == key.sym_size(2) && key.sym_size(1) == value.sym_size(1),
              "attention: the sizes of query, key and value do not match");
  const SymInt batch = query.sym_size(0), rows = query.sym_size(1);
  const std::vector<SymInt> output{batch, rows, value.sym_size(2)};
  const std::vector<SymInt> probabilities{batch, rows, key.sym_size(1)};
  return {opgen::empty_symint(output, query.options()),
          opgen::empty_symint(probabilities, query.options())};
}

}  // namespace

OPGEN_KERNEL(attention_meta)(const Tensor& query, const Tensor& key, const Tensor& value) {
  return attention_result(query, key, value);
}
OPGEN_KERNEL(attention_cpu)(const Tensor& query, const Tensor& key, const Tensor& value) {
  const auto results = attention_result(query, key, value);
  const Tensor queries = dense(query), keys = dense(key), values = dense(value);
  const Tensor output = std::get<0>(results), probabilities = std::get<1>(results);
  opgen::zero_(output);
  opgen::dispatch<float, double>(query.scalar_type(), "attention", [&]<class scalar_t> {
    const int64_t rows = query.size(1), n = query.size(2), slots = key.size(1), m = value.size(2);
    if (slots == 0) return;
    const scalar_t scale = 1 / std::sqrt(static_cast<scalar_t>(n));
    for (int64_t row = 0; row < query.size(0) * rows; ++row) {
      const scalar_t* q = queries.const_data_ptr<scalar_t>() + row * n;
      const scalar_t* k = keys.const_data_ptr<scalar_t>() + row / rows * slots * n;
      const scalar_t* v = values.const_data_ptr<scalar_t>() + row / rows * slots * m;
      scalar_t* p = probabilities.mutable_data_ptr<scalar_t>() + row * slots;
      for (int64_t j = 0; j < slots; ++j) p[j] = scale * dot(q, k + j * n, n);
      softmax(p, slots);
      scalar_t* y = output.mutable_data_ptr<scalar_t>() + row * m;
      for (int64_t j = 0; j < slots; ++j) add_row(y, p[j], v + j * m, m);
    }
  });
  return results;
}

OPGEN_KERNEL(attention_backward_meta)
(const Tensor&, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor&) {
  return {empty_like(query), empty_like(key), empty_like(value)};
}
// With dp_j = g · v_j and ds_j = p_j (dp_j - sum(p dp)): dq = scale sum(ds_j k_j),
// dk_j = scale ds_j q, and dv_j = p_j g.
OPGEN_KERNEL(attention_backward_cpu)
(const Tensor& grad_output, const Tensor& query, const Tensor& key, const Tensor& value,
 const Tensor& probabilities) {
  const Tensor queries = dense(query), keys = dense(key), values = dense(value);
  const Tensor grads = dense(grad_output), weights = dense(probabilities);
  const Tensor grad_query = empty_like(query), grad_key = empty_like(key);
  const Tensor grad_value = empty_like(value);
  for (const Tensor& result : {grad_query, grad_key, grad_value}) opgen::zero_(result);
  opgen::dispatch<float, double>(query.scalar_type(), "attention_backward", [&]<class scalar_t> {
    const int64_t rows = query.size(1), n = query.size(2), slots = key.size(1), m = value.size(2);
    const scalar_t scale = 1 / std::sqrt(static_cast<scalar_t>(n));
    std::vector<scalar_t> dp(static_cast<size_t>(slots));
    for (int64_t row = 0; row < query.size(0) * rows; ++row) {
      const int64_t first = row / rows * slots;
      const scalar_t* g = grads.const_data_ptr<scalar_t>() + row * m;
      const scalar_t* p = weights.const_data_ptr<scalar_t>() + row * slots;
      const scalar_t* q = queries.const_data_ptr<scalar_t>() + row * n;
      const scalar_t* k = keys.const_data_ptr<scalar_t>() + first * n;
      const scalar_t* v = values.const_data_ptr<scalar_t>() + first * m;
      for (int64_t j = 0; j < slots; ++j) {
        dp[static_cast<size_t>(j)] = dot(g, v + j * m, m);
        add_row(grad_value.mutable_data_ptr<scalar_t>() + (first + j) * m, p[j], g, m);
      }
      const scalar_t sum = dot(p, dp.data(), slots);
      for (int64_t j = 0; j < slots; ++j) {
        const scalar_t ds = scale * p[j] * (dp[static_cast<size_t>(j)] - sum);
        add_row(grad_query.mutable_data_ptr<scalar_t>() + row * n, ds, k + j * n, n);
        add_row(grad_key.mutable_data_ptr<scalar_t>() + (first + j) * n, ds, q, n);
      }
    }
  });
  return {grad_query, grad_key, grad_value};
}

// ---- The loss ----------------------------------------------------------------------------------

namespace {

void check_targets(const Tensor& logits, const Tensor& target) {
  OPGEN_CHECK(logits.dim() == target.dim() + 1, "cross_entropy: one target for each row of logits");
  for (int64_t i = 0; i < target.dim(); ++i) {
    OPGEN_CHECK(logits.sym_size(i) == target.sym_size(i),
                "cross_entropy: one target for each row of logits");
  }
  OPGEN_CHECK_TYPE(target.scalar_type() == opgen::kLong, "cross_entropy: int64 targets expected");
}

// Returns the targets, each of which names a column.
Tensor valid_targets(const Tensor& logits, const Tensor& target) {
  check_targets(logits, target);
  const Tensor classes = dense(target);
  const int64_t* c = classes.const_data_ptr<int64_t>();
  for (int64_t row = 0; row < classes.numel(); ++row) {
    OPGEN_CHECK_INDEX(c[row] >= 0 && c[row] < logits.size(-1), "cross_entropy: target ", c[row],
                      " with ", logits.size(-1), " columns");
  }
  return classes;
}

}  // namespace

OPGEN_KERNEL(cross_entropy_meta)(const Tensor& logits, const Tensor& target) {
  check_targets(logits, target);
  return opgen::empty({}, logits.options());
}
OPGEN_KERNEL(cross_entropy_cpu)(const Tensor& logits, const Tensor& target) {
  const Tensor classes = valid_targets(logits, target), from = dense(logits);
  const Tensor result = opgen::empty({}, logits.options());
  opgen::dispatch<float, double>(logits.scalar_type(), "cross_entropy", [&]<class scalar_t> {
    const int64_t n = logits.size(-1), rows = classes.numel();
    scalar_t total = 0;
    for (int64_t row = 0; row < rows; ++row) {
      const scalar_t* x = from.const_data_ptr<scalar_t>() + row * n;
      const scalar_t highest = *std::max_element(x, x + n);
      scalar_t sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += std::exp(x[i] - highest);
      total += std::log(sum) + highest - x[classes.const_data_ptr<int64_t>()[row]];
    }
    *result.mutable_data_ptr<scalar_t>() = total / static_cast<scalar_t>(rows);
  });
  return result;
}

OPGEN_KERNEL(cross_entropy_backward_meta)
(const Tensor&, const Tensor& logits, const Tensor& target) {
  check_targets(logits, target);
  return empty_like(logits);
}
// (softmax(x) - the one-hot target) / rows.
OPGEN_KERNEL(cross_entropy_backward_cpu)
(const Tensor& grad_output, const Tensor& logits, const Tensor& target) {
  const Tensor classes = valid_targets(logits, target), result = empty_like(logits);
  opgen::copy_(result, logits);
  opgen::dispatch<float, double>(
      logits.scalar_type(), "cross_entropy_backward", [&]<class scalar_t> {
        const int64_t n = logits.size(-1), rows = classes.numel();
        const scalar_t factor =
            *grad_output.const_data_ptr<scalar_t>() / static_cast<scalar_t>(rows);
        for (int64_t row = 0; row < rows; ++row) {
          scalar_t* dx = result.mutable_data_ptr<scalar_t>() + row * n;
          softmax(dx, n);
          dx[classes.const_data_ptr<int64_t>()[row]] -= 1;
          for (int64_t i = 0; i < n; ++i) dx[i] *= factor;
        }
      });
  return result;
}
