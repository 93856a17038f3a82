// reduce_test.cpp: reductions over any dimensions and layouts, their accuracy, and threads.

#include <cmath>
#include <functional>
#include <limits>

#include "check.h"
#include "opgen/cpu/bounds.h"
#include "opgen/cpu/extremes.h"
#include "opgen/cpu/moments.h"
#include "opgen/cpu/reduce.h"
#include "opgen/cpu/reduce_of.h"
#include "opgen/cpu/softmax.h"
#include "opgen/cpu/truth.h"
#include "opgen/dispatch_macros.h"
#include "tensors.h"

using namespace tensors;

namespace {

Tensor sum(const Tensor& self, OptionalIntArrayRef dims, bool keepdim) {
  opgen::DimMask mask = opgen::make_dim_mask(dims, self.dim());
  Tensor out =
      detail::empty(opgen::shape_from_dim_mask(self.sizes(), mask, keepdim), self.options());
  TensorIterator iter = make_reduction(out, self, dims, keepdim);
  OPGEN_DISPATCH_ALL_BUT_BOOL(self.scalar_type(), "sum", [&] { cpu_sum<scalar_t>(iter); });
  return out;
}

// Returns the elements of each output.
std::vector<std::vector<double>> slices(const Tensor& self, std::uint64_t mask) {
  std::vector<double> all = values(self);
  DimVector kept = opgen::shape_from_dim_mask(self.sizes(), mask, false);
  std::vector<std::vector<double>> result(static_cast<std::size_t>(opgen::multiply_integers(kept)));
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::size_t rest = i;
    std::size_t at = 0;
    std::size_t scale = 1;
    for (std::size_t d = self.sizes().size(); d-- > 0;) {
      std::size_t size = static_cast<std::size_t>(self.sizes()[d]);
      if (!opgen::has_dim(mask, static_cast<std::int64_t>(d))) {
        at += rest % size * scale;
        scale *= size;
      }
      rest /= size;
    }
    result[at].push_back(all[i]);
  }
  return result;
}
// Computes a reduction by its definition.
std::vector<double> slow(const Tensor& self, std::uint64_t mask,
                         const std::function<double(const std::vector<double>&)>& f) {
  std::vector<double> result;
  for (const std::vector<double>& slice : slices(self, mask)) result.push_back(f(slice));
  return result;
}
std::vector<double> slow_sum(const Tensor& self, std::uint64_t mask) {
  return slow(self, mask, [](const std::vector<double>& slice) {
    double total = 0;
    for (double x : slice) total += x;
    return total;
  });
}

}  // namespace

TEST(every_set_of_dimensions) {
  std::vector<Tensor> layouts = {
      arange({3, 4, 5, 2}, kDouble),
      permute(arange({5, 3, 2, 4}, kDouble), {1, 3, 0, 2}),
      strided(arange({900}, kDouble), {3, 4, 5, 2}, {200, 7, 40, 3}, 1),
      expand(arange({3, 1, 5, 1}, kDouble), {3, 4, 5, 2}),
  };
  for (const Tensor& self : layouts) {
    for (std::uint64_t mask = 1; mask < 16; ++mask) {
      DimVector dims;
      for (std::int64_t d = 0; d < 4; ++d) {
        if (opgen::has_dim(mask, d)) dims.push_back(d);
      }
      CHECK(values(sum(self, IntArrayRef(dims), false)) == slow_sum(self, mask));
      CHECK(values(sum(self, IntArrayRef(dims), true)) == slow_sum(self, mask));
    }
  }
}

TEST(no_elements) {
  CHECK_EQ(values(sum(empty({0}), std::nullopt, false)), std::vector<double>{0});
  CHECK_EQ(values(sum(empty({0, 3}), IntArrayRef({0}), false)), (std::vector<double>{0, 0, 0}));
  CHECK_EQ(sum(empty({0, 3}), IntArrayRef({1}), false).numel(), 0);
  CHECK_EQ(values(sum(scalar(4, kFloat), std::nullopt, false)), std::vector<double>{4});
}

// Sums over rows, over columns, and with any strides.
TEST(sums_of_integers_wrap_around) {
  const Scalar most(std::numeric_limits<std::int64_t>::max());
  for (std::int64_t n : {2, 7, 64, 1000}) {
    const auto wrapped = static_cast<std::int64_t>(
        static_cast<std::uint64_t>(n) *
        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
    Tensor row = full({n}, most, kLong);
    CHECK(sum(row, std::nullopt, false).const_data_ptr<std::int64_t>()[0] == wrapped);
    Tensor columns = sum(full({n, 9}, most, kLong), IntArrayRef({0}), false);
    for (int k = 0; k < 9; ++k) CHECK(columns.const_data_ptr<std::int64_t>()[k] == wrapped);
    Tensor sparse = strided(full({3 * n}, most, kLong), {n}, {3}, 0);
    CHECK(sum(sparse, std::nullopt, false).const_data_ptr<std::int64_t>()[0] == wrapped);
  }
}

// Floats whose sum depends on the order of adding.
Tensor uneven(IntArrayRef sizes) {
  Tensor made = empty(sizes);
  std::uint32_t state = 12345;
  for (std::int64_t i = 0; i < made.numel(); ++i) {
    state = state * 1664525u + 1013904223u;
    float value = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
    made.data_ptr<float>()[i] = std::ldexp(value, static_cast<int>(state % 24));
  }
  return made;
}

// Of two tensors that lie in memory in other orders, or are broadcast: their scalar products.
TEST(functions_of_two_tensors) {
  const auto product = [](auto x, auto y) { return x * y; };
  const std::vector<Tensor> layouts = {
      arange({3, 4, 5, 2}, kDouble),
      permute(arange({5, 3, 2, 4}, kDouble), {1, 3, 0, 2}),
      strided(arange({900}, kDouble), {3, 4, 5, 2}, {200, 7, 40, 3}, 1),
      arange({4, 1, 2}, kDouble),
      arange({5, 2}, kDouble),
      scalar(3, kDouble),
  };
  for (const Tensor& a : layouts) {
    for (const Tensor& b : layouts) {
      const DimVector shape(detail::infer_size(a.sizes(), b.sizes()));
      const auto ndim = static_cast<std::int64_t>(shape.size());
      Tensor each = empty(shape, kDouble);
      TensorIterator products = TensorIterator::binary_op(each, a, b);
      cpu_kernel(products, [](double x, double y) { return x * y; });
      for (std::uint64_t mask = 1; mask < (std::uint64_t(1) << ndim); ++mask) {
        for (bool keepdim : {false, true}) {
          Tensor out = empty(opgen::shape_from_dim_mask(shape, mask, keepdim), kDouble);
          TensorIterator iter = make_reduction_of(out, a, b, mask);
          cpu_sum_of<double, double>(iter, product);
          CHECK(values(out) == slow_sum(each, mask));
        }
      }
    }
  }
  Tensor halves = full({300, 70}, 2, kBFloat16), out = empty({}, kBFloat16);
  TensorIterator iter = make_reduction_of(out, halves, full({70}, 3, kBFloat16), 3);
  cpu_sum_of<BFloat16, BFloat16>(iter, product, [](float sum) { return sum / 21000; });
  CHECK_EQ(values(out)[0], 6.0);
  Tensor none = empty({});
  TensorIterator of_none = make_reduction_of(none, empty({0, 3}), empty({3}), 3);
  cpu_sum_of<float, float>(of_none, product);
  CHECK_EQ(values(none)[0], 0.0);
  Tensor largest = empty({3});
  TensorIterator extremes = make_reduction_of(largest, arange({2, 3}), scalar(-1, kFloat), 1);
  cpu_reduce_of<float, float>(extremes, least_extreme<float, true>(), LargestOf(), product);
  CHECK_EQ(values(largest), (std::vector<double>{0, -1, -2}));
}

TEST(functions_of_two_tensors_have_the_same_bits_for_any_number_of_threads) {
  const auto product = [](float x, float y) { return x * y; };
  Tensor a = uneven({kGrainSize * 9 + 17}), matrix = uneven({331, 130, 7});
  const std::vector<std::pair<Tensor, Tensor>> cases = {
      {a, a}, {matrix, uneven({130, 7})}, {permute(matrix, {2, 0, 1}), uneven({331, 1})}};
  for (const auto& [x, y] : cases) {
    for (std::uint64_t mask = 1; mask < (std::uint64_t(1) << x.dim()); ++mask) {
      Tensor out = empty(opgen::shape_from_dim_mask(x.sizes(), mask, false));
      std::vector<double> alone;
      for (int threads : {1, 2, 7}) {
        set_num_threads(threads);
        TensorIterator iter = make_reduction_of(out, x, y, mask);
        cpu_sum_of<float, float>(iter, product);
        if (threads == 1) alone = values(out);
        CHECK(values(out) == alone);
      }
    }
  }
  set_num_threads(1);
}

TEST(sums_are_accurate) {
  // Adding floats of 0.1 one after the other would lose three digits here.
  for (std::int64_t n : {1000003, 4000000}) {
    Tensor a = full({n}, 0.1f);
    double exact = static_cast<double>(n) * static_cast<double>(0.1f);
    CHECK(std::fabs(values(sum(a, std::nullopt, false))[0] - exact) / exact < 3e-7);
    Tensor columns = full({n / 4, 4}, 0.1f);
    double each = static_cast<double>(n / 4) * static_cast<double>(0.1f);
    for (double v : values(sum(columns, IntArrayRef({0}), false))) {
      CHECK(std::fabs(v - each) / each < 1e-6);
    }
  }
  Tensor halves = full({10000}, 1, kHalf);
  CHECK_EQ(values(sum(halves, std::nullopt, false))[0], 10000.0);
}

TEST(the_same_bits_for_any_number_of_threads_and_without_opgen_kernels) {
  const auto finder = opgen::detail::fold_finder.load_acquire();
  CHECK(finder != nullptr);
  Tensor flat = uneven({kGrainSize * 9 + 17});
  // Sums of doubles show in which order they are added, if the numbers have more bits than floats.
  Tensor doubles = detail::to_dtype(flat, kDouble);
  for (std::int64_t i = 0; i < doubles.numel(); ++i) doubles.data_ptr<double>()[i] /= 3;
  Tensor cube = uneven({70, 331, 130});
  std::vector<std::pair<Tensor, std::vector<std::int64_t>>> cases = {
      {flat, {0}},
      {strided(flat, {kGrainSize * 4}, {2}, 1), {0}},
      {strided(doubles, {kGrainSize * 4}, {2}, 1), {0}},
      {strided(doubles, {4, kGrainSize}, {kGrainSize * 2 + 7, 2}), {0, 1}},
      {cube, {0, 1, 2}},
      {permute(cube, {1, 2, 0}), {0, 1, 2}},
      {cube, {0}},
      {cube, {1}},
      {cube, {2}},
      {cube, {0, 2}},
      {permute(cube, {2, 0, 1}), {0, 1}},
  };
  for (const auto& [self, dims] : cases) {
    set_num_threads(1);
    std::vector<double> alone = values(sum(self, IntArrayRef(dims), false));
    for (int threads : {2, 3, 7}) {
      set_num_threads(threads);
      for (int i = 0; i < 3; ++i) CHECK(values(sum(self, IntArrayRef(dims), false)) == alone);
    }
    opgen::detail::fold_finder.store_release(nullptr);
    CHECK(values(sum(self, IntArrayRef(dims), false)) == alone);
    opgen::detail::fold_finder.store_release(finder);
  }
  set_num_threads(1);
}

TEST(other_folds) {
  Tensor a = strided(arange({60}), {5, 4}, {1, 13});
  Tensor out = empty({5});
  TensorIterator iter = make_reduction(out, a, IntArrayRef({1}), false);
  cpu_reduce<float, float>(
      iter, -1.0f, [](float m, float x) { return x > m ? x : m; },
      [](float p, float q) { return p > q ? p : q; }, [](float m) { return m; });
  CHECK_EQ(values(out), (std::vector<double>{39, 40, 41, 42, 43}));
  CHECK_THROWS(Error, "instead of",
               static_cast<void>(make_reduction(empty({4}), a, IntArrayRef({1}), false)));
}

TEST(parts_by_output) {
  Tensor a = arange({300, 200}, kDouble);
  Tensor out = empty({300}, kDouble);
  set_num_threads(3);
  TensorIterator iter = make_reduction(out, a, IntArrayRef({1}), false);
  iter.parallel_for_outputs([](TensorIteratorBase& part) { cpu_sum<double>(part); });
  set_num_threads(1);
  CHECK(values(out) == slow_sum(a, 2));
}

// Numbers in an order that is not theirs, some of them equal, and a NaN if asked.
Tensor shuffled(IntArrayRef sizes, ScalarType dtype, bool nan) {
  Tensor made = empty(sizes, kDouble);
  std::uint32_t state = 99;
  for (std::int64_t i = 0; i < made.numel(); ++i) {
    state = state * 1664525u + 1013904223u;
    made.data_ptr<double>()[i] = static_cast<double>(static_cast<int>(state >> 24) % 61 - 30) / 4;
    // NaN of both signs.
    if (nan && i % 997 == 500) made.data_ptr<double>()[i] = i % 2 ? std::nan("") : -std::nan("");
  }
  return detail::to_dtype(made, dtype);
}
// The same numbers in memory in another order, or with gaps.
std::vector<Tensor> layouts_of(ScalarType dtype, bool nan) {
  return {
      shuffled({3, 70, 150}, dtype, nan),
      permute(shuffled({150, 3, 70}, dtype, nan), {1, 2, 0}),
      strided(shuffled({90000}, dtype, nan), {3, 70, 150}, {2, 900, 6}, 1),
      shuffled({400, 33}, dtype, nan),
      shuffled({9000, 2}, dtype, nan),
      shuffled({5, 1, 9000}, dtype, nan),
      strided(shuffled({9000}, dtype, nan), {4500}, {2}, 0),
  };
}
bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}
template <class F>
void for_each_mask(const Tensor& self, const F& f) {
  for (std::uint64_t mask = 1; mask < (std::uint64_t(1) << self.dim()); ++mask) {
    const DimVector sizes = opgen::shape_from_dim_mask(self.sizes(), opgen::DimMask(mask), false);
    f(opgen::DimMask(mask), IntArrayRef(sizes));
  }
}

// Rows, columns, collected elements and parts of long rows: each has a path of its own.
template <class T>
void check_extremes(bool nan) {
  const ScalarType dtype = opgen::scalar_type_of<T>;
  for (const Tensor& self : layouts_of(dtype, nan)) {
    for_each_mask(self, [&](opgen::DimMask mask, IntArrayRef sizes) {
      Tensor out = empty(sizes, dtype);
      TensorIterator iter = make_reduction(out, self, mask);
      using M = opgen::compared_type<T>;
      opgen::cpu_reduce_vec<T, T>(iter, opgen::least_extreme<M, true>(), opgen::LargestOf());
      const std::vector<double> got = values(out);
      const std::vector<double> expected = slow(self, mask, [](const std::vector<double>& slice) {
        double best = slice[0];
        for (double x : slice) {
          if (x > best || std::isnan(x)) best = x;
          if (std::isnan(best)) break;
        }
        return best;
      });
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(same(got[i], expected[i]));

      Tensor low = empty(sizes, dtype);
      TensorIterator both = make_reduction(low, self, mask);
      const T* first = low.const_data_ptr<T>();
      std::vector<double> high(static_cast<std::size_t>(low.numel()));
      opgen::cpu_bounds<T, T>(both, [&](T* to, T smallest, T largest) {
        *to = smallest;
        high[static_cast<std::size_t>(to - first)] = static_cast<double>(largest);
      });
      const std::vector<double> lowest = slow(self, mask, [](const std::vector<double>& slice) {
        double best = slice[0];
        for (double x : slice) {
          if (x < best || std::isnan(x)) best = x;
          if (std::isnan(best)) break;
        }
        return best;
      });
      const std::vector<double> low_values = values(low);
      for (std::size_t i = 0; i < got.size(); ++i) {
        CHECK(same(high[i], expected[i]));
        CHECK(same(low_values[i], lowest[i]));
      }
    });
    for (std::int64_t d = 0; d < self.dim(); ++d) {
      const opgen::DimMask mask = opgen::make_dim_mask(IntArrayRef(d), self.dim());
      Tensor out = empty(opgen::shape_from_dim_mask(self.sizes(), mask, false), opgen::kLong);
      TensorIterator iter = make_reduction(out, self, mask);
      opgen::cpu_extremes<std::int64_t, T, false>(
          iter, [](std::int64_t* to, T, std::int64_t position) { *to = position; });
      CHECK(values(out) == slow(self, mask, [](const std::vector<double>& slice) {
              std::size_t best = 0;
              for (std::size_t i = 1; i < slice.size() && !std::isnan(slice[best]); ++i) {
                if (slice[i] < slice[best] || std::isnan(slice[i])) best = i;
              }
              return static_cast<double>(best);
            }));
    }
  }
}
TEST(extremes_and_their_positions) {
  check_extremes<float>(false);
  check_extremes<float>(true);
  check_extremes<opgen::BFloat16>(true);
  check_extremes<opgen::Half>(true);
  check_extremes<std::int8_t>(false);
}

// Rows of each length around those of a vector, in groups of each size, are folded together.
template <class T>
void check_short_rows(bool nan) {
  for (std::int64_t length = 1; length <= 140; length += length < 40 ? 1 : 25) {
    for (std::int64_t count : {1, 3, 8, 19}) {
      Tensor self = shuffled({count, length}, opgen::scalar_type_of<T>, nan);
      Tensor out = empty({count}, opgen::scalar_type_of<T>);
      TensorIterator iter = make_reduction(out, self, opgen::make_dim_mask(IntArrayRef(1), 2));
      using Compared = opgen::compared_type<T>;
      opgen::cpu_reduce_vec<T, T>(iter, opgen::least_extreme<Compared, false>(),
                                  opgen::SmallestOf());
      const auto got = values(out), expected = slow(self, 2, [](const std::vector<double>&row) {
                                      double best = row[0];
                                      for (double x : row)
                                        best = x < best || std::isnan(x) ? x : best;
                                      return best;
                                    });
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(same(got[i], expected[i]));
      // Sums of these numbers are exact in float, but not in a half type.
      CHECK(nan || std::is_same_v<T, opgen::BFloat16> ||
            values(sum(self, IntArrayRef({1}), false)) == slow_sum(self, 2));
    }
  }
}
TEST(short_rows) {
  check_short_rows<float>(false);
  check_short_rows<float>(true);
  check_short_rows<double>(false);
  check_short_rows<opgen::BFloat16>(true);
  check_short_rows<std::int64_t>(false);
  check_short_rows<std::int16_t>(false);
}

// Each lane of a short row is found: rows of one dtype are read as integers of its size.
TEST(truths_of_short_rows) {
  for (ScalarType dtype : {opgen::kBool, kBFloat16, kFloat, kDouble}) {
    for (std::int64_t length : {1, 7, 32, 33}) {
      for (std::int64_t place = 0; place < length; ++place) {
        Tensor self = full({length, length}, 0, dtype);
        opgen::tensor_functions::copy_(strided(self, {1}, {1}, place * length + place),
                                       full({1}, 1, dtype));
        Tensor any = empty({length}, opgen::kBool);
        TensorIterator iter = make_reduction(any, self, IntArrayRef({1}), false);
        opgen::cpu_any(iter);
        const std::vector<double> got = values(any);
        for (std::int64_t i = 0; i < length; ++i) {
          CHECK_EQ(got[static_cast<std::size_t>(i)], i == place ? 1.0 : 0.0);
        }
      }
    }
  }
}

TEST(truths) {
  for (ScalarType dtype :
       {kFloat, kHalf, opgen::kLong, opgen::kBool, opgen::kComplexDouble, opgen::kComplexFloat}) {
    for (double zeros : {0.0, -0.0}) {
      for (std::int64_t at : {-1, 0, 77, 20000}) {
        Tensor self = full({200, 130}, zeros, dtype);
        if (at >= 0) {
          Tensor one = strided(self, {1}, {1}, at);
          opgen::tensor_functions::copy_(one, full({1}, 1, dtype));
        }
        for_each_mask(self, [&](opgen::DimMask mask, IntArrayRef sizes) {
          Tensor any = empty(sizes, opgen::kBool), all = empty(sizes, opgen::kBool);
          TensorIterator any_iter = make_reduction(any, self, mask);
          opgen::cpu_any(any_iter);
          TensorIterator all_iter = make_reduction(all, self, mask);
          opgen::cpu_all(all_iter);
          double found = 0;
          for (double x : values(any)) found += x;
          CHECK_EQ(found, at >= 0 ? 1.0 : 0.0);
          for (double x : values(all)) CHECK_EQ(x, 0.0);
        });
      }
    }
    for (double x : {1.0, std::nan("")}) {
      if (std::isnan(x) && !opgen::isFloatingType(dtype)) continue;
      Tensor self = full({200, 130}, x, dtype);
      Tensor all = empty({130}, opgen::kByte);
      TensorIterator iter = make_reduction(all, self, IntArrayRef({0}), false);
      opgen::cpu_all(iter);
      for (double each : values(all)) CHECK_EQ(each, 1.0);
    }
  }
}

// Adjacent elements, every second one, and others, in rows that are longer than a block.
TEST(counts) {
  for (ScalarType dtype : {kFloat, kDouble, opgen::kLong}) {
    Tensor self = full({3, 9001}, 0, dtype);
    for (std::int64_t i = 0; i < self.numel(); i += 7) {
      opgen::tensor_functions::copy_(strided(self, {1}, {1}, i), full({1}, -1, dtype));
    }
    for (std::int64_t step : {1, 2, 3}) {
      for (std::int64_t first : {0, 1}) {
        const Tensor part = strided(self, {3, 3000}, {9001, step}, first);
        Tensor out = empty({3}, opgen::kLong);
        TensorIterator iter = make_reduction(out, part, IntArrayRef({1}), false);
        opgen::cpu_count(iter);
        CHECK(values(out) == slow(part, 2, [](const std::vector<double>& row) {
                double count = 0;
                for (double x : row) count += x != 0;
                return count;
              }));
      }
    }
  }
}

TEST(moments_are_those_of_the_definition) {
  for (ScalarType dtype : {kFloat, kDouble, kHalf}) {
    for (const Tensor& self : layouts_of(dtype, false)) {
      for_each_mask(self, [&](opgen::DimMask mask, IntArrayRef sizes) {
        Tensor out = empty(sizes, kDouble);
        TensorIterator iter = make_reduction(out, self, mask);
        OPGEN_DISPATCH_FLOATING(dtype, "moments", [&] {
          opgen::cpu_moments<double, scalar_t>(
              iter, [](double* to, const opgen::Moments& m) { *to = m.squares / m.count; });
        });
        const std::vector<double> got = values(out);
        const std::vector<double> expected = slow(self, mask, [](const std::vector<double>& slice) {
          double mean = 0, squares = 0;
          for (double x : slice) mean += x / static_cast<double>(slice.size());
          for (double x : slice) squares += (x - mean) * (x - mean);
          return squares / static_cast<double>(slice.size());
        });
        for (std::size_t i = 0; i < got.size(); ++i) {
          CHECK(std::fabs(got[i] - expected[i]) <= 1e-12 * expected[i]);
        }
      });
    }
  }
}

// Halves are converted to floats by an instruction, to doubles by none.
TEST(halves_as_doubles) {
  Tensor self = shuffled({40, 70}, kHalf, false);
  for (std::int64_t d : {0, 1}) {
    const opgen::DimMask mask = opgen::make_dim_mask(IntArrayRef(d), 2);
    Tensor out = empty(opgen::shape_from_dim_mask(self.sizes(), mask, false), kDouble);
    TensorIterator iter = make_reduction(out, self, mask);
    opgen::cpu_reduce_vec<double, opgen::Half, double>(iter, 0.0, opgen::SumOf(),
                                                       [](auto x) { return x * x; });
    CHECK(values(out) == slow(self, mask, [](const std::vector<double>& slice) {
            double total = 0;
            for (double x : slice) total += x * x;
            return total;
          }));
  }
}

TEST(moments_far_from_zero) {
  // The squares of these numbers have no digits left for the distances. A third of each set is 0,
  // 1, 2.
  Tensor self = empty({40000}, kDouble);
  for (std::int64_t i = 0; i < 40000; ++i) {
    self.data_ptr<double>()[i] = 1e9 + static_cast<double>(i % 3);
  }
  const auto variance_of = [](const Tensor& shaped, IntArrayRef sizes) {
    Tensor out = empty(sizes, kDouble);
    TensorIterator iter = make_reduction(out, shaped, IntArrayRef({0}), false);
    opgen::cpu_moments<double, double>(
        iter, [](double* to, const opgen::Moments& m) { *to = m.squares / m.count; });
    return values(out);
  };
  for (double variance : variance_of(self, {})) CHECK(std::fabs(variance - 2.0 / 3.0) < 1e-4);
  for (double variance : variance_of(strided(self, {399, 100}, {100, 1}), {100})) {
    CHECK(std::fabs(variance - 2.0 / 3.0) < 1e-4);
  }
}

// As a mean of NumPy: libtorch's var_mean has NaN here for a mean along one dimension, its mean
// infinity.
TEST(moments_of_an_infinity) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (std::int64_t at : {0, 7, 99}) {
    Tensor self = arange({100, 30}, kFloat);
    for (std::int64_t k = 0; k < 30; ++k) {
      self.data_ptr<float>()[at * 30 + k] = static_cast<float>(-infinity);
    }
    Tensor rows = permute(self, {1, 0});
    for (const auto& [input, d] : {std::pair(self, 0), std::pair(rows, 1)}) {
      Tensor means = empty({30}, kDouble), variances = empty({30}, kDouble);
      const opgen::DimMask mask = opgen::make_dim_mask(IntArrayRef(d), 2);
      TensorIterator first = make_reduction(means, input, mask);
      opgen::cpu_moments<double, float>(first,
                                        [](double* to, const opgen::Moments& m) { *to = m.mean; });
      TensorIterator second = make_reduction(variances, input, mask);
      opgen::cpu_moments<double, float>(
          second, [](double* to, const opgen::Moments& m) { *to = m.squares; });
      for (double mean : values(means)) CHECK_EQ(mean, -infinity);
      for (double variance : values(variances)) CHECK(std::isnan(variance));
    }
  }
}

TEST(log_softmax_and_the_gradient_of_softmax) {
  for (ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    for (const Tensor& self : layouts_of(dtype, false)) {
      for (std::int64_t d = 0; d < self.dim(); ++d) {
        Tensor logarithm = empty(self.sizes(), dtype), gradient = empty(self.sizes(), dtype);
        // Any numbers will do as the gradient and the result of a softmax.
        OPGEN_DISPATCH_FLOATING(dtype, "softmax", [&] {
          opgen::cpu_log_softmax<scalar_t>(logarithm, self, d);
          opgen::cpu_softmax_backward<scalar_t>(gradient, self, self, d);
        });
        const opgen::DimMask mask = opgen::make_dim_mask(IntArrayRef(d), self.dim());
        const auto inputs = slices(self, mask), logarithms = slices(logarithm, mask);
        const auto gradients = slices(gradient, mask);
        const double allowed = dtype == kBFloat16 ? 8e-3
                               : dtype == kHalf   ? 1e-3
                               : dtype == kFloat  ? 1e-6
                                                  : 1e-12;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
          double total = 0, products = 0;
          for (double x : inputs[i]) total += std::exp(x - 8), products += x * x;
          for (std::size_t k = 0; k < inputs[i].size(); ++k) {
            const double x = inputs[i][k];
            const double exact = x - 8 - std::log(total);
            CHECK(std::fabs(logarithms[i][k] - exact) <= allowed * (std::fabs(exact) + 8));
            const double slope = (x - products) * x;
            // The largest numbers of a half type are finite.
            if (dtype == kHalf && std::fabs(slope) > 60000) continue;
            CHECK(std::fabs(gradients[i][k] - slope) <= allowed * products * (1 + std::fabs(x)));
          }
        }
      }
    }
  }
}

// Lines around the length of a vector, some of which are collected, in groups around its length.
TEST(softmax_of_short_lines) {
  for (ScalarType dtype : {kFloat, kDouble, kBFloat16}) {
    const double allowed = dtype == kBFloat16 ? 8e-3 : dtype == kFloat ? 1e-6 : 1e-12;
    for (std::int64_t length : {1, 2, 17, 32, 33, 65, 1025}) {
      for (std::int64_t count : {1, 16, 17}) {
        for (std::int64_t gap : {1, 2}) {
          Tensor self = strided(shuffled({count, gap * length}, dtype, false), {count, length},
                                {gap * length, gap});
          Tensor out = empty({count, length}, dtype), logarithm = empty({count, length}, dtype);
          Tensor gradient = empty({count, length}, dtype);
          opgen::detail::softmax(out, self, 1, false);
          opgen::detail::softmax(logarithm, self, 1, true);
          opgen::detail::softmax_backward(gradient, out, self, 1);
          const std::vector<double> x = values(self), y = values(out), z = values(logarithm),
                                    slopes = values(gradient);
          const auto n = static_cast<std::size_t>(length);
          for (std::size_t from = 0; from < x.size(); from += n) {
            double most = x[from], total = 0, products = 0, size = 1;
            for (std::size_t i = from; i < from + n; ++i) {
              most = std::max(most, x[i]), products += x[i] * y[i], size += std::fabs(x[i] * y[i]);
            }
            for (std::size_t i = from; i < from + n; ++i) total += std::exp(x[i] - most);
            for (std::size_t i = from; i < from + n; ++i) {
              const double exact = x[i] - most - std::log(total);
              CHECK(std::fabs(z[i] - exact) <= allowed * (std::fabs(exact) + std::fabs(most) + 1));
              CHECK(std::fabs(y[i] - std::exp(exact)) <= allowed * std::exp(exact) + 1e-30);
              CHECK(std::fabs(slopes[i] - (y[i] - products) * x[i]) <=
                    allowed * size * (1 + std::fabs(x[i])));
            }
          }
        }
      }
    }
  }
}

TEST(softmax_of_every_dimension) {
  for (ScalarType dtype : {kFloat, kDouble, kHalf}) {
    for (const Tensor& self : layouts_of(dtype, false)) {
      for (std::int64_t d = 0; d < self.dim(); ++d) {
        Tensor out = empty(self.sizes(), dtype);
        OPGEN_DISPATCH_FLOATING(dtype, "softmax",
                                [&] { opgen::cpu_softmax<scalar_t>(out, self, d); });
        const opgen::DimMask mask = opgen::make_dim_mask(IntArrayRef(d), self.dim());
        const auto inputs = slices(self, mask), outputs = slices(out, mask);
        const double allowed = dtype == kHalf ? 1e-3 : dtype == kFloat ? 1e-6 : 1e-12;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
          double total = 0;
          for (double x : inputs[i]) total += std::exp(x - 8);
          for (std::size_t k = 0; k < inputs[i].size(); ++k) {
            const double exact = std::exp(inputs[i][k] - 8) / total;
            CHECK(std::fabs(outputs[i][k] - exact) <= allowed * exact + 1e-7 * (dtype == kHalf));
          }
        }
      }
    }
  }
}
