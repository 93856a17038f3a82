// common.h: helpers that several kernel files share: dimension arguments, scalars, loops over
// memory.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include <opgen/kernel.h>

#include "math.h"

// The parameters that a factory's kernel has for its TensorOptions.
#define OPGEN_OPTIONS                                                                          \
  std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device, \
      std::optional<bool> pin_memory

namespace kernels {

using opgen::DimMask;
using opgen::has_dim;
using opgen::Size;

// Returns `dim`, counted from the end if negative. A zero-dim tensor counts as one-dimensional.
inline int64_t wrap_dim(int64_t dim, int64_t ndim) {
  return opgen::maybe_wrap_dim(dim, ndim);
}

// Missing or empty `dim` means all dimensions.
inline DimMask mask_of(OptionalIntArrayRef dims, int64_t ndim) {
  return opgen::make_dim_mask(dims, ndim);
}
// For `any` and `all`, where an empty list means no dimension.
inline DimMask mask_of_listed(OptionalIntArrayRef dims, int64_t ndim) {
  return opgen::make_dim_mask(dims, ndim, /*empty_means_none=*/true);
}

inline DimVector reduced_shape(IntArrayRef sizes, DimMask mask, bool keepdim) {
  return opgen::shape_from_dim_mask(sizes, mask, keepdim);
}

// Calls f(offsets) for each index of `sizes` in row-major order, on several threads. `strides[k]`
// are the strides of operand k and offsets[k] its offset, in elements. Each call handles about
// `work` elements, which determines the number of threads.
template <size_t N, class F>
void for_each_index(IntArrayRef sizes, const std::array<IntArrayRef, N>& strides, F f,
                    int64_t work = 1) {
  int64_t total = 1;
  for (int64_t size : sizes) total *= size;
  const auto ndim = static_cast<int64_t>(sizes.size());
  const int64_t grain = std::max<int64_t>(1, opgen::kGrainSize / std::max<int64_t>(1, work));
  opgen::parallel_for(0, total, grain, [&](int64_t begin, int64_t end) {
    DimVector index(sizes.size(), 0);
    std::array<int64_t, N> offset{};
    int64_t rest = begin;
    for (int64_t d = ndim - 1; d >= 0; --d) {
      index[d] = rest % sizes[d];
      rest /= sizes[d];
      for (size_t k = 0; k < N; ++k) offset[k] += index[d] * strides[k][d];
    }
    for (int64_t i = begin; i < end; ++i) {
      f(offset);
      for (int64_t d = ndim - 1; d >= 0; --d) {
        for (size_t k = 0; k < N; ++k) offset[k] += strides[k][d];
        if (++index[d] < sizes[d]) break;
        for (size_t k = 0; k < N; ++k) offset[k] -= sizes[d] * strides[k][d];
        index[d] = 0;
      }
    }
  });
}

// Calls f(offsets) for each line of the first tensor along `dim`. The offsets are the starts of the
// line in all tensors. The tensors have the same number of dimensions, and the same sizes except in
// `dim`.
template <size_t N, class F>
void for_each_line(int64_t dim, const std::array<const TensorBase*, N>& tensors, F f) {
  DimVector sizes(tensors[0]->sizes());
  std::array<IntArrayRef, N> strides;
  for (size_t k = 0; k < N; ++k) strides[k] = tensors[k]->strides();
  int64_t work = 1;
  if (!sizes.empty()) {
    work = sizes[static_cast<size_t>(dim)];
    sizes[static_cast<size_t>(dim)] = 1;
  }
  for_each_index<N>(sizes, strides, f, work);
}

// Calls f with an integer type of the size of an element, for kernels that only move elements.
template <class F>
void dispatch_by_size(size_t itemsize, F f) {
  switch (itemsize) {
    case 1:
      return f.template operator()<uint8_t>();
    case 2:
      return f.template operator()<uint16_t>();
    case 4:
      return f.template operator()<uint32_t>();
    case 8:
      return f.template operator()<uint64_t>();
    case 16:
      return f.template operator()<std::array<uint64_t, 2>>();
    default:
      OPGEN_CHECK(false, "elements of ", itemsize, " bytes are not supported");
  }
}

inline bool same_sizes(IntArrayRef a, IntArrayRef b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// Wraps a number in a tensor that type promotion treats as a number.
inline Tensor number(const Scalar& value) {
  return opgen::wrapped_scalar_tensor(value);
}

// Converts to `dtype`; returns the tensor itself if it already has the dtype.
inline Tensor to_dtype(const TensorBase& self, ScalarType dtype) {
  return opgen::to_dtype(self, dtype);
}

// A copy in which each bool is 0 or 1, for kernels that compare elements as numbers; other tensors
// as they are. See element_at().
inline Tensor with_plain_bools(const Tensor& self) {
  return self.scalar_type() == opgen::kBool ? to_dtype(to_dtype(self, opgen::kByte), opgen::kBool)
                                            : self;
}

// Resizes an unstructured kernel's out tensor to the shape of the result; warns if it has elements
// and another shape.
inline void resize_out(const Tensor& out, IntArrayRef sizes) {
  opgen::resize_output(out, sizes);
}

// Resizes the out tensor of a factory. Does not warn, because the caller has given the shape.
inline void resize_factory_out(const Tensor& out, IntArrayRef sizes) {
  if (same_sizes(out.sizes(), sizes)) {
    opgen::resize_output(out, sizes);
  } else {
    opgen::resize_(out, sizes);
  }
}

// Checks that a result of dtype `result` may be written to an out tensor of dtype `out`.
inline void check_can_cast(ScalarType result, ScalarType out) {
  OPGEN_CHECK(canCast(result, out), "result type ", result,
              " can't be cast to the desired output type ", out);
}

// Checks that the result can be cast to an out tensor's dtype, resizes the tensor and copies the
// result to it.
inline Tensor& cast_result(Tensor& out, const Tensor& result) {
  check_can_cast(result.scalar_type(), out.scalar_type());
  resize_out(out, result.sizes());
  opgen::copy_(out, result);
  return out;
}

// Checks the dtype of a composite's out tensor, resizes it and copies the result to it.
inline Tensor& copy_result(Tensor& out, const Tensor& result, const char* name) {
  OPGEN_CHECK(out.scalar_type() == result.scalar_type(), name,
              ": Expected out tensor to have dtype ", result.scalar_type(), ", but got ",
              out.scalar_type(), " instead");
  resize_out(out, result.sizes());
  opgen::copy_(out, result);
  return out;
}

}  // namespace kernels
