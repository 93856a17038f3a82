// sort_test.cpp: keys have the order of their elements, and sorts of keys are stable.
#include "opgen/cpu/sort.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "check.h"
#include "opgen/core/half.h"

using opgen::KeyedPlace;
using opgen::sort_key;
using opgen::SortKey;

namespace {

template <class T>
bool comes_before(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return a < b;
  } else {
    const double x = static_cast<double>(a), y = static_cast<double>(b);
    return (!std::isnan(x) && std::isnan(y)) || x < y;
  }
}

template <class T>
void check_keys(const std::vector<T>& elements) {
  for (T a : elements) {
    for (T b : elements) {
      CHECK_EQ(sort_key(a, false) < sort_key(b, false), comes_before(a, b));
      CHECK_EQ(sort_key(a, true) < sort_key(b, true), comes_before(b, a));
    }
  }
}

template <class T>
std::vector<T> special_floats() {
  using Limits = std::numeric_limits<float>;
  std::vector<T> result;
  for (float x : {0.0f, -0.0f, 1.0f, -1.0f, 2.5f, 1e-30f, -1e-30f, Limits::infinity(),
                  -Limits::infinity(), Limits::quiet_NaN(), -Limits::quiet_NaN()}) {
    result.push_back(static_cast<T>(x));
  }
  return result;
}

template <class T>
std::vector<T> special_integers() {
  using Limits = std::numeric_limits<T>;
  return {Limits::min(), Limits::max(), T(0), T(1), static_cast<T>(Limits::max() - 1), T(-1), T(5)};
}

// Compares with std::stable_sort, for numbers that repeat often.
template <class T>
void check_sorts(std::int64_t n, T range) {
  using Key = SortKey<T>;
  std::mt19937 random(static_cast<unsigned>(n));
  std::vector<T> elements;
  for (std::int64_t i = 0; i < n; ++i) {
    elements.push_back(
        static_cast<T>(static_cast<T>(random() % 100000) * range / 100000 - range / 2));
  }
  for (bool descending : {false, true}) {
    std::vector<std::int64_t> expected(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) expected[static_cast<std::size_t>(i)] = i;
    std::stable_sort(expected.begin(), expected.end(), [&](std::int64_t a, std::int64_t b) {
      const T x = elements[static_cast<std::size_t>(a)], y = elements[static_cast<std::size_t>(b)];
      return descending ? y < x : x < y;
    });
    for (std::int64_t k : {std::int64_t(1), std::int64_t(7), n / 2, n}) {
      if (k < 1 || k > n) continue;
      std::vector<KeyedPlace<Key>> line, spare(static_cast<std::size_t>(n));
      for (std::int64_t i = 0; i < n; ++i) {
        line.push_back(
            KeyedPlace<Key>::of(sort_key(elements[static_cast<std::size_t>(i)], descending), i));
      }
      opgen::select_keyed(line.data(), spare.data(), n, k);
      bool same = true;
      for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i) {
        same = same && line[i].place() == expected[i];
      }
      CHECK(same);
    }
  }
}

}  // namespace

TEST(keys_have_the_order_of_elements) {
  check_keys(special_floats<float>());
  check_keys(special_floats<double>());
  check_keys(special_floats<opgen::Half>());
  check_keys(special_floats<opgen::BFloat16>());
  check_keys(special_integers<std::int8_t>());
  check_keys(special_integers<std::uint8_t>());
  check_keys(special_integers<std::int16_t>());
  check_keys(special_integers<std::int32_t>());
  check_keys(special_integers<std::int64_t>());
  check_keys(special_integers<std::uint64_t>());
  check_keys(std::vector<bool>{false, true});
}

TEST(sorts_and_selections) {
  for (std::int64_t n : {1, 2, 24, 25, 100, 129, 1000, 5000}) {
    check_sorts<std::int32_t>(n, 40);
    check_sorts<std::int64_t>(n, 1000);
    check_sorts<float>(n, 1e6f);
    check_sorts<double>(n, 3.0);
  }
}
