// statistics.h: what the normalisations share: dtypes, parameters and statistics in double, and the
// gradient of a normalised row.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "common.h"
#include "devices.h"
#include "optional.h"

namespace kernels {

// Returns the dtype of parameters and statistics: for half types, it may be float. Checks that all
// parameters have it and are on the device of the input.
inline ScalarType parameter_dtype(const char* name, const Tensor& input,
                                  std::initializer_list<const std::optional<Tensor>*> parameters) {
  std::optional<ScalarType> found;
  for (const std::optional<Tensor>* parameter : parameters) {
    if (!is_given(*parameter)) continue;
    const ScalarType kind = (*parameter)->scalar_type();
    OPGEN_CHECK(
        kind == input.scalar_type() ||
            (kind == kFloat && opgen::isReducedFloatingType(input.scalar_type())),
        "mixed dtype (CPU): expect parameter to have scalar type of Float, or that of the input");
    OPGEN_CHECK(!found.has_value() || *found == kind, "expected scalar type ", *found,
                " but found ", kind);
    found = kind;
    check_same_device(name, input, **parameter);
  }
  return found.value_or(input.scalar_type());
}

// Returns the elements as float or double; nothing if there is no tensor.
template <class T>
std::vector<T> values_of(const std::optional<Tensor>& tensor) {
  if (!is_given(tensor)) return {};
  const Tensor dense = opgen::contiguous(to_dtype(*tensor, opgen::scalar_type_of<T>));
  const T* data = dense.const_data_ptr<T>();
  return std::vector<T>(data, data + dense.numel());
}

// Returns the elements in double; `count` times `missing` if there is no tensor.
inline std::vector<double> numbers_of(const std::optional<Tensor>& tensor, int64_t count,
                                      double missing) {
  if (!is_given(tensor)) return std::vector<double>(static_cast<size_t>(count), missing);
  return values_of<double>(tensor);
}

// Writes numbers to a tensor with one dimension.
inline void store(const Tensor& to, const std::vector<double>& numbers) {
  OPGEN_CHECK(to.dim() == 1 && to.numel() == static_cast<int64_t>(numbers.size()),
              "expected a tensor of 1 dimension with ", numbers.size(), " elements, got sizes ",
              to.sizes());
  OPGEN_DISPATCH_FLOATING(to.scalar_type(), "normalisation", [&] {
    scalar_t* data = to.mutable_data_ptr<scalar_t>();
    for (size_t i = 0; i < numbers.size(); ++i) {
      data[static_cast<int64_t>(i) * to.stride(0)] =
          static_cast<scalar_t>(static_cast<wide_t<scalar_t>>(numbers[i]));
    }
  });
}

// How the gradient of a normalised row follows from the gradient g of its result: the statistics
// depend on the row, so the mean of g and its part along the normalised row are removed.
template <class W>
struct RowGradient {
  W centre = 0, slope = 0, shift = 0;
  bool is_linear = false;  // the statistics are constants: slope and shift count for nothing

  // Sets y to g * by - (x - centre) * slope - shift.
  void apply(W* y, const W* g, const W* x, int64_t n, W by) const {
    if (is_linear) {
      for (int64_t i = 0; i < n; ++i) y[i] = g[i] * by;
      return;
    }
    for (int64_t i = 0; i < n; ++i) y[i] = g[i] * by - (x[i] - centre) * slope - shift;
  }
};

}  // namespace kernels
