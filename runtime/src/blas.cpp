// blas.cpp: loads the BLAS on the first product that is worth it, so that programs without one do
// not pay for its threads and its start.
#include "opgen/blas.h"

#include <dlfcn.h>

#include <climits>

#include "opgen/parallel.h"

namespace opgen::detail {

namespace {

// Fortran's names and conventions: everything by address, matrices in columns.
template <class T>
using Gemm = void (*)(const char* transa, const char* transb, const int* m, const int* n,
                      const int* k, const T* alpha, const T* a, const int* lda, const T* b,
                      const int* ldb, const T* beta, T* c, const int* ldc);

struct Blas {
  const char* name = nullptr;
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
  void (*set_threads)(int) = nullptr;  // OpenBLAS
};

Blas load() noexcept {
  Blas blas;
#if defined(OPGEN_BLAS_LIBRARY)
  void* library = ::dlopen(OPGEN_BLAS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return blas;
  blas.sgemm = reinterpret_cast<Gemm<float>>(::dlsym(library, "sgemm_"));
  blas.dgemm = reinterpret_cast<Gemm<double>>(::dlsym(library, "dgemm_"));
  blas.set_threads = reinterpret_cast<void (*)(int)>(::dlsym(library, "openblas_set_num_threads"));
  if (blas.sgemm != nullptr && blas.dgemm != nullptr) blas.name = OPGEN_BLAS_LIBRARY;
#endif
  return blas;
}

const Blas& blas() noexcept {
  static const Blas one = load();
  return one;
}

// A matrix in columns, or in rows: then it is its transpose in columns.
struct Operand {
  char transposed = 'N';
  int lead = 0;
  bool fits = false;

  explicit Operand(const TensorBase& matrix) noexcept {
    std::int64_t rows = matrix.sizes()[0];
    std::int64_t columns = matrix.sizes()[1];
    std::int64_t row_step = matrix.strides()[0];
    std::int64_t column_step = matrix.strides()[1];
    auto is_lead = [](std::int64_t step, std::int64_t length) {
      return step >= length && step >= 1 && step <= INT_MAX;
    };
    if (rows > INT_MAX || columns > INT_MAX) return;
    if (column_step == 1 && is_lead(row_step, columns)) {
      transposed = 'T';
      lead = static_cast<int>(row_step);
      fits = true;
    } else if (row_step == 1 && is_lead(column_step, rows)) {
      lead = static_cast<int>(column_step);
      fits = true;
    }
  }
};

template <class T>
void multiply(Gemm<T> gemm, const TensorBase& a, const TensorBase& b, const TensorBase& out,
              const Operand& left, const Operand& right, const Operand& result) {
  // A result in rows is out^T = b^T * a^T in columns.
  bool swap = result.transposed == 'T';
  auto flip = [](char c) { return c == 'N' ? 'T' : 'N'; };
  char trans_first = swap ? flip(right.transposed) : left.transposed;
  char trans_second = swap ? flip(left.transposed) : right.transposed;
  int m = static_cast<int>(swap ? out.sizes()[1] : out.sizes()[0]);
  int n = static_cast<int>(swap ? out.sizes()[0] : out.sizes()[1]);
  int k = static_cast<int>(a.sizes()[1]);
  T one = 1;
  T zero = 0;
  const T* first = static_cast<const T*>(swap ? b.const_data_ptr() : a.const_data_ptr());
  const T* second = static_cast<const T*>(swap ? a.const_data_ptr() : b.const_data_ptr());
  gemm(&trans_first, &trans_second, &m, &n, &k, &one, first, swap ? &right.lead : &left.lead,
       second, swap ? &left.lead : &right.lead, &zero, static_cast<T*>(out.mutable_data_ptr()),
       &result.lead);
}

// Products smaller than this are done before a BLAS has looked at its arguments.
constexpr std::int64_t kWorthIt = 16 * 16 * 16;

}  // namespace

const char* blas_library() {
  return blas().name;
}

bool blas_mm(const TensorBase& a, const TensorBase& b, const TensorBase& out) {
  ScalarType dtype = out.scalar_type();
  if (dtype != kFloat && dtype != kDouble) return false;
  std::int64_t k = a.sizes()[1];
  if (out.numel() == 0 || k == 0 || k > INT_MAX || out.numel() * k < kWorthIt) return false;
  Operand left(a);
  Operand right(b);
  Operand result(out);
  if (!left.fits || !right.fits || !result.fits || blas().name == nullptr) return false;
  if (blas().set_threads != nullptr) {
    blas().set_threads(in_parallel_region() ? 1 : get_num_threads());
  }
  if (dtype == kFloat) {
    multiply<float>(blas().sgemm, a, b, out, left, right, result);
  } else {
    multiply<double>(blas().dgemm, a, b, out, left, right, result);
  }
  return true;
}

}  // namespace opgen::detail
