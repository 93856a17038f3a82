// compare.cpp: equal and allclose.
#include "opgen/cpu/compare.h"

#include <cmath>

#include "opgen/cpu/convert_element.h"
#include "opgen/cpu/dispatch.h"
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

struct Tolerance {
  double relative;
  double absolute;
  bool equal_nan;
};

using Numbers = complex<double>;

bool is_nan(Numbers value) {
  return std::isnan(value.real()) || std::isnan(value.imag());
}
bool is_near(Numbers p, Numbers q, const Tolerance& tolerance) {
  if (tolerance.equal_nan && is_nan(p) && is_nan(q)) return true;
  const double apart = std::hypot(p.real() - q.real(), p.imag() - q.imag());
  return std::isfinite(apart) &&
         apart <= tolerance.absolute + tolerance.relative * std::hypot(q.real(), q.imag());
}

// Whether all pairs of n elements are equal or, with a tolerance, near. Strides are in bytes.
using RowIsClose = bool (*)(const char* x, std::int64_t x_stride, const char* y,
                            std::int64_t y_stride, std::int64_t n, const Tolerance* tolerance);
template <class T>
bool row_is_close(const char* x, std::int64_t x_stride, const char* y, std::int64_t y_stride,
                  std::int64_t n, const Tolerance* tolerance) {
  for (std::int64_t i = 0; i < n; ++i) {
    const T p = element_at(reinterpret_cast<const T*>(x + i * x_stride));
    const T q = element_at(reinterpret_cast<const T*>(y + i * y_stride));
    if (p == q) continue;
    if (tolerance == nullptr || !is_near(convert<Numbers>(p), convert<Numbers>(q), *tolerance))
      return false;
  }
  return true;
}

// Compares dimensions from `dim` on.
bool dims_are_close(const TensorBase& a, const TensorBase& b, std::size_t dim, const char* x,
                    const char* y, RowIsClose row, const Tolerance* tolerance) {
  const std::size_t ndim = a.sizes().size();
  if (dim == ndim) return row(x, 0, y, 0, 1, tolerance);
  const std::int64_t item = static_cast<std::int64_t>(a.itemsize());
  const std::int64_t n = a.sizes()[dim], x_stride = a.strides()[dim] * item,
                     y_stride = b.strides()[dim] * item;
  if (dim + 1 == ndim) return row(x, x_stride, y, y_stride, n, tolerance);
  for (std::int64_t i = 0; i < n; ++i) {
    if (!dims_are_close(a, b, dim + 1, x + i * x_stride, y + i * y_stride, row, tolerance))
      return false;
  }
  return true;
}

// Compares two tensors with the same sizes. Returns whether all pairs of elements are equal or,
// with a tolerance, close.
bool all_close(const TensorBase& a, const TensorBase& b, const char* function,
               const Tolerance* tolerance) {
  if (a.numel() == 0) return true;
  const RowIsClose row = dispatch<NumberTypes, bool>(a.scalar_type(), function,
                                                     []<class T> { return &row_is_close<T>; });
  return dims_are_close(a, b, 0, static_cast<const char*>(a.const_data_ptr()),
                        static_cast<const char*>(b.const_data_ptr()), row, tolerance);
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
