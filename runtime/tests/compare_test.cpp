// compare_test.cpp: equal, allclose.
#include "opgen/cpu/compare.h"

#include <limits>

#include "check.h"
#include "tensors.h"

using namespace opgen;
using tensors::arange;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
}  // namespace

TEST(equal_compares_sizes_and_elements) {
  for (ScalarType dtype : {kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble, kComplexFloat,
                           kComplexDouble, kBool, kBFloat16}) {
    Tensor a = arange({2, 3}, dtype);
    CHECK(opgen::equal(a, arange({2, 3}, dtype)));
    CHECK(!opgen::equal(a, tensors::full({2, 3}, 1, dtype)));
    CHECK(!opgen::equal(a, arange({3, 2}, dtype)) && !opgen::equal(a, arange({6}, dtype)));
  }
  Tensor square = arange({2, 2});
  CHECK(!opgen::equal(square, tensors::t(square)));
  CHECK(opgen::equal(tensors::t(square), detail::clone(tensors::t(square))));
  CHECK(opgen::equal(tensors::expand(tensors::full({1}, 3), {2, 2}), tensors::full({2, 2}, 3)));
  CHECK(opgen::equal(arange({0, 3}), arange({0, 3})) && !opgen::equal(arange({0, 3}), arange({0})));
  CHECK(opgen::equal(tensors::scalar(2, kLong), tensors::scalar(2, kLong)));
  CHECK(!opgen::equal(tensors::scalar(kNan, kFloat), tensors::scalar(kNan, kFloat)));
  CHECK_THROWS(Error, "different dtypes, Float and Double",
               opgen::equal(square, arange({2, 2}, kDouble)));
  CHECK_THROWS(Error, "different devices", opgen::equal(square, tensors::meta({2, 2})));
  CHECK_THROWS(Error, "have no elements", opgen::equal(tensors::meta({2}), tensors::meta({2})));
  CHECK_THROWS(Error, "undefined", opgen::equal(square, TensorBase()));
}

TEST(allclose_has_tolerances) {
  Tensor a = tensors::full({2, 2}, 100.0);
  CHECK(opgen::allclose(a, tensors::full({2, 2}, 100.0005)));
  CHECK(!opgen::allclose(a, tensors::full({2, 2}, 100.01)));
  CHECK(opgen::allclose(a, tensors::full({2, 2}, 100.01), 1e-3));
  CHECK(opgen::allclose(a, tensors::full({2, 2}, 100.01), 0, 0.1));
  CHECK(opgen::allclose(a, tensors::full({1}, 100.0)));
  CHECK(opgen::allclose(arange({0, 2}), arange({0, 2})));
  const auto one = [](double value) { return tensors::scalar(value, kDouble); };
  CHECK(opgen::allclose(one(kInfinity), one(kInfinity)));
  CHECK(!opgen::allclose(one(kInfinity), one(-kInfinity)));
  CHECK(!opgen::allclose(one(1), one(kInfinity)) && !opgen::allclose(one(kInfinity), one(1)));
  CHECK(!opgen::allclose(one(kNan), one(kNan)));
  CHECK(opgen::allclose(one(kNan), one(kNan), 0, 0, true));
  CHECK(!opgen::allclose(one(kNan), one(1), 0, 0, true));
  CHECK(opgen::allclose(arange({3}, kComplexFloat), arange({3}, kComplexFloat)));
  CHECK(opgen::allclose(arange({3}, kLong), arange({3}, kLong)));
  CHECK(!opgen::allclose(tensors::full({1}, true, kBool), tensors::full({1}, false, kBool)));
  CHECK_THROWS(Error, "tolerances that are not negative", opgen::allclose(a, a, -1));
  CHECK_THROWS(Error, "do not broadcast", opgen::allclose(arange({2}), arange({3})));
}
