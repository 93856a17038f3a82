// print_test.cpp: operator<< of tensors.
#include <iomanip>
#include <limits>
#include <sstream>

#include "check.h"
#include "tensors.h"

using namespace opgen;
using tensors::arange;

namespace {
std::string printed(const TensorBase& tensor, int digits = 6) {
  std::ostringstream out;
  out << std::setprecision(digits) << tensor;
  return out.str();
}
}  // namespace

TEST(columns_are_aligned) {
  CHECK_EQ(printed(arange({2, 3})),
           "Float[2, 3] on cpu\n"
           "[[0, 1, 2],\n"
           " [3, 4, 5]]");
  Tensor mixed = arange({2, 2}, kDouble);
  mixed.mutable_data_ptr<double>()[2] = -0.25;
  mixed.mutable_data_ptr<double>()[3] = 1e20;
  CHECK_EQ(printed(mixed),
           "Double[2, 2] on cpu\n"
           "[[    0,     1],\n"
           " [-0.25, 1e+20]]");
  CHECK_EQ(printed(arange({2, 1, 2}, kLong)),
           "Long[2, 1, 2] on cpu\n"
           "[[[0, 1]],\n"
           "\n"
           " [[2, 3]]]");
}

TEST(every_dtype_has_its_numbers) {
  CHECK_EQ(printed(arange({2}, kByte)), "Byte[2] on cpu\n[0, 1]");
  CHECK_EQ(printed(tensors::full({1}, -5, kChar)), "Char[1] on cpu\n[-5]");
  CHECK_EQ(printed(tensors::full({1}, 0.1, kHalf)), "Half[1] on cpu\n[0.0999756]");
  CHECK_EQ(printed(tensors::full({1}, 0.1, kBFloat16)), "BFloat16[1] on cpu\n[0.100098]");
  CHECK_EQ(printed(arange({2}, kBool)), "Bool[2] on cpu\n[false,  true]");
  Tensor numbers = tensors::full({2}, Scalar(complex<double>(1.5, -2)), kComplexFloat);
  CHECK_EQ(printed(numbers), "ComplexFloat[2] on cpu\n[1.5-2i, 1.5-2i]");
  Tensor special = arange({3}, kFloat);
  special.mutable_data_ptr<float>()[0] = std::numeric_limits<float>::infinity();
  special.mutable_data_ptr<float>()[1] = -std::numeric_limits<float>::infinity();
  special.mutable_data_ptr<float>()[2] = std::numeric_limits<float>::quiet_NaN();
  CHECK_EQ(printed(special), "Float[3] on cpu\n[ inf, -inf,  nan]");
  CHECK_EQ(printed(tensors::scalar(1.0 / 3, kDouble), 17), "Double[] on cpu\n0.33333333333333331");
  Tensor bytes = arange({1}, kByte);
  bytes.mutable_data_ptr<std::uint8_t>()[0] = 7;
  Tensor invalid = detail::from_blob(bytes.data_ptr(), {1}, {1}, kBool, nullptr, nullptr);
  CHECK_EQ(printed(invalid), "Bool[1] on cpu\n[true]");
}

TEST(special_tensors) {
  CHECK_EQ(printed(TensorBase()), "undefined tensor");
  CHECK_EQ(printed(tensors::scalar(3.5, kFloat)), "Float[] on cpu\n3.5");
  CHECK_EQ(printed(arange({0, 3})), "Float[0, 3] on cpu\n[]");
  CHECK_EQ(printed(tensors::meta({2, 3})), "Float[2, 3] on meta");
  CHECK_EQ(printed(tensors::t(arange({2, 3}))),
           "Float[3, 2] on cpu, strides [1, 3]\n"
           "[[0, 3],\n"
           " [1, 4],\n"
           " [2, 5]]");
  CHECK_EQ(printed(tensors::expand(arange({1}), {2})), "Float[2] on cpu, strides [0]\n[0, 0]");
}

TEST(large_tensors_are_abbreviated) {
  CHECK_EQ(printed(arange({2000}, kInt)),
           "Int[2000] on cpu\n[   0,    1,    2, ..., 1997, 1998, 1999]");
  CHECK_EQ(printed(arange({40, 50}, kInt)),
           "Int[40, 50] on cpu\n"
           "[[   0,    1,    2, ...,   47,   48,   49],\n"
           " [  50,   51,   52, ...,   97,   98,   99],\n"
           " [ 100,  101,  102, ...,  147,  148,  149],\n"
           " ...,\n"
           " [1850, 1851, 1852, ..., 1897, 1898, 1899],\n"
           " [1900, 1901, 1902, ..., 1947, 1948, 1949],\n"
           " [1950, 1951, 1952, ..., 1997, 1998, 1999]]");
  const std::string whole = printed(arange({1000}, kInt));
  CHECK(whole.find("...") == std::string::npos);
  std::istringstream lines(whole);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
}
