// blas.cpp: loads the BLAS at the first matrix product that is large enough, so that other programs
// do not have its threads and start-up time.
#include "opgen/cpu/blas.h"

#include <dlfcn.h>

#include <climits>

#include "opgen/core/parallel.h"

namespace opgen {

namespace {

// BLAS functions have Fortran's names and conventions: arguments are passed by address, and
// matrices are column-major.
template <class T>
using Gemm = void (*)(const char* transa, const char* transb, const int* m, const int* n,
                      const int* k, const T* alpha, const T* a, const int* lda, const T* b,
                      const int* ldb, const T* beta, T* c, const int* ldc);

struct Blas {
  const char* name = nullptr;
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
  Gemm<complex<float>> cgemm = nullptr;
  Gemm<complex<double>> zgemm = nullptr;
  void (*set_threads)(int) = nullptr;  // OpenBLAS
};

Blas load() noexcept {
  Blas blas;
#if defined(OPGEN_BLAS_LIBRARY)
  void* library = ::dlopen(OPGEN_BLAS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return blas;
  blas.sgemm = reinterpret_cast<Gemm<float>>(::dlsym(library, "sgemm_"));
  blas.dgemm = reinterpret_cast<Gemm<double>>(::dlsym(library, "dgemm_"));
  blas.cgemm = reinterpret_cast<Gemm<complex<float>>>(::dlsym(library, "cgemm_"));
  blas.zgemm = reinterpret_cast<Gemm<complex<double>>>(::dlsym(library, "zgemm_"));
  blas.set_threads = reinterpret_cast<void (*)(int)>(::dlsym(library, "openblas_set_num_threads"));
  if (blas.sgemm && blas.dgemm && blas.cgemm && blas.zgemm) blas.name = OPGEN_BLAS_LIBRARY;
#endif
  return blas;
}

const Blas& blas() noexcept {
  static const Blas one = load();
  return one;
}

// A column-major matrix. A row-major matrix is passed as its transpose.
struct Operand {
  char transposed = 'N';
  int lead = 0;
  bool fits = false;

  explicit Operand(const MatrixView& matrix) noexcept {
    if (matrix.rows > INT_MAX || matrix.columns > INT_MAX) return;
    fits = leads(matrix.rows, matrix.row_stride, matrix.columns, matrix.column_stride);
    if (fits) {
      transposed = 'T';
    } else {
      fits = leads(matrix.columns, matrix.column_stride, matrix.rows, matrix.row_stride);
    }
  }

 private:
  // Returns whether lines of `length` adjacent elements do not overlap. The stride of a dimension
  // of size one does not matter.
  bool leads(std::int64_t lines, std::int64_t step, std::int64_t length, std::int64_t stride) {
    if (lines == 1) step = length;
    if ((stride != 1 && length != 1) || step < length || step < 1 || step > INT_MAX) return false;
    lead = static_cast<int>(step);
    return true;
  }
};

struct Product {
  const MatrixView& a;
  const MatrixView& b;
  const MatrixView& out;
  Operand left{a};
  Operand right{b};
  Operand result{out};

  [[nodiscard]] bool fits() const noexcept { return left.fits && right.fits && result.fits; }

  template <class T>
  void run(Gemm<T> gemm, const Scalar& beta, const Scalar& alpha) const {
    // A row-major result is computed as out^T = b^T * a^T, which is column-major.
    bool swap = result.transposed == 'T';
    auto flip = [](char c) { return c == 'N' ? 'T' : 'N'; };
    char trans_first = swap ? flip(right.transposed) : left.transposed;
    char trans_second = swap ? flip(left.transposed) : right.transposed;
    int m = static_cast<int>(swap ? out.columns : out.rows);
    int n = static_cast<int>(swap ? out.rows : out.columns);
    int k = static_cast<int>(a.columns);
    T times = alpha.to<T>();
    T kept = beta.to<T>();
    const T* first = static_cast<const T*>(swap ? b.data : a.data);
    const T* second = static_cast<const T*>(swap ? a.data : b.data);
    gemm(&trans_first, &trans_second, &m, &n, &k, &times, first, swap ? &right.lead : &left.lead,
         second, swap ? &left.lead : &right.lead, &kept, static_cast<T*>(out.data), &result.lead);
  }
};

// A smaller product takes less time than the BLAS needs to check its arguments.
constexpr std::int64_t kWorthIt = 16 * 16 * 16;

}  // namespace

const char* blas_library() {
  return blas().name;
}

MatrixView::MatrixView(const TensorBase& matrix)
    : data(matrix.data_ptr()),
      dtype(matrix.scalar_type()),
      rows(matrix.sizes()[0]),
      columns(matrix.sizes()[1]),
      row_stride(matrix.strides()[0]),
      column_stride(matrix.strides()[1]) {}

MatrixView::MatrixView(const TensorBase& batch, std::int64_t i)
    : data(static_cast<char*>(batch.data_ptr()) + i * batch.strides()[0] * batch.element_size()),
      dtype(batch.scalar_type()),
      rows(batch.sizes()[1]),
      columns(batch.sizes()[2]),
      row_stride(batch.strides()[1]),
      column_stride(batch.strides()[2]) {}

bool blas_takes(const MatrixView& a, const MatrixView& b, const MatrixView& out) {
  bool known = out.dtype == kFloat || out.dtype == kDouble || out.dtype == kComplexFloat ||
               out.dtype == kComplexDouble;
  std::int64_t k = a.columns;
  if (!known || k == 0 || k > INT_MAX || out.rows * out.columns * k < kWorthIt) return false;
  return Product{a, b, out}.fits() && blas().name != nullptr;
}

bool blas_gemm(const MatrixView& a, const MatrixView& b, const MatrixView& out, const Scalar& beta,
               const Scalar& alpha) {
  if (!blas_takes(a, b, out)) return false;
  Product product{a, b, out};
  if (blas().set_threads != nullptr) {
    blas().set_threads(in_parallel_region() ? 1 : get_num_threads());
  }
  switch (out.dtype) {
    case kFloat:
      product.run(blas().sgemm, beta, alpha);
      break;
    case kDouble:
      product.run(blas().dgemm, beta, alpha);
      break;
    case kComplexFloat:
      product.run(blas().cgemm, beta, alpha);
      break;
    default:
      product.run(blas().zgemm, beta, alpha);
  }
  return true;
}

}  // namespace opgen
