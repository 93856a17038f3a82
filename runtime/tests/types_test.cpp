// types_test.cpp: element types, promotion, numbers, devices, options, small containers, errors.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "check.h"
#include "opgen/cpu/element.h"
#include "opgen/cpu/size.h"
#include "opgen/registration/types.h"
#include "opgen/tensor/empty.h"

using namespace opgen;

TEST(half_rounds_to_nearest_even) {
  CHECK_EQ(Half(1.0f).x, 0x3c00);
  CHECK_EQ(Half(65504.0f).x, 0x7bff);
  CHECK_EQ(Half(65519.9f).x, 0x7bff);
  CHECK_EQ(Half(65520.0f).x, 0x7c00);
  CHECK_EQ(Half(0x1p-24f).x, 0x0001);
  CHECK_EQ(Half(0x1p-25f).x, 0x0000);
  CHECK_EQ(Half(0x1.8p-25f).x, 0x0001);
  CHECK_EQ(Half(-0.0f).x, 0x8000);
  CHECK(std::isnan(static_cast<float>(Half(NAN))));
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    Half h = Half::from_bits(static_cast<std::uint16_t>(bits));
    float f = h;
    if (std::isnan(f)) continue;
    wrong += Half(f).x != bits;
    // Ties round to even.
    Half next = Half::from_bits(static_cast<std::uint16_t>(bits + 1));
    if ((bits & 0x7fff) >= 0x7bff || std::isinf(float(next))) continue;
    float middle = (f + float(next)) / 2;
    wrong += Half(middle).x != ((bits & 1) != 0 ? bits + 1 : bits);
    wrong += Half(std::nextafter(middle, f)).x != bits;
  }
  CHECK_EQ(wrong, 0);
}

TEST(bfloat16_rounds_to_nearest_even) {
  CHECK_EQ(BFloat16(1.0f).x, 0x3f80);
  CHECK_EQ(BFloat16(1.00390625f).x, 0x3f80);
  CHECK_EQ(BFloat16(1.01171875f).x, 0x3f82);
  CHECK_EQ(BFloat16(std::numeric_limits<float>::max()).x, 0x7f80);
  CHECK(std::isnan(static_cast<float>(BFloat16(NAN))));
}

TEST(complex_arithmetic) {
  complex<double> a(3, 4), b(1, -2);
  CHECK(a + b == complex<double>(4, 2));
  CHECK(a * b == complex<double>(11, -2));
  CHECK(a / b == complex<double>(-1, 2));
  CHECK(complex<float>(complex<double>(1.5, 2)) == complex<float>(1.5f, 2));
  complex<double> big(1e300, 1e300);
  CHECK((big / big) == complex<double>(1, 0));
  CHECK_EQ(sizeof(complex<float>), 8u);
}

TEST(promotion_table) {
  // There is a row and a column for each type, in the order below.
  const ScalarType order[] = {kBool, kByte,     kChar,  kShort,  kInt,          kLong,
                              kHalf, kBFloat16, kFloat, kDouble, kComplexFloat, kComplexDouble};
  const char* expected[] = {
      "b u c s i l h f F D z Z", "u u s s i l h f F D z Z", "c s c s i l h f F D z Z",
      "s s s s i l h f F D z Z", "i i i i i l h f F D z Z", "l l l l l l h f F D z Z",
      "h h h h h h h F F D z Z", "f f f f f f F f F D z Z", "F F F F F F F F F D z Z",
      "D D D D D D D D D D Z Z", "z z z z z z z z z Z z Z", "Z Z Z Z Z Z Z Z Z Z Z Z"};
  const std::string letters = "bucsilhfFDzZ";
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 12; ++j) {
      ScalarType got = opgen::promote_types(order[i], order[j]);
      CHECK_EQ(order[letters.find(expected[i][2 * j])], got);
    }
  }
  CHECK_EQ(opgen::promote_types(kFloat, ScalarType::Undefined), ScalarType::Undefined);
}

TEST(result_types) {
  TensorBase ints = detail::empty({2}, kInt), halfs = detail::empty({2}, kHalf),
             bools = detail::empty({2}, kBool);
  TensorBase zero_double = detail::empty({}, kDouble), zero_long = detail::empty({}, kLong);
  CHECK_EQ(opgen::result_type_of(ints, Scalar(2)), kInt);
  CHECK_EQ(opgen::result_type_of(ints, Scalar(2.5)), kFloat);
  CHECK_EQ(opgen::result_type_of(halfs, Scalar(2.5)), kHalf);
  CHECK_EQ(opgen::result_type_of(halfs, Scalar(complex<double>(0, 1))), kComplexFloat);
  CHECK_EQ(opgen::result_type_of(ints, zero_double), kDouble);
  CHECK_EQ(opgen::result_type_of(halfs, zero_double), kHalf);
  CHECK_EQ(opgen::result_type_of(bools, zero_long), kLong);
  CHECK_EQ(opgen::result_type_of(bools, Scalar(true)), kBool);
  CHECK_EQ(opgen::result_type_of(zero_double, Scalar(1)), kDouble);
  CHECK_EQ(opgen::result_type_of(ints, TensorBase()), kInt);
  zero_double.unsafeGetTensorImpl()->set_wrapped_number(true);
  CHECK_EQ(opgen::result_type_of(ints, zero_double), kFloat);
  set_default_dtype(kDouble);
  CHECK_EQ(opgen::result_type_of(ints, Scalar(2.5)), kDouble);
  set_default_dtype(kFloat);
  CHECK_THROWS(TypeError, "must be a floating type", set_default_dtype(kLong));
  CHECK(canCast(kInt, kFloat) && !canCast(kFloat, kInt) && !canCast(kComplexFloat, kFloat) &&
        !canCast(kByte, kBool) && canCast(kBool, kByte));
}

TEST(scalars) {
  CHECK(Scalar(true).isBoolean() && !Scalar(true).isIntegral(false) &&
        Scalar(true).isIntegral(true));
  CHECK_EQ(Scalar(2.5f).type(), kDouble);
  CHECK_EQ(Scalar(7).to<double>(), 7.0);
  CHECK_EQ(Scalar(-1).to<std::uint8_t>(), 255);
  CHECK_THROWS(Error, "Byte without overflow", Scalar(-2.5).to<std::uint8_t>());
  CHECK_THROWS(Error, "Byte without overflow", Scalar(255.5).to<std::uint8_t>());
  CHECK_EQ(Scalar(254.5).to<std::uint8_t>(), 254);
  CHECK_THROWS(Error, "Char without overflow", Scalar(-128.5).to<std::int8_t>());
  CHECK_THROWS(Error, "Byte without overflow", Scalar(-300).to<std::uint8_t>());
  CHECK_THROWS(Error, "Char without overflow", Scalar(128).to<std::int8_t>());
  CHECK_THROWS(Error, "Half without overflow", Scalar(1e5).to<Half>());
  CHECK_THROWS(Error, "Float without overflow", Scalar(1e300).to<float>());
  CHECK(std::isinf(Scalar(INFINITY).to<float>()));
  CHECK_THROWS(Error, "Long without overflow", Scalar(0x1p63).to<std::int64_t>());
  CHECK_THROWS(Error, "Int without overflow", Scalar(NAN).to<std::int32_t>());
  CHECK_EQ(Scalar(-0x1p63).to<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  CHECK_THROWS(Error, "Double without overflow", Scalar(complex<double>(1, 2)).to<double>());
  CHECK_EQ(Scalar(complex<double>(1, 0)).to<std::int64_t>(), 1);
  CHECK(Scalar(complex<double>(0, 2)).to<bool>());
  CHECK((-Scalar(3)).equal(-3) && (-Scalar(2.5)).equal(-2.5));
  CHECK(Scalar(true).equal(true) && !Scalar(true).equal(1) &&
        !Scalar(complex<double>(1, 1)).equal(1));
  // Neither side loses digits or its sign.
  constexpr std::int64_t large = std::int64_t(1) << 53;
  CHECK(!Scalar(std::int64_t(1) << 32).equal(0) && !Scalar((std::int64_t(1) << 32) + 1).equal(1));
  CHECK(!Scalar(large + 1).equal(static_cast<double>(large)) && Scalar(large).equal(0x1p53));
  CHECK(!Scalar(0x1p53).equal(large + 1) && Scalar(0x1p53).equal(large));
  CHECK(!Scalar(-1).equal(~std::uint64_t(0)) && !Scalar(-1).equal(std::uint8_t(255)));
  CHECK(!Scalar(256).equal(std::uint8_t(0)) && !Scalar(0x1p63).equal(INT64_MIN));
  CHECK(Scalar(-0x1p63).equal(INT64_MIN) && !Scalar(NAN).equal(0) && !Scalar(INFINITY).equal(1));
  CHECK_THROWS(Error, "boolean", -Scalar(true));
}

TEST(devices) {
  CHECK(Device("cpu") == Device(kCPU) && Device("cuda:12") == Device(kCUDA, 12));
  for (const char* bad : {"", "cpuu", "cuda:", "cuda:x", "cuda:-1", "cuda:01", "cuda:999"}) {
    CHECK_THROWS(ValueError, "'", Device(std::string_view(bad)));
  }
}

TEST(options) {
  TensorOptions o = TensorOptions(kLong).device(kMeta);
  CHECK(o.dtype() == kLong && o.dtype_opt() == kLong && !o.layout_opt().has_value() &&
        o.device().is_meta());
  CHECK(TensorOptions().dtype() == kFloat && !TensorOptions().dtype_opt().has_value());
  CHECK(!o.dtype(std::nullopt).has_dtype());
  TensorOptions merged = o.merge_in(TensorOptions().dtype(kHalf));
  CHECK(merged.dtype() == kHalf && merged.device().is_meta());
  CHECK_EQ(sizeof(TensorOptions), 8u);
  CHECK_THROWS(Error, "both",
               static_cast<void>(check_tensor_options_and_extract_memory_format(
                   TensorOptions(MemoryFormat::ChannelsLast), MemoryFormat::Contiguous)));
  CHECK(compute_dispatch_key(kFloat, kSparse, Device(kCUDA)) == DispatchKey::SparseCUDA);
  CHECK(compute_dispatch_key({}, {}, {}) == DispatchKey::CPU);
  CHECK(compute_dispatch_key({}, Layout::SparseBsr, Device(kMeta)) == DispatchKey::SparseCsrMeta);
  CHECK(compute_dispatch_key({}, kMkldnn, {}) == DispatchKey::MkldnnCPU);
}

TEST(array_refs) {
  std::vector<std::int64_t> v{1, 2, 3};
  IntArrayRef ref = v;
  CHECK(ref == IntArrayRef({1, 2, 3}) && ref.slice(1).equals({2, 3}) && ref.back() == 3);
  CHECK_EQ(IntArrayRef(5).size(), 1u);
  CHECK_THROWS(IndexError, "out of range", ref.at(3));
  const std::int64_t seven = 7;
  OptionalIntArrayRef none, some = v, one = seven;
  CHECK(!none.has_value() && some->size() == 3 && (*one)[0] == 7);
  std::optional<std::vector<std::int64_t>> maybe = v;
  CHECK(OptionalIntArrayRef(maybe).has_value());
}

TEST(small_vectors) {
  SmallVector<std::string, 2> v{"a", "b"};
  v.push_back("c");
  v.emplace_back(v[0]);
  v.insert(v.begin() + 1, "x");
  CHECK(v.size() == 5 && v[1] == "x" && v[4] == "a");
  SmallVector<std::string, 2> moved = std::move(v), copy = moved;
  CHECK(moved.size() == 5 && copy == moved);
  copy.erase(copy.begin());
  copy.resize(2);
  SmallVector<std::string, 2> small{"only"};
  moved = std::move(small);
  CHECK(moved.size() == 1 && moved[0] == "only" && copy[0] == "x");
  DimVector dims(IntArrayRef({1, 2, 3, 4, 5, 6, 7}));
  DimVector& same = dims;
  dims = same;
  CHECK(IntArrayRef(dims).slice(5).equals({6, 7}));
}

namespace {
void warn_once_of(int n) {
  OPGEN_WARN_ONCE("once ", n, ", ", 2);
}
}  // namespace

TEST(a_warning_handler_may_call_the_function_that_warns) {
  static std::string warned;
  static bool fails = true;
  WarningHandler old = set_warning_handler([](const char* text) {
    warned += text;
    warn_once_of(0);
    if (fails) throw Error("no");
  });
  CHECK_THROWS(Error, "no", warn_once_of(1));
  fails = false;
  warn_once_of(2);
  warn_once_of(3);
  set_warning_handler(old);
  CHECK_EQ(warned, "once 1, 2once 2, 2");
}

TEST(sizes_do_not_wrap_around) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = -most - 1;
  std::int64_t width = Size(3) * 4 + 1 - std::size_t(2);
  CHECK_EQ(width, 11);
  CHECK_EQ(std::int64_t(2 * Size(5) - 1), 9);
  CHECK_EQ(Size(7) / 2, 3);
  CHECK_EQ(std::int64_t(-Size(most)), -most);
  Size sum = 1;
  sum += 2;
  sum *= 5;
  sum -= 1;
  CHECK_EQ(std::int64_t(sum), 14);
  CHECK_EQ(std::int64_t(Size(most) + 0), most);
  CHECK_THROWS(Error, "9223372036854775807 + 1", Size(most) + 1);
  CHECK_THROWS(Error, "a size does not fit 64 bits", 1 + Size(most));
  CHECK_THROWS(Error, "-9223372036854775808 - 1", Size(least) - 1);
  CHECK_THROWS(Error, "4611686018427387904 * 2", Size(most / 2 + 1) * 2);
  CHECK_THROWS(Error, "0 - -9223372036854775808", -Size(least));
  CHECK_THROWS(Error, "*", sum *= most);
}

TEST(every_byte_but_0_is_true) {
  const unsigned char bytes[] = {0, 1, 2, 128, 255};
  const bool* bools = reinterpret_cast<const bool*>(bytes);
  CHECK(!element_at(bools));
  for (int i = 1; i < 5; ++i) CHECK_EQ(static_cast<int>(element_at(bools + i)), 1);
}

TEST(errors_and_warnings) {
  auto fail = [](int n) {
    OPGEN_CHECK_VALUE(n > 3, "n is ", n, ", ", 2.5, " ", IntArrayRef({1, 2}), " ", kFloat, " ",
                      true, " ", std::string("s"));
  };
  fail(4);
  CHECK_THROWS(ValueError, "n is 3, 2.5 [1, 2] Float true s", fail(3));
  CHECK_THROWS(Error, "expected 1 == 2, which is false", [] { OPGEN_CHECK(1 == 2); }());
  CHECK_THROWS(Error, "internal error at", [] { OPGEN_INTERNAL_ASSERT(false, "why"); }());
  static std::string warned;
  WarningHandler old = set_warning_handler([](const char* text) { warned += text; });
  for (int i = 0; i < 2; ++i) OPGEN_WARN_ONCE("once ", Device(kCUDA, 1));
  OPGEN_WARN("twice");
  set_warning_handler(old);
  CHECK_EQ(warned, "once cuda:1twice");
}
