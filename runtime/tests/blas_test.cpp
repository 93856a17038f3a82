// blas_test.cpp: products by the BLAS equal the sums written out, in every layout; what it cannot
// do it leaves alone.
#include "opgen/blas.h"

#include "check.h"
#include "tensors.h"

using namespace tensors;

namespace {

std::vector<double> slow_product(const Tensor& a, const Tensor& b) {
  std::vector<double> x = values(a), y = values(b), result;
  std::size_t rows = std::size_t(a.size(0)), inner = std::size_t(a.size(1));
  std::size_t columns = std::size_t(b.size(1));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < inner; ++k) sum += x[i * inner + k] * y[k * columns + j];
      result.push_back(sum);
    }
  }
  return result;
}

}  // namespace

TEST(every_layout) {
  if (detail::blas_library() == nullptr) return;  // none was found
  for (ScalarType dtype : {kFloat, kDouble}) {
    for (int layout = 0; layout < 8; ++layout) {
      Tensor a = (layout & 1) != 0 ? t(arange({20, 17}, dtype)) : arange({17, 20}, dtype);
      Tensor b = (layout & 2) != 0 ? t(arange({19, 20}, dtype)) : arange({20, 19}, dtype);
      Tensor out = (layout & 4) != 0 ? t(empty({19, 17}, dtype)) : empty({17, 19}, dtype);
      CHECK(detail::blas_mm(a, b, out));
      CHECK(values(out) == slow_product(a, b));
    }
    // Rows with a gap between them.
    Tensor wide = strided(arange({17 * 32}, dtype), {17, 20}, {32, 1});
    Tensor b = arange({20, 19}, dtype), out = empty({17, 19}, dtype);
    CHECK(detail::blas_mm(wide, b, out));
    CHECK(values(out) == slow_product(wide, b));
  }
}

TEST(what_is_left_to_others) {
  Tensor a = arange({32, 32}), out = empty({32, 32});
  CHECK(!detail::blas_mm(arange({32, 32}, kLong), arange({32, 32}, kLong), empty({32, 32}, kLong)));
  Tensor gaps = strided(arange({32 * 64}), {32, 32}, {64, 2});
  CHECK(!detail::blas_mm(gaps, a, out));
  Tensor row = strided(arange({32}), {32, 32}, {0, 1});
  CHECK(!detail::blas_mm(row, a, out));
  CHECK(!detail::blas_mm(empty({32, 0}), empty({0, 32}), out));
}
