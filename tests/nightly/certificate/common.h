// common.h: loops that the kernels of both libraries share.

#pragma once

#include <opgen/kernel.h>

namespace certificate {

using namespace opgen::types;

// A new row-major tensor whose elements are f(element).
template <class F>
Tensor map(const Tensor& x, F f) {
  const Tensor in = opgen::contiguous(x);
  Tensor out = opgen::empty(in.sizes(), in.options());
  OPGEN_DISPATCH_FLOATING_TYPES(in.scalar_type(), "map", [&] {
    const scalar_t* from = in.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    for (int64_t i = 0; i < in.numel(); ++i) to[i] = static_cast<scalar_t>(f(from[i]));
  });
  return out;
}

// A new row-major tensor whose elements are f(element of x, element of y), which have the same
// sizes and dtype.
template <class F>
Tensor map2(const Tensor& x, const Tensor& y, F f) {
  OPGEN_CHECK(x.sizes() == y.sizes(), "expected two tensors of the same sizes");
  OPGEN_CHECK_TYPE(x.scalar_type() == y.scalar_type(), "expected two tensors of the same dtype");
  const Tensor left = opgen::contiguous(x), right = opgen::contiguous(y);
  Tensor out = opgen::empty(x.sizes(), x.options());
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "map2", [&] {
    const scalar_t* a = left.const_data_ptr<scalar_t>();
    const scalar_t* b = right.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    for (int64_t i = 0; i < out.numel(); ++i) to[i] = static_cast<scalar_t>(f(a[i], b[i]));
  });
  return out;
}

// Calls f(element) with a reference to each element of a tensor with any strides.
template <class T, class F>
void each(const Tensor& x, F f) {
  T* base = static_cast<T*>(const_cast<void*>(x.const_data_ptr()));
  for (int64_t i = 0; i < x.numel(); ++i) {
    int64_t rest = i, at = 0;
    for (int64_t d = x.dim() - 1; d >= 0; --d) {
      at += rest % x.size(d) * x.stride(d);
      rest /= x.size(d);
    }
    f(base[at]);
  }
}

// The elements of a floating-point tensor as doubles, in row-major order.
inline std::vector<double> values(const Tensor& x) {
  std::vector<double> found;
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "values", [&] {
    each<scalar_t>(x, [&](scalar_t v) { found.push_back(static_cast<double>(v)); });
  });
  return found;
}

// A tensor like x, of these sizes and elements.
inline Tensor made(const Tensor& x, IntArrayRef sizes, const std::vector<double>& from) {
  Tensor out = opgen::empty(sizes, x.options());
  OPGEN_DISPATCH_FLOATING_TYPES(x.scalar_type(), "made", [&] {
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<scalar_t>(from[i]);
  });
  return out;
}

}  // namespace certificate
