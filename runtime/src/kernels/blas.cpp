// blas.cpp: loads the BLAS at the first matrix product that is large enough, so that other programs
// do not have its threads and start-up time.
#include "opgen/cpu/blas.h"

#include <dlfcn.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "opgen/core/error.h"
#include "opgen/core/parallel.h"

namespace opgen {

namespace {

// BLAS functions have Fortran's names and conventions: arguments are passed by address, and
// matrices are column-major. `Int` is the library's integer, of 32 or 64 bits.
template <class T, class Int>
using Gemm = void (*)(const char* transa, const char* transb, const Int* m, const Int* n,
                      const Int* k, const T* alpha, const T* a, const Int* lda, const T* b,
                      const Int* ldb, const T* beta, T* c, const Int* ldc);
template <class T, class Int>
using Gemv = void (*)(const char* trans, const Int* m, const Int* n, const T* alpha, const T* a,
                      const Int* lda, const T* x, const Int* incx, const T* beta, T* y,
                      const Int* incy);
using Axpy = void (*)(const std::int64_t* n, const float* a, const float* x,
                      const std::int64_t* incx, float* y, const std::int64_t* incy);

struct Blas {
  std::string name;
  std::string problem;
  bool has_wide_integers = false;
  // Products of two matrices, and of a matrix and a vector, of one dtype.
  struct Products {
    void* gemm = nullptr;
    void* gemv = nullptr;
  };
  Products of_float, of_double, of_complex_float, of_complex_double;
  // The number of threads of a product: OpenBLAS, BLIS and MKL. It is the whole process's, so it is
  // not changed; only MKL has one for each thread, whose function returns the number before.
  int (*get_threads)() = nullptr;
  int (*set_threads_of_thread)(int) = nullptr;

  // Finds the functions, whose names have this prefix and suffix. Returns whether all exist.
  bool find(void* library, const std::string& prefix, const std::string& suffix) {
    const auto function = [&](const char* base) {
      return ::dlsym(library, (prefix + base + suffix).c_str());
    };
    auto axpy = reinterpret_cast<Axpy>(function("saxpy"));
    of_float = {function("sgemm"), function("sgemv")};
    of_double = {function("dgemm"), function("dgemv")};
    of_complex_float = {function("cgemm"), function("cgemv")};
    of_complex_double = {function("zgemm"), function("zgemv")};
    if (!axpy) return false;
    for (const Products& each : {of_float, of_double, of_complex_float, of_complex_double}) {
      if (!each.gemm || !each.gemv) return false;
    }
    // In 32 bits, this length is 1; in 64 bits, it is negative, for which saxpy does nothing.
    const std::int64_t length = 1 - (std::int64_t(1) << 32), one = 1;
    const float factor = 1, x = 1;
    float y = 0;
    axpy(&length, &factor, &x, &one, &y, &one);
    has_wide_integers = y == 0;
    return true;
  }

  // Loads a library; returns false if there is none or if it is no BLAS.
  bool load(const char* file) {
    void* library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      problem = ::dlerror();
      return false;
    }
    // OpenBLAS with 64-bit integers adds a suffix; the builds for SciPy also have a prefix.
    if (!find(library, "", "_") && !find(library, "", "_64_") && !find(library, "scipy_", "_") &&
        !find(library, "scipy_", "_64_")) {
      problem = "it has no saxpy_, or no gemm and gemv of four dtypes";
      return false;
    }
    for (const char* getter :
         {"openblas_get_num_threads", "openblas_get_num_threads64_",
          "scipy_openblas_get_num_threads", "scipy_openblas_get_num_threads64_",
          "MKL_Get_Max_Threads", "bli_thread_get_num_threads"}) {
      get_threads = reinterpret_cast<int (*)()>(::dlsym(library, getter));
      if (get_threads != nullptr) break;
    }
    set_threads_of_thread =
        reinterpret_cast<int (*)(int)>(::dlsym(library, "MKL_Set_Num_Threads_Local"));
    name = file;
    return true;
  }
};

Blas load() {
  Blas blas;
  const char* chosen = std::getenv("OPGEN_BLAS_LIBRARY");
  if (chosen != nullptr && *chosen != '\0') {
    if (std::strcmp(chosen, "none") == 0 || blas.load(chosen)) return blas;
    OPGEN_CHECK_VALUE(false, "OPGEN_BLAS_LIBRARY=", chosen, " is not a BLAS: ", blas.problem,
                      "; set it to a library's name or path, or to none");
  }
#if !defined(OPGEN_NO_BLAS)
  for (const char* file : {
#if defined(OPGEN_BLAS_NAME)
         OPGEN_BLAS_NAME,
#endif
             "libopenblas.so.0", "libmkl_rt.so.2", "libblis.so.4"
       }) {
    if (blas.load(file)) return blas;
  }
#endif
  return blas;
}

const Blas& blas() {
  static const Blas one = load();
  return one;
}

// A column-major matrix. A row-major matrix is passed as its transpose.
struct Operand {
  char transposed = 'N';
  std::int64_t lead = 0;
  bool fits = false;

  Operand(const MatrixView& matrix, std::int64_t most) noexcept {
    if (matrix.rows > most || matrix.columns > most) return;
    fits = leads(matrix.rows, matrix.row_stride, matrix.columns, matrix.column_stride, most);
    if (fits) {
      transposed = 'T';
    } else {
      fits = leads(matrix.columns, matrix.column_stride, matrix.rows, matrix.row_stride, most);
    }
  }

 private:
  // Returns whether lines of `length` adjacent elements do not overlap. The stride of a dimension
  // of size one does not matter.
  bool leads(std::int64_t lines, std::int64_t step, std::int64_t length, std::int64_t stride,
             std::int64_t most) {
    if (lines == 1) step = length;
    if ((stride != 1 && length != 1) || step < length || step < 1 || step > most) return false;
    lead = step;
    return true;
  }
};

struct Product {
  const MatrixView& a;
  const MatrixView& b;
  const MatrixView& out;
  std::int64_t most = blas().has_wide_integers ? INT64_MAX : INT_MAX;
  Operand left{a, most};
  Operand right{b, most};
  Operand result{out, most};

  [[nodiscard]] bool fits() const noexcept {
    return left.fits && right.fits && result.fits && a.columns <= most;
  }

  template <class T>
  void run(const Blas::Products& use, const Scalar& beta, const Scalar& alpha) const {
    if (blas().has_wide_integers) {
      run_with<T, std::int64_t>(use, beta.to<T>(), alpha.to<T>());
    } else {
      run_with<T, int>(use, beta.to<T>(), alpha.to<T>());
    }
  }

 private:
  static char flip(char transposed) noexcept { return transposed == 'N' ? 'T' : 'N'; }

  template <class T, class Int>
  void run_with(const Blas::Products& use, T beta, T alpha) const {
    // A product of matrices takes three to four times as long as one of a matrix and a vector.
    if (b.columns == 1) {
      return multiply_vector<T, Int>(use.gemv, left, a, b.data, b.row_stride, out.row_stride, beta,
                                     alpha);
    }
    if (a.rows == 1) {
      Operand turned = right;
      turned.transposed = flip(turned.transposed);
      return multiply_vector<T, Int>(use.gemv, turned, transposed_of(b), a.data, a.column_stride,
                                     out.column_stride, beta, alpha);
    }
    multiply_matrices<T, Int>(use.gemm, beta, alpha);
  }

  static MatrixView transposed_of(MatrixView matrix) noexcept {
    std::swap(matrix.rows, matrix.columns);
    std::swap(matrix.row_stride, matrix.column_stride);
    return matrix;
  }

  // Computes the vector out = beta * out + alpha * matrix * x. `operand` says how the matrix lies.
  template <class T, class Int>
  void multiply_vector(void* gemv, const Operand& operand, const MatrixView& matrix, const void* x,
                       std::int64_t x_stride, std::int64_t out_stride, T beta, T alpha) const {
    const bool plain = operand.transposed == 'N';
    const Int m = static_cast<Int>(plain ? matrix.rows : matrix.columns);
    const Int n = static_cast<Int>(plain ? matrix.columns : matrix.rows);
    const Int lead = static_cast<Int>(operand.lead);
    // The stride of a single number does not matter, and others are positive if they fit.
    const Int x_step = static_cast<Int>(matrix.columns == 1 ? 1 : x_stride);
    const Int out_step = static_cast<Int>(matrix.rows == 1 ? 1 : out_stride);
    reinterpret_cast<Gemv<T, Int>>(gemv)(
        &operand.transposed, &m, &n, &alpha, static_cast<const T*>(matrix.data), &lead,
        static_cast<const T*>(x), &x_step, &beta, static_cast<T*>(out.data), &out_step);
  }

  template <class T, class Int>
  void multiply_matrices(void* gemm, T beta, T alpha) const {
    // A row-major result is computed as out^T = b^T * a^T, which is column-major.
    const bool swap = result.transposed == 'T';
    const char trans_first = swap ? flip(right.transposed) : left.transposed;
    const char trans_second = swap ? flip(left.transposed) : right.transposed;
    const Int m = static_cast<Int>(swap ? out.columns : out.rows);
    const Int n = static_cast<Int>(swap ? out.rows : out.columns);
    const Int k = static_cast<Int>(a.columns);
    const Int first_lead = static_cast<Int>(swap ? right.lead : left.lead);
    const Int second_lead = static_cast<Int>(swap ? left.lead : right.lead);
    const Int lead = static_cast<Int>(result.lead);
    const T* first = static_cast<const T*>(swap ? b.data : a.data);
    const T* second = static_cast<const T*>(swap ? a.data : b.data);
    reinterpret_cast<Gemm<T, Int>>(gemm)(&trans_first, &trans_second, &m, &n, &k, &alpha, first,
                                         &first_lead, second, &second_lead, &beta,
                                         static_cast<T*>(out.data), &lead);
  }
};

int allowed_threads() noexcept {
  return in_parallel_region() ? 1 : get_num_threads();
}
// Sets the number of MKL's threads for products of this thread.
class ThreadsOfThread {
 public:
  ThreadsOfThread() : set_(blas().set_threads_of_thread) {
    if (set_ != nullptr) before_ = set_(allowed_threads());
  }
  ~ThreadsOfThread() {
    if (set_ != nullptr) set_(before_);
  }
  ThreadsOfThread(const ThreadsOfThread&) = delete;
  ThreadsOfThread& operator=(const ThreadsOfThread&) = delete;

 private:
  int (*set_)(int);
  int before_ = 0;
};

// A smaller product takes less time than the BLAS needs to check its arguments.
constexpr std::int64_t kWorthIt = 16 * 16 * 16;

}  // namespace

const char* blas_library() {
  return blas().name.empty() ? nullptr : blas().name.c_str();
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
  if (!known || k == 0 || out.rows * out.columns * k < kWorthIt) return false;
  if (blas().name.empty()) return false;
  // A BLAS with more threads than this region or program may use would only get in its way.
  if (blas().set_threads_of_thread == nullptr && blas().get_threads != nullptr &&
      blas().get_threads() > allowed_threads()) {
    return false;
  }
  return Product{a, b, out}.fits();
}

bool blas_gemm(const MatrixView& a, const MatrixView& b, const MatrixView& out, const Scalar& beta,
               const Scalar& alpha) {
  if (!blas_takes(a, b, out)) return false;
  Product product{a, b, out};
  const ThreadsOfThread threads;
  switch (out.dtype) {
    case kFloat:
      product.run<float>(blas().of_float, beta, alpha);
      break;
    case kDouble:
      product.run<double>(blas().of_double, beta, alpha);
      break;
    case kComplexFloat:
      product.run<complex<float>>(blas().of_complex_float, beta, alpha);
      break;
    default:
      product.run<complex<double>>(blas().of_complex_double, beta, alpha);
  }
  return true;
}

}  // namespace opgen
