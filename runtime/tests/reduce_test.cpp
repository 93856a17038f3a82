// reduce_test.cpp: reductions over any dimensions and layouts, their accuracy, and threads.
#include <cmath>
#include <limits>

#include "check.h"
#include "opgen/cpu/reduce.h"
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

// Computes the sum by its definition.
std::vector<double> slow_sum(const Tensor& self, std::uint64_t mask) {
  std::vector<double> all = values(self);
  DimVector kept = opgen::shape_from_dim_mask(self.sizes(), mask, false);
  std::vector<double> result(static_cast<std::size_t>(opgen::multiply_integers(kept)), 0.0);
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
    result[at] += all[i];
  }
  return result;
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

TEST(the_same_bits_for_any_number_of_threads) {
  Tensor flat = uneven({kGrainSize * 9 + 17});
  Tensor cube = uneven({70, 331, 130});
  std::vector<std::pair<Tensor, std::vector<std::int64_t>>> cases = {
      {flat, {0}},
      {strided(flat, {kGrainSize * 4}, {2}, 1), {0}},
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
