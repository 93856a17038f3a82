// compare.cpp: equal and allclose.
#include "opgen/cpu/compare.h"

#include <cmath>

#include "opgen/core/dispatch.h"
#include "opgen/cpu/element.h"
#include "opgen/tensor.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/shape_utils.h"

namespace opgen {

namespace {

// Returns the tensor whose elements can be read: itself, or a copy on the CPU.
TensorBase readable_elements(const TensorBase& tensor, const char* function) {
  OPGEN_CHECK(!tensor.is_meta(), function,
              "() cannot compare tensors on meta, which have no elements");
  TensorBase read = detail::to_device(tensor, kCPU);
  OPGEN_CHECK(read.has_storage(), function,
              "() does not work inside vmap, where a tensor stands for a whole batch");
  return read;
}

void check_comparable(const TensorBase& a, const TensorBase& b, const char* function) {
  OPGEN_CHECK(a.defined() && b.defined(), function, "() cannot compare an undefined tensor");
  OPGEN_CHECK(a.scalar_type() == b.scalar_type(), function,
              "() cannot compare tensors of different dtypes, ", a.scalar_type(), " and ",
              b.scalar_type());
  OPGEN_CHECK(a.device() == b.device(), function,
              "() cannot compare tensors on different devices, ", a.device(), " and ", b.device());
}

template <class T>
double distance(T a, T b) {
  if constexpr (is_complex_type<T>::value) {
    return std::hypot(static_cast<double>(a.real()) - static_cast<double>(b.real()),
                      static_cast<double>(a.imag()) - static_cast<double>(b.imag()));
  } else {
    return std::abs(static_cast<double>(a) - static_cast<double>(b));
  }
}
template <class T>
bool is_nan(T value) {
  if constexpr (is_complex_type<T>::value) {
    return std::isnan(value.real()) || std::isnan(value.imag());
  } else {
    return std::isnan(static_cast<double>(value));
  }
}

struct Tolerance {
  double relative;
  double absolute;
  bool equal_nan;
};

template <class T>
bool is_close(T p, T q, const Tolerance* tolerance) {
  if (p == q) return true;
  if (tolerance == nullptr) return false;
  if (tolerance->equal_nan && is_nan(p) && is_nan(q)) return true;
  const double apart = distance(p, q);
  return std::isfinite(apart) &&
         apart <= tolerance->absolute + tolerance->relative * distance(q, T(0));
}

// Compares two tensors with the same sizes. Returns whether all pairs of elements are equal or,
// with a tolerance, close.
template <class T>
OPGEN_NOINLINE bool all_close(const TensorBase& a, const TensorBase& b, std::size_t dim, const T* x,
                              const T* y, const Tolerance* tolerance) {
  if (dim == a.sizes().size()) {
    return is_close(element_at(x), element_at(y), tolerance);
  }
  for (std::int64_t i = 0; i < a.sizes()[dim]; ++i) {
    const T* p = x + i * a.strides()[dim];
    const T* q = y + i * b.strides()[dim];
    if (!all_close(a, b, dim + 1, p, q, tolerance)) return false;
  }
  return true;
}

bool all_close(const TensorBase& a, const TensorBase& b, const char* function,
               const Tolerance* tolerance) {
  if (a.numel() == 0) return true;
  return dispatch<NumberTypes, bool>(a.scalar_type(), function, [&]<class T> {
    return all_close(a, b, 0, a.const_data_ptr<T>(), b.const_data_ptr<T>(), tolerance);
  });
}

}  // namespace

namespace tensor_functions {

bool equal(const TensorBase& a, const TensorBase& b) {
  check_comparable(a, b, "equal");
  if (a.sizes() != b.sizes()) return false;
  return all_close(readable_elements(a, "equal"), readable_elements(b, "equal"), "equal", nullptr);
}

bool allclose(const TensorBase& a, const TensorBase& b, double rtol, double atol, bool equal_nan) {
  check_comparable(a, b, "allclose");
  OPGEN_CHECK(rtol >= 0 && atol >= 0, "allclose() needs tolerances that are not negative: rtol ",
              rtol, ", atol ", atol);
  const DimVector sizes = detail::infer_size(a.sizes(), b.sizes());
  const TensorBase x = detail::expand_view(readable_elements(a, "allclose"), sizes);
  const TensorBase y = detail::expand_view(readable_elements(b, "allclose"), sizes);
  const Tolerance tolerance{rtol, atol, equal_nan};
  return all_close(x, y, "allclose", &tolerance);
}

}  // namespace tensor_functions

}  // namespace opgen
