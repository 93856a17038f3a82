// matmul.cpp: products of matrices and vectors, and the triangles of a matrix.
#include <opgen/kernel.h>

#include <algorithm>
#include <memory>

#include <aten/ops/addmm.h>
#include <aten/ops/addmm_native.h>
#include <aten/ops/baddbmm_native.h>
#include <aten/ops/bmm.h>
#include <aten/ops/bmm_native.h>
#include <aten/ops/dot.h>
#include <aten/ops/dot_native.h>
#include <aten/ops/inner.h>
#include <aten/ops/inner_native.h>
#include <aten/ops/linear.h>
#include <aten/ops/linear_native.h>
#include <aten/ops/matmul.h>
#include <aten/ops/matmul_native.h>
#include <aten/ops/mm.h>
#include <aten/ops/mm_native.h>
#include <aten/ops/mul.h>
#include <aten/ops/mv.h>
#include <aten/ops/mv_native.h>
#include <aten/ops/outer.h>
#include <aten/ops/outer_native.h>
#include <aten/ops/tril_native.h>
#include <aten/ops/triu_native.h>

#include <opgen/cpu/blas.h>
#include <opgen/cpu/gemm.h>
#include <opgen/cpu/row_buffers.h>
#include <opgen/tensor/memory_overlap.h>

#include "common.h"
#include "devices.h"
#include "optional.h"
#include "sum.h"

using namespace kernels;
using opgen::blas_gemm;
using opgen::MatrixView;

namespace {

template <class T>
struct Matrix {
  T* data;
  int64_t rows, columns, row_stride, column_stride;
};

// The sum of products of n integers or complex numbers, in blocks: integers wrap around, so that
// the order does not matter, and the sums of blocks of complex numbers are added pairwise.
template <class T>
sum_t<T> sum_of_products(const T* a, int64_t a_stride, const T* b, int64_t b_stride, int64_t n) {
  constexpr int64_t block = 128, lanes = 8;
  PairwiseSum<sum_t<T>> total;
  T left[block], right[block];
  const auto line = [](const T* from, int64_t stride, int64_t count, T* buffer) {
    if (stride == 1) return from;
    for (int64_t k = 0; k < count; ++k) buffer[k] = from[k * stride];
    return static_cast<const T*>(buffer);
  };
  for (int64_t i = 0; i < n; i += block) {
    const int64_t count = std::min(block, n - i);
    const T* x = line(a + i * a_stride, a_stride, count, left);
    const T* y = line(b + i * b_stride, b_stride, count, right);
    if constexpr (is_complex_v<T>) {
      using R = real_t<T>;
      // Products of equal parts, and of different parts.
      const R* u = reinterpret_cast<const R*>(x);
      const R* v = reinterpret_cast<const R*>(y);
      R equal[lanes] = {}, crossed[lanes] = {};
      int64_t k = 0;
      for (; k + lanes <= 2 * count; k += lanes) {
        for (int64_t l = 0; l < lanes; ++l) equal[l] += u[k + l] * v[k + l];
        for (int64_t l = 0; l < lanes; ++l) crossed[l] += u[k + l] * v[k + (l ^ 1)];
      }
      for (int64_t l = 0; k < 2 * count; ++k, ++l) {
        equal[l] += u[k] * v[k];
        crossed[l] += u[k] * v[k ^ 1];
      }
      R real = 0, imaginary = 0;
      for (int64_t l = 0; l < lanes; l += 2) {
        real += equal[l] - equal[l + 1];
        imaginary += crossed[l] + crossed[l + 1];
      }
      total.add(T(real, imaginary));
    } else {
      sum_t<T> sum = 0;
      for (int64_t k = 0; k < count; ++k) {
        sum = plus(sum, times(static_cast<sum_t<T>>(x[k]), static_cast<sum_t<T>>(y[k])));
      }
      total.add(sum);
    }
  }
  return total.result();
}

// Calls finish(i, j, sum over k of a[i, k] * b[k, j]) for each element. Reads rows of `b` in blocks
// that stay in the cache. The sums have the wider type, so that half types are rounded only once.
template <class T, class Finish>
void multiply(const Matrix<const T>& a, const Matrix<const T>& b, Finish finish) {
  using wide = sum_t<T>;
  if constexpr (!is_float_v<T>) {
    if (b.columns == 1 && std::abs(a.column_stride) <= std::abs(a.row_stride)) {
      const int64_t rows = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, a.columns));
      opgen::parallel_for(0, a.rows, rows, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          finish(i, 0,
                 sum_of_products(a.data + i * a.row_stride, a.column_stride, b.data, b.row_stride,
                                 a.columns));
        }
      });
      return;
    }
  }
  constexpr int64_t block = 256;
  opgen::parallel_for(
      0, a.rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, a.columns * b.columns)),
      [&](int64_t begin, int64_t end) {
        // Not zeroed, and no larger than needed: for small matrices, that took half of the time.
        const int64_t held = std::min(block, b.rows) * std::min(block, b.columns);
        const auto packed = std::make_unique_for_overwrite<wide[]>(static_cast<size_t>(held));
        std::vector<wide> sums;
        for (int64_t j0 = 0; j0 < b.columns; j0 += block) {
          const int64_t width = std::min(block, b.columns - j0);
          sums.assign(static_cast<size_t>((end - begin) * width), wide(0));
          for (int64_t k0 = 0; k0 < b.rows; k0 += block) {
            const int64_t depth = std::min(block, b.rows - k0);
            for (int64_t k = 0; k < depth; ++k) {
              const T* row = b.data + (k0 + k) * b.row_stride + j0 * b.column_stride;
              for (int64_t j = 0; j < width; ++j)
                packed[k * width + j] = static_cast<wide>(row[j * b.column_stride]);
            }
            for (int64_t i = begin; i < end; ++i) {
              wide* sum = sums.data() + (i - begin) * width;
              for (int64_t k = 0; k < depth; ++k) {
                const wide factor =
                    static_cast<wide>(a.data[i * a.row_stride + (k0 + k) * a.column_stride]);
                const wide* row = packed.get() + k * width;
                for (int64_t j = 0; j < width; ++j) sum[j] = plus(sum[j], times(factor, row[j]));
              }
            }
          }
          for (int64_t i = begin; i < end; ++i) {
            for (int64_t j = 0; j < width; ++j) finish(i, j0 + j, sums[(i - begin) * width + j]);
          }
        }
      });
}

template <class T>
Matrix<const T> matrix_of(const MatrixView& view) {
  return {static_cast<const T*>(view.data), view.rows, view.columns, view.row_stride,
          view.column_stride};
}

// A smaller product takes less time than the blocks of a large one.
constexpr int64_t worth_blocks = 1000;

bool is_worth_blocks(const MatrixView& a, const MatrixView& b) {
  return a.rows * a.columns * b.columns >= worth_blocks;
}

// The real or the imaginary parts of a matrix of complex numbers, whose parts have type R.
template <class R>
MatrixView parts_of(const MatrixView& matrix, int64_t part) {
  MatrixView parts = matrix;
  parts.data = static_cast<R*>(matrix.data) + part;
  parts.dtype = opgen::scalar_type_of<R>;
  parts.row_stride *= 2;
  parts.column_stride *= 2;
  return parts;
}

// The same for complex numbers, as four products of real matrices.
template <class R, class Finish>
void complex_product(const MatrixView& a, const MatrixView& b, Finish finish) {
  const auto size = static_cast<size_t>(a.rows * b.columns);
  const auto real = std::make_unique_for_overwrite<R[]>(size);
  const auto imaginary = std::make_unique_for_overwrite<R[]>(size);
  const auto add = [&](int64_t part_of_a, int64_t part_of_b, R* to, auto change) {
    const auto finish_row = [&](int64_t i, int64_t j, const R* sums, int64_t n) {
      for (int64_t k = 0; k < n; ++k) change(to[i * b.columns + j + k], sums[k]);
    };
    opgen::multiply_matrices(parts_of<R>(a, part_of_a), parts_of<R>(b, part_of_b),
                             opgen::FinishRow<R>(finish_row));
  };
  add(0, 0, real.get(), [](R& sum, R x) { sum = x; });
  add(1, 1, real.get(), [](R& sum, R x) { sum -= x; });
  add(0, 1, imaginary.get(), [](R& sum, R x) { sum = x; });
  add(1, 0, imaginary.get(), [](R& sum, R x) { sum += x; });
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < b.columns; ++j) {
      const int64_t at = i * b.columns + j;
      finish(i, j, complex<R>(real[at], imaginary[at]));
    }
  }
}

// Calls finish(i, j, sum) as above, without a BLAS.
template <class T, class Finish>
void product(const MatrixView& a, const MatrixView& b, Finish finish) {
  using R = real_t<T>;
  if constexpr (is_complex_v<T> && (std::is_same_v<R, float> || std::is_same_v<R, double>)) {
    if (a.rows > 1 && b.columns > 1 && is_worth_blocks(a, b)) {
      return complex_product<R>(a, b, finish);
    }
  }
  if constexpr (is_float_v<T> || (std::is_integral_v<T> && !std::is_same_v<T, bool>)) {
    if (is_worth_blocks(a, b)) {
      using bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
      using wide = std::conditional_t<is_float_v<T>, sum_t<T>, bits>;
      const auto finish_row = [&](int64_t i, int64_t j, const wide* sums, int64_t n) {
        for (int64_t k = 0; k < n; ++k) finish(i, j + k, static_cast<sum_t<T>>(sums[k]));
      };
      return opgen::multiply_matrices(a, b, opgen::FinishRow<wide>(finish_row));
    }
  }
  multiply<T>(matrix_of<T>(a), matrix_of<T>(b), finish);
}

// Writes a product to `out`.
template <class T>
void product_into(const MatrixView& a, const MatrixView& b, const MatrixView& out) {
  T* to = static_cast<T*>(out.data);
  const int64_t row = out.row_stride, column = out.column_stride;
  if constexpr (is_half_v<T>) {
    // Rows are rounded by vectors.
    if (column == 1 && is_worth_blocks(a, b)) {
      const auto store = [=](int64_t i, int64_t j, const float* sums, int64_t n) {
        opgen::store_row_as(to + i * row + j, sums, n);
      };
      return opgen::multiply_matrices(a, b, opgen::FinishRow<float>(store));
    }
  }
  if (column == 1) {
    product<T>(a, b,
               [=](int64_t i, int64_t j, auto sum) { to[i * row + j] = static_cast<T>(sum); });
  } else {
    product<T>(a, b, [=](int64_t i, int64_t j, auto sum) {
      to[i * row + j * column] = static_cast<T>(sum);
    });
  }
}

// Computes out = beta * addend + alpha * mat1 * mat2 with a BLAS. Returns false if that is not
// possible.
bool blas_addmm(const Tensor& addend, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                const Scalar& alpha, const Tensor& out) {
  using opgen::get_overlap_status;
  using opgen::MemOverlapStatus;
  const MatrixView left(mat1), right(mat2), result(out);
  if (!opgen::blas_takes(left, right, result)) return false;
  if (!beta.equal(0)) {
    // The BLAS adds to `out`, so the addend is copied there first; a factor must not share its
    // memory.
    if (get_overlap_status(out, mat1) != MemOverlapStatus::No) return false;
    if (get_overlap_status(out, mat2) != MemOverlapStatus::No) return false;
    const MemOverlapStatus status = get_overlap_status(out, addend);
    if (status == MemOverlapStatus::No) {
      opgen::copy_(out, addend);
    } else if (status != MemOverlapStatus::Full) {
      return false;
    }
  }
  return blas_gemm(left, right, result, beta, alpha);
}

// With alpha 0, NaN in the factors is ignored, too, except for half types, as in PyTorch.
template <class scalar_t>
bool ignores_product(const Scalar& alpha) {
  return alpha.to<sum_t<scalar_t>>() == sum_t<scalar_t>(0) && !is_half_v<scalar_t>;
}

// Computes out = beta * addend + alpha * a * b without a BLAS.
template <class scalar_t>
void add_product(const MatrixView& addend, const MatrixView& a, const MatrixView& b,
                 const MatrixView& out, const Scalar& beta, const Scalar& alpha) {
  using wide = sum_t<scalar_t>;
  const wide times_product = alpha.to<wide>(), times_addend = beta.to<wide>();
  const bool ignored = times_addend == wide(0);  // the addend is, even if it contains NaN
  const scalar_t* from = static_cast<const scalar_t*>(addend.data);
  scalar_t* to = static_cast<scalar_t*>(out.data);
  const int64_t from_row = addend.row_stride, from_column = addend.column_stride;
  const int64_t to_row = out.row_stride, to_column = out.column_stride;
  const auto finish = [=](int64_t i, int64_t j, wide product) {
    const wide value =
        ignored ? product
                : plus(product, times(times_addend,
                                      static_cast<wide>(from[i * from_row + j * from_column])));
    to[i * to_row + j * to_column] = static_cast<scalar_t>(value);
  };
  if (ignores_product<scalar_t>(alpha)) {
    for (int64_t i = 0; i < out.rows; ++i) {
      for (int64_t j = 0; j < out.columns; ++j) finish(i, j, wide(0));
    }
    return;
  }
  if constexpr (is_half_v<scalar_t>) {
    if (to_column == 1 && (ignored || from_column == 1) && is_worth_blocks(a, b)) {
      const auto add_row = [=](int64_t i, int64_t j, const float* sums, int64_t n) {
        constexpr int64_t most = 256;
        float values[most], addends[most];
        for (int64_t k = 0; k < n; k += most) {
          const int64_t count = std::min(most, n - k);
          for (int64_t c = 0; c < count; ++c) values[c] = times_product * sums[k + c];
          if (!ignored) {
            const scalar_t* line = from + i * from_row + j + k;
            const float* added = opgen::row_as<float>(line, count, addends);
            for (int64_t c = 0; c < count; ++c) values[c] += times_addend * added[c];
          }
          opgen::store_row_as(to + i * to_row + j + k, values, count);
        }
      };
      return opgen::multiply_matrices(a, b, opgen::FinishRow<float>(add_row));
    }
  }
  product<scalar_t>(
      a, b, [=](int64_t i, int64_t j, wide sum) { finish(i, j, times(times_product, sum)); });
}

void check_matrices(const Tensor& a, const Tensor& b, const char* name) {
  OPGEN_CHECK(a.dim() == 2, name, ": self must be a matrix, but it has ", a.dim(), " dimensions");
  OPGEN_CHECK(b.dim() == 2, name, ": mat2 must be a matrix, but it has ", b.dim(), " dimensions");
  OPGEN_CHECK(a.size(1) == b.size(0), "mat1 and mat2 shapes cannot be multiplied (", a.size(0), "x",
              a.size(1), " and ", b.size(0), "x", b.size(1), ")");
}

// Calls f(i) for each product of a batch, of which the first is a * b = out. Threads divide the
// batch if there are enough products, else each product; a BLAS has threads of its own.
template <class F>
void for_each_matrix(const MatrixView& a, const MatrixView& b, const MatrixView& out, int64_t batch,
                     const F& f) {
  const int64_t work = a.rows * a.columns * b.columns;
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  };
  if (batch < opgen::get_num_threads() || opgen::blas_takes(a, b, out)) return run(0, batch);
  opgen::parallel_for(0, batch, std::max<int64_t>(1, 8 * opgen::kGrainSize / (work + 1)), run);
}

void check_dtypes(const Tensor& a, const Tensor& b) {
  OPGEN_CHECK(a.scalar_type() == b.scalar_type(),
              "expected m1 and m2 to have the same dtype, but got: ", a.scalar_type(),
              " != ", b.scalar_type());
  check_same_device("a matrix product", a, b);
}

// The same for batches of matrices, and their dtypes.
void check_batches(const Tensor& a, const Tensor& b) {
  OPGEN_CHECK(a.dim() == 3, "batch1 must be a 3D tensor");
  OPGEN_CHECK(b.dim() == 3, "batch2 must be a 3D tensor");
  OPGEN_CHECK(a.size(0) == b.size(0) && a.size(2) == b.size(1),
              "Expected size for first two dimensions of batch2 tensor to be: [", a.size(0), ", ",
              a.size(2), "] but got: [", b.size(0), ", ", b.size(1), "].");
  check_dtypes(a, b);
}

}  // namespace

OPGEN_META_FUNC(mm)(const Tensor& self, const Tensor& mat2) {
  check_matrices(self, mat2, "mm");
  check_dtypes(self, mat2);
  set_output_raw_strided(0, {self.size(0), mat2.size(1)}, {}, self.options());
}
OPGEN_IMPL_FUNC(mm_out_cpu)(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  if (self.numel() == 0 || mat2.numel() == 0) {
    opgen::zero_(out);
    return;
  }
  if (blas_gemm(MatrixView(self), MatrixView(mat2), MatrixView(out))) return;
  OPGEN_DISPATCH_ALL_BUT_BOOL(self.scalar_type(), "mm", [&] {
    product_into<scalar_t>(MatrixView(self), MatrixView(mat2), MatrixView(out));
  });
}

OPGEN_META_FUNC(bmm)(const Tensor& self, const Tensor& mat2) {
  check_batches(self, mat2);
  set_output_raw_strided(0, {self.size(0), self.size(1), mat2.size(2)}, {}, self.options());
}
OPGEN_IMPL_FUNC(bmm_out_cpu)(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  if (self.numel() == 0 || mat2.numel() == 0) {
    opgen::zero_(out);
    return;
  }
  OPGEN_DISPATCH_ALL_BUT_BOOL(self.scalar_type(), "bmm", [&] {
    for_each_matrix(MatrixView(self, 0), MatrixView(mat2, 0), MatrixView(out, 0), self.size(0),
                    [&](int64_t n) {
                      const MatrixView left(self, n), right(mat2, n), result(out, n);
                      if (!blas_gemm(left, right, result))
                        product_into<scalar_t>(left, right, result);
                    });
  });
}

OPGEN_META_FUNC(addmm)
(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& /*beta*/,
 const Scalar& /*alpha*/) {
  OPGEN_CHECK(mat1.dim() == 2, "mat1 must be a matrix, got ", mat1.dim(), "-D tensor");
  OPGEN_CHECK(mat2.dim() == 2, "mat2 must be a matrix, got ", mat2.dim(), "-D tensor");
  check_matrices(mat1, mat2, "addmm");
  check_dtypes(mat1, mat2);
  check_same_device("addmm", self, mat1);
  OPGEN_CHECK(self.scalar_type() == mat1.scalar_type(),
              "self and mat2 must have the same dtype, but got ", self.scalar_type(), " and ",
              mat2.scalar_type());
  const DimVector shape = {mat1.size(0), mat2.size(1)};
  OPGEN_CHECK(opgen::is_expandable_to(self.sizes(), shape), "The expanded size of the tensor ",
              shape, " must match the existing size ", self.sizes());
  set_output_raw_strided(0, shape, {}, mat1.options());
}
OPGEN_IMPL_FUNC(addmm_out_cpu)
(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
 const Scalar& alpha, const Tensor& out) {
  if (out.numel() == 0) return;
  const Tensor addend = self.expand(out.sizes());
  OPGEN_DISPATCH_ALL_BUT_BOOL(mat1.scalar_type(), "addmm", [&] {
    if (!ignores_product<scalar_t>(alpha) && blas_addmm(addend, mat1, mat2, beta, alpha, out)) {
      return;
    }
    add_product<scalar_t>(MatrixView(addend), MatrixView(mat1), MatrixView(mat2), MatrixView(out),
                          beta, alpha);
  });
}

OPGEN_META_FUNC(baddbmm)
(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& /*beta*/,
 const Scalar& /*alpha*/) {
  check_batches(batch1, batch2);
  check_same_device("baddbmm", self, batch1);
  OPGEN_CHECK(self.scalar_type() == batch1.scalar_type(),
              "Input dtypes must be the same, got: input ", self.scalar_type(),
              ", batch1: ", batch1.scalar_type(), ", batch2: ", batch2.scalar_type());
  const DimVector shape = {batch1.size(0), batch1.size(1), batch2.size(2)};
  OPGEN_CHECK(opgen::is_expandable_to(self.sizes(), shape), "The expanded size of the tensor ",
              shape, " must match the existing size ", self.sizes());
  set_output_raw_strided(0, shape, {}, batch1.options());
}
OPGEN_IMPL_FUNC(baddbmm_out_cpu)
(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
 const Scalar& alpha, const Tensor& out) {
  if (out.numel() == 0) return;
  const Tensor addend = self.expand(out.sizes());
  const MatrixView first(batch1, 0), second(batch2, 0), result(out, 0);
  if (opgen::blas_takes(first, second, result)) {
    for (int64_t i = 0; i < out.size(0); ++i) {
      Tensor matrix = out.select(0, i);
      at::addmm_out(matrix, addend.select(0, i), batch1.select(0, i), batch2.select(0, i), beta,
                    alpha);
    }
    return;
  }
  OPGEN_DISPATCH_ALL_BUT_BOOL(out.scalar_type(), "baddbmm", [&] {
    for_each_matrix(first, second, result, out.size(0), [&](int64_t i) {
      add_product<scalar_t>(MatrixView(addend, i), MatrixView(batch1, i), MatrixView(batch2, i),
                            MatrixView(out, i), beta, alpha);
    });
  });
}

// ---- Vectors ----

namespace {

opgen::VectorView vector_of(const Tensor& self) {
  return {self.const_data_ptr(), self.scalar_type(), self.numel(), self.stride(0)};
}

}  // namespace

OPGEN_KERNEL(dot)(const Tensor& self, const Tensor& tensor) {
  OPGEN_CHECK(self.dim() == 1 && tensor.dim() == 1, "1D tensors expected, but got ", self.dim(),
              "D and ", tensor.dim(), "D tensors");
  OPGEN_CHECK(self.scalar_type() == tensor.scalar_type(),
              "dot : expected both vectors to have same dtype, but found ", self.scalar_type(),
              " and ", tensor.scalar_type());
  OPGEN_CHECK(self.numel() == tensor.numel(), "inconsistent tensor size, expected tensor [",
              self.numel(), "] and src [", tensor.numel(),
              "] to have the same number of elements, but got ", self.numel(), " and ",
              tensor.numel(), " elements respectively");
  check_same_device("dot", self, tensor);
  Tensor out = opgen::empty({}, self.options());
  if (out.is_meta()) return out;
  OPGEN_DISPATCH_ALL_BUT_BOOL(self.scalar_type(), "dot", [&] {
    if constexpr (is_float_v<scalar_t>) {
      const double sum = opgen::dot_product(vector_of(self), vector_of(tensor));
      *out.mutable_data_ptr<scalar_t>() = static_cast<scalar_t>(static_cast<wide_t<scalar_t>>(sum));
    } else {
      const auto sum =
          sum_of_products(self.const_data_ptr<scalar_t>(), self.stride(0),
                          tensor.const_data_ptr<scalar_t>(), tensor.stride(0), self.numel());
      *out.mutable_data_ptr<scalar_t>() = static_cast<scalar_t>(sum);
    }
  });
  return out;
}

OPGEN_KERNEL(dot_out)(const Tensor& self, const Tensor& tensor, Tensor& out) {
  return copy_result(out, at::dot(self, tensor), "dot");
}
OPGEN_KERNEL(mv)(const Tensor& self, const Tensor& vec) {
  OPGEN_CHECK(self.dim() == 2 && vec.dim() == 1, "vector + matrix @ vector expected, got ",
              self.dim(), ", ", vec.dim());
  OPGEN_CHECK(self.size(1) == vec.size(0), "size mismatch, got input (", self.size(0), "x",
              self.size(1), "), vec (", vec.size(0), ")");
  return at::mm(self, vec.unsqueeze(1)).squeeze(1);
}
OPGEN_KERNEL(mv_out)(const Tensor& self, const Tensor& vec, Tensor& out) {
  return copy_result(out, at::mv(self, vec), "mv");
}
OPGEN_KERNEL(outer)(const Tensor& self, const Tensor& vec2) {
  OPGEN_CHECK(self.dim() == 1, "outer: Expected 1-D argument self, but got ", self.dim(), "-D");
  OPGEN_CHECK(vec2.dim() == 1, "outer: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  return at::mul(self.unsqueeze(1), vec2);
}
OPGEN_KERNEL(outer_out)(const Tensor& self, const Tensor& vec2, Tensor& out) {
  OPGEN_CHECK(self.dim() == 1, "outer: Expected 1-D argument self, but got ", self.dim(), "-D");
  OPGEN_CHECK(vec2.dim() == 1, "outer: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  return at::mul_out(out, self.unsqueeze(1), vec2);
}

// ---- matmul: vectors become matrices, leading dimensions broadcast as batches ----

OPGEN_KERNEL(matmul)(const Tensor& self, const Tensor& other) {
  OPGEN_CHECK(self.dim() != 0 && other.dim() != 0,
              "both arguments to matmul need to be at least 1D, but they are ", self.dim(),
              "D and ", other.dim(), "D");
  if (self.dim() == 1 && other.dim() == 1) return at::dot(self, other);
  if (self.dim() == 2 && other.dim() == 1) return at::mv(self, other);
  if (self.dim() == 1 && other.dim() == 2) return at::mm(self.unsqueeze(0), other).squeeze(0);
  if (self.dim() == 2 && other.dim() == 2) return at::mm(self, other);
  const Tensor a = self.dim() == 1 ? self.unsqueeze(0) : Tensor(self);
  const Tensor b = other.dim() == 1 ? other.unsqueeze(1) : Tensor(other);
  DimVector result;
  Tensor product;
  if (b.dim() == 2) {
    // If all batches have the same second factor, combine their rows into one tall matrix.
    result.assign(a.sizes().begin(), a.sizes().end() - 1);
    product = at::mm(a.reshape({opgen::multiply_integers(result), a.size(-1)}), b);
    result.push_back(b.size(1));
  } else {
    const IntArrayRef a_batch(a.sizes().data(), static_cast<size_t>(a.dim() - 2));
    const IntArrayRef b_batch(b.sizes().data(), static_cast<size_t>(b.dim() - 2));
    result = opgen::infer_size(a_batch, b_batch);
    const int64_t count = opgen::multiply_integers(result);
    DimVector a_shape(result), b_shape(result);
    a_shape.push_back(a.size(-2));
    a_shape.push_back(a.size(-1));
    b_shape.push_back(b.size(-2));
    b_shape.push_back(b.size(-1));
    product = at::bmm(a.expand(a_shape).reshape({count, a.size(-2), a.size(-1)}),
                      b.expand(b_shape).reshape({count, b.size(-2), b.size(-1)}));
    result.push_back(a.size(-2));
    result.push_back(b.size(-1));
  }
  product = product.view(result);
  if (self.dim() == 1) return product.squeeze(-2);
  if (other.dim() == 1) return product.squeeze(-1);
  return product;
}
OPGEN_KERNEL(matmul_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  return copy_result(out, at::matmul(self, other), "matmul");
}

OPGEN_KERNEL(linear)(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  const bool has_bias = is_given(bias);
  if (input.dim() == 2 && weight.dim() == 2 && has_bias) return at::addmm(*bias, input, weight.t());
  Tensor out = at::matmul(input, weight.t());
  if (!has_bias) return out;
  return opgen::is_expandable_to(bias->sizes(), out.sizes()) ? out.add_(*bias) : out.add(*bias);
}
OPGEN_KERNEL(linear_out)
(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, Tensor& out) {
  return copy_result(out, at::linear(input, weight, bias), "linear");
}

// ---- triu, tril ----

namespace {

void triangle_into(const Tensor& self, int64_t diagonal, bool upper, const Tensor& out) {
  if (self.numel() == 0) return;
  const int64_t n = self.dim();
  const int64_t rows = self.size(-2), columns = self.size(-1);
  const int64_t out_row = out.stride(-2), out_column = out.stride(-1);
  DimVector sizes(self.sizes());
  sizes[n - 1] = sizes[n - 2] = 1;
  diagonal = std::clamp(diagonal, -rows, columns);
  const int64_t grain = std::max<int64_t>(1, opgen::kGrainSize / columns);
  // A copy transposes blocks where it must; then only the other triangle is written.
  const bool copies = !out.is_same(self);
  const bool by_row = self.stride(-1) == 1 && out_column == 1;
  if (copies && !by_row) opgen::copy_(out, self);
  dispatch_by_size(self.itemsize(), [&]<class T>() {
    const T* from = static_cast<const T*>(self.const_data_ptr());
    T* to = static_cast<T*>(out.mutable_data_ptr());
    for_each_index<2>(
        sizes, {self.strides(), out.strides()},
        [&](const std::array<int64_t, 2>& at) {
          opgen::parallel_for(0, rows, grain, [&](int64_t top, int64_t bottom) {
            for (int64_t i = top; i < bottom; ++i) {
              // The row keeps columns [first, last).
              const int64_t split = std::clamp<int64_t>(i + diagonal + (upper ? 0 : 1), 0, columns);
              const int64_t first = upper ? split : 0, last = upper ? columns : split;
              T* row = to + at[1] + i * out_row;
              if (copies && by_row) {
                const T* source = from + at[0] + i * self.stride(-2);
                std::copy(source + first, source + last, row + first);
              }
              const int64_t cleared = upper ? 0 : last, end = upper ? first : columns;
              if (out_column == 1) {
                std::fill(row + cleared, row + end, T{});
              } else {
                for (int64_t j = cleared; j < end; ++j) row[j * out_column] = T{};
              }
            }
          });
        },
        rows * columns);
  });
}

}  // namespace

OPGEN_META_FUNC(triu)(const Tensor& self, Int /*diagonal*/) {
  OPGEN_CHECK(self.dim() >= 2,
              "triu"
              ": input tensor must have at least 2 dimensions");
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(triu_out)(const Tensor& self, int64_t diagonal, const Tensor& out) {
  triangle_into(self, diagonal, true, out);
}

OPGEN_META_FUNC(tril)(const Tensor& self, Int /*diagonal*/) {
  OPGEN_CHECK(self.dim() >= 2,
              "tril"
              ": input tensor must have at least 2 dimensions");
  set_output_raw_strided(0, self.sizes(), {}, self.options());
}
OPGEN_IMPL_FUNC(tril_out)(const Tensor& self, int64_t diagonal, const Tensor& out) {
  triangle_into(self, diagonal, false, out);
}

OPGEN_KERNEL(inner)(const Tensor& self, const Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) return at::mul(self, other);
  OPGEN_CHECK(self.size(-1) == other.size(-1),
              "inner() the last dimension must match on both input tensors but got shapes ",
              self.sizes(), " and ", other.sizes());
  if (self.dim() == 1 && other.dim() == 1) return at::dot(self, other);
  const int64_t width = self.size(-1);
  DimVector shape(self.sizes().slice(0, static_cast<size_t>(self.dim() - 1)));
  const int64_t rows = opgen::multiply_integers(shape);
  const IntArrayRef others = other.sizes().slice(0, static_cast<size_t>(other.dim() - 1));
  const int64_t columns = opgen::multiply_integers(others);
  for (int64_t size : others) shape.push_back(size);
  return at::mm(self.reshape({rows, width}), other.reshape({columns, width}).t()).reshape(shape);
}
OPGEN_KERNEL(inner_out)(const Tensor& self, const Tensor& other, Tensor& out) {
  if (self.dim() == 0 || other.dim() == 0) return at::mul_out(out, self, other);
  return copy_result(out, at::inner(self, other), "inner");
}
