// gemm_test.cpp: products without a BLAS equal plain sums, for every layout, for sizes on both
// sides of each block, and for any number of threads.
#include "opgen/cpu/gemm.h"

#include <cmath>
#include <type_traits>

#include "check.h"
#include "opgen/core/parallel.h"
#include "tensors.h"

using namespace tensors;
using opgen::MatrixView;

namespace {

// Small whole numbers, whose sums every dtype here represents exactly.
Tensor whole(std::int64_t rows, std::int64_t columns, ScalarType dtype) {
  Tensor made = empty({rows, columns}, kDouble);
  double* to = made.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < made.numel(); ++i)
    to[i] = static_cast<double>((i * 7 + i / 5) % 3) - 1;
  return opgen::detail::to_dtype(made, dtype);
}

// The last bits of a sum of integers are a number with a sign.
template <class W>
double number(W sum) {
  if constexpr (std::is_integral_v<W>) {
    return static_cast<double>(static_cast<std::make_signed_t<W>>(sum));
  } else {
    return static_cast<double>(sum);
  }
}

template <class W>
std::vector<double> product(const Tensor& a, const Tensor& b) {
  const std::int64_t columns = b.size(1);
  std::vector<double> result(static_cast<std::size_t>(a.size(0) * columns), NAN);
  opgen::multiply_matrices(
      MatrixView(a), MatrixView(b),
      opgen::FinishRow<W>([&](std::int64_t i, std::int64_t j, const W* sums, std::int64_t n) {
        for (std::int64_t k = 0; k < n; ++k) {
          double& at = result[static_cast<std::size_t>(i * columns + j + k)];
          // Each element comes once.
          at = std::isnan(at) ? number(sums[k]) : NAN;
        }
      }));
  return result;
}

std::vector<double> product_of(const Tensor& a, const Tensor& b) {
  const ScalarType dtype = a.scalar_type();
  if (dtype == kLong) return product<std::uint64_t>(a, b);
  if (isIntegralType(dtype, /*include_bool=*/false)) return product<std::uint32_t>(a, b);
  return dtype == kDouble ? product<double>(a, b) : product<float>(a, b);
}

std::vector<double> plain_product(const Tensor& a, const Tensor& b) {
  std::vector<double> x = values(a), y = values(b), result;
  const auto rows = static_cast<std::size_t>(a.size(0)),
             inner = static_cast<std::size_t>(a.size(1));
  const auto columns = static_cast<std::size_t>(b.size(1));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < inner; ++k) sum += x[i * inner + k] * y[k * columns + j];
      result.push_back(sum);
    }
  }
  return result;
}

Tensor laid_out(std::int64_t rows, std::int64_t columns, ScalarType dtype, int layout) {
  switch (layout) {
    case 0:
      return whole(rows, columns, dtype);
    case 1:
      return t(whole(columns, rows, dtype));
    case 2:  // gaps between rows and between elements
      return strided(whole(rows, 3 * columns, dtype), {rows, columns}, {3 * columns, 2});
    default:  // all rows in one place
      return strided(whole(1, columns, dtype), {rows, columns}, {0, 1});
  }
}

}  // namespace

TEST(layouts_and_dtypes) {
  for (ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kByte, kChar, kShort, kInt, kLong}) {
    for (int layout = 0; layout < 16; ++layout) {
      const Tensor a = laid_out(13, 29, dtype, layout % 4), b = laid_out(29, 35, dtype, layout / 4);
      CHECK(product_of(a, b) == plain_product(a, b));
    }
  }
}

TEST(sizes_beyond_each_block) {
  for (ScalarType dtype : {kFloat, kDouble, kBFloat16, kInt, kLong}) {
    for (std::int64_t rows : {1, 2, 97, 970}) {
      for (std::int64_t inner : {1, 3, 257, 515}) {
        // Pairs have blocks of twice the depth.
        if (inner == 515 && (dtype != kBFloat16 || rows == 970)) continue;
        for (std::int64_t columns : {1, 2, 17, 513}) {
          if (rows * inner * columns > 20'000'000) continue;
          const Tensor a = whole(rows, inner, dtype), b = whole(inner, columns, dtype);
          CHECK(product_of(a, b) == plain_product(a, b));
        }
      }
    }
  }
}

TEST(no_terms_give_zeros) {
  CHECK(product<float>(empty({3, 0}), empty({0, 5})) == std::vector<double>(15, 0.0));
}

TEST(sums_of_integers_wrap_around) {
  const std::int64_t large = (std::int64_t(1) << 62) + 1;
  const Tensor a = full({13, 29}, large, kLong), b = full({29, 35}, 3, kLong);
  opgen::multiply_matrices(
      MatrixView(a), MatrixView(b),
      opgen::FinishRow<std::uint64_t>(
          [&](std::int64_t, std::int64_t, const std::uint64_t* sums, std::int64_t n) {
            for (std::int64_t k = 0; k < n; ++k) CHECK_EQ(sums[k], std::uint64_t(large) * 87);
          }));
}

TEST(infinity_stays_in_its_row) {
  for (ScalarType dtype : {kFloat, kBFloat16}) {
    for (double large : {double(INFINITY), std::nan("")}) {
      // The last element of an odd number is a pair with zero.
      for (std::int64_t place : {2, 8}) {
        Tensor a = full({7, 9}, 1, dtype), b = full({9, 19}, 1, dtype);
        opgen::tensor_functions::copy_(strided(a, {1}, {1}, 3 * 9 + place),
                                       full({1}, large, dtype));
        const std::vector<double> got = product<float>(a, b);
        for (std::size_t i = 0; i < got.size(); ++i) {
          if (i / 19 != 3) {
            CHECK_EQ(got[i], 9.0);
          } else {
            CHECK(std::isnan(large) ? std::isnan(got[i]) : got[i] == large);
          }
        }
      }
    }
  }
}

// Instructions for pairs of bfloat16 take them for zeros.
TEST(subnormal_numbers_count) {
  for (int layout = 0; layout < 4; ++layout) {
    for (bool first : {true, false}) {
      Tensor small = full({18, 18}, 0x1p-130, kBFloat16),
             large = full({18, 18}, 0x1p120, kBFloat16);
      if (layout % 2 != 0) small = t(small);
      if (layout / 2 != 0) small = strided(full({18, 36}, 0x1p-130, kBFloat16), {18, 18}, {36, 2});
      const auto got = first ? product<float>(small, large) : product<float>(large, small);
      for (double each : got) CHECK_EQ(each, 18 * 0x1p-10);
    }
  }
}

TEST(threads_do_not_change_a_bit) {
  const int before = opgen::get_num_threads();
  Tensor a = empty({301, 300}), b = empty({300, 203});
  for (const Tensor& each : {a, b}) {
    float* to = each.mutable_data_ptr<float>();
    for (std::int64_t i = 0; i < each.numel(); ++i) to[i] = std::sin(static_cast<float>(i));
  }
  const Tensor column = strided(b, {300, 1}, {203, 1});
  opgen::set_num_threads(1);
  const std::vector<double> one = product<float>(a, b), vector = product<float>(a, column),
                            turned = product<float>(t(a), strided(a, {301, 1}, {300, 1}));
  for (int threads : {2, 3, 7}) {
    opgen::set_num_threads(threads);
    CHECK(product<float>(a, b) == one);
    CHECK(product<float>(a, column) == vector);
    CHECK(product<float>(t(a), strided(a, {301, 1}, {300, 1})) == turned);
  }
  opgen::set_num_threads(before);
}

TEST(dot_products) {
  for (ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    for (std::int64_t n : {0, 1, 7, 63, 1000, 1025, 4099}) {
      const Tensor a = whole(1, n, dtype), b = whole(1, 2 * n + 1, dtype);
      double expected = 0;
      const std::vector<double> x = values(a), y = values(b);
      for (std::size_t i = 0; i < x.size(); ++i) expected += x[i] * y[2 * i];
      CHECK_EQ(
          opgen::dot_product({a.const_data_ptr(), dtype, n, 1}, {b.const_data_ptr(), dtype, n, 2}),
          expected);
    }
  }
}
