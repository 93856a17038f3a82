// loops.cpp: what cpu_kernel needs that does not depend on its function.
#include "opgen/cpu/loops.h"

#include <algorithm>

namespace opgen::detail {

void throw_unsupported_dtype(const char* name, ScalarType dtype) {
  OPGEN_CHECK_NOT_IMPLEMENTED(false, "'", name, "' is not implemented for dtype ", dtype);
  __builtin_unreachable();
}

void throw_kernel_dtypes(const TensorIteratorBase& iter, std::initializer_list<ScalarType> dtypes,
                         int noutputs) {
  OPGEN_INTERNAL_ASSERT(
      iter.ntensors() == static_cast<int>(dtypes.size()) && iter.noutputs() == noutputs,
      "a kernel of ", dtypes.size() - static_cast<std::size_t>(noutputs), " inputs and ", noutputs,
      " outputs runs over ", iter.ninputs(), " inputs and ", iter.noutputs(), " outputs");
  int i = 0;
  for (ScalarType dtype : dtypes) {
    OPGEN_INTERNAL_ASSERT(iter.dtype(i) == dtype, "operand ", i, " has dtype ", iter.dtype(i),
                          ", but the kernel's function takes ", dtype);
    ++i;
  }
}

namespace {

// One operand runs along the inner dimension in long steps, and along the outer one in short steps:
// transposed.
bool wants_tiles(int ntensors, const std::int64_t* strides, std::int64_t inner,
                 std::int64_t outer) {
  if (inner < 16 || outer < 16) return false;
  for (int k = 0; k < ntensors; ++k) {
    std::int64_t step = std::abs(strides[k]);
    std::int64_t outer_step = std::abs(strides[ntensors + k]);
    if (step >= 64 && outer_step != 0 && outer_step <= 16) return true;
  }
  return false;
}

// A tile's lines of every operand stay in the first-level cache: 32 rows of 64 elements.
void run_tiles(TensorIteratorBase::loop1d_t row, int ntensors, char** data,
               const std::int64_t* strides, std::int64_t inner, std::int64_t outer) {
  constexpr std::int64_t tile_inner = 64;
  constexpr std::int64_t tile_outer = 32;
  TensorIteratorBase::PtrVector at(static_cast<std::size_t>(ntensors));
  for (std::int64_t i = 0; i < outer; i += tile_outer) {
    std::int64_t rows = std::min(tile_outer, outer - i);
    for (std::int64_t j = 0; j < inner; j += tile_inner) {
      std::int64_t columns = std::min(tile_inner, inner - j);
      for (std::int64_t y = i; y < i + rows; ++y) {
        for (int k = 0; k < ntensors; ++k) {
          at[std::size_t(k)] = data[k] + y * strides[ntensors + k] + j * strides[k];
        }
        row(at.data(), strides, columns);
      }
    }
  }
}

}  // namespace

void for_each_row(TensorIteratorBase& iter, TensorIteratorBase::loop1d_t row, std::int64_t grain) {
  int n = iter.ntensors();
  if (iter.ndim() <= 1 && iter.numel() <= grain && n <= 4) {
    // Small and simple: none of the machinery below.
    if (iter.numel() == 0) return;
    char* data[4];
    std::int64_t strides[4] = {};
    for (int k = 0; k < n; ++k) {
      data[k] = static_cast<char*>(iter.data_ptr(k));
      if (iter.ndim() == 1) strides[k] = iter.strides(k)[0];
    }
    row(data, strides, iter.numel());
    return;
  }
  iter.for_each(
      [row, n](char** data, const std::int64_t* strides, std::int64_t inner, std::int64_t outer) {
        if (outer == 1) {
          row(data, strides, inner);
        } else if (wants_tiles(n, strides, inner, outer)) {
          run_tiles(row, n, data, strides, inner, outer);
        } else {
          TensorIteratorBase::PtrVector at(data, data + n);
          for (std::int64_t i = 0; i < outer; ++i) {
            row(at.data(), strides, inner);
            for (int k = 0; k < n; ++k) at[std::size_t(k)] += strides[n + k];
          }
        }
      },
      grain);
}

}  // namespace opgen::detail
