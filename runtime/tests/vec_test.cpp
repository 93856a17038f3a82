// vec_test.cpp: kernels with a vector form return the same results for every layout and every
// instruction set; transposed operands of every element size.
#include <cmath>

#include "opgen/cpu/vec.h"

#include "check.h"
#include "opgen/cpu/loops.h"
#include "opgen/registration/dispatch_stub.h"
#include "tensors.h"

using namespace tensors;

namespace {

struct Capability {
  explicit Capability(CPUCapability capability) : before(get_cpu_capability()) {
    detail::cpu_capability.store_relaxed(static_cast<std::uint8_t>(capability));
  }
  ~Capability() { detail::cpu_capability.store_relaxed(static_cast<std::uint8_t>(before)); }
  CPUCapability before;
};

template <class T>
Tensor scaled(const Tensor& a, const Tensor& b, std::int64_t& vectors) {
  TensorIterator iter = TensorIterator::binary_op(Tensor(), a, b);
  std::int64_t calls = 0;
  cpu_kernel_vec(
      iter, [](T x, T y) -> T { return x * y + T(1); },
      [&calls](Vec<T> x, Vec<T> y) {
        ++calls;
        return x * y + Vec<T>(T(1));
      });
  vectors = calls;
  return iter.output();
}

template <class T>
void check_scaled(const Tensor& a, const Tensor& b, bool has_vectors) {
  std::int64_t vectors = 0;
  std::vector<double> got = values(scaled<T>(a, b, vectors));
  std::vector<double> x = values(a), y = values(b);
  bool is_number = b.dim() == 0;
  for (std::size_t i = 0; i < got.size(); ++i) CHECK_EQ(got[i], x[i] * y[is_number ? 0 : i] + 1);
  CHECK_EQ(vectors > 0, has_vectors);
}

}  // namespace

TEST(vector_form_for_adjacent_elements) {
  for (CPUCapability capability : {CPUCapability::DEFAULT, get_cpu_capability()}) {
    Capability scope(capability);
    check_scaled<float>(arange({37}), full({37}, 3), true);
    check_scaled<float>(arange({37}), scalar(3, kFloat), true);
    check_scaled<double>(arange({4, 9}, kDouble), full({4, 9}, 2, kDouble), true);
    check_scaled<std::int32_t>(arange({19}, kInt), full({19}, 2, kInt), true);
    check_scaled<float>(arange({7}), full({7}, 3), false);  // shorter than a vector
    check_scaled<float>(strided(arange({60}), {20}, {3}), full({20}, 3), true);  // in a block
    check_scaled<float>(strided(arange({900}), {300}, {3}), full({300}, 3), true);
    check_scaled<float>(strided(arange({60}), {10}, {3}), full({10}, 3), false);
  }
}

TEST(arithmetic_of_vectors) {
  float from[] = {1, -2, 3, -4, 5, -6, 7, -8};
  Vec<float> a = Vec<float>::load(from), two(2.0f);
  float to[8];
  (-(a - two) / two).store(to);
  for (int i = 0; i < 8; ++i) CHECK_EQ(to[i], -(from[i] - 2) / 2);
  max(min(a, two), Vec<float>(-3.0f)).store(to);
  for (int i = 0; i < 8; ++i) CHECK_EQ(to[i], std::max(std::min(from[i], 2.0f), -3.0f));
  CHECK_EQ(a[4], 5.0f);
  CHECK(std::signbit(Vec<float>(-0.0f)[3]));
  CHECK(std::signbit(Vec<double>(-0.0)[1]));
}

// Found by the sanitizer of undefined behaviour: the sum of a long row of large integers.
TEST(integers_wrap_around) {
  const Vec<std::int64_t> least(INT64_MIN), two(2);
  CHECK_EQ((least - two)[0], INT64_MAX - 1);
  CHECK_EQ((Vec<std::int64_t>(INT64_MAX) + two)[1], INT64_MIN + 1);
  CHECK_EQ((least * two)[2], 0);
  CHECK_EQ((-least)[3], INT64_MIN);
  CHECK_EQ(multiply_add(least, two, least)[0], INT64_MIN);
  CHECK_EQ((Vec<std::int8_t>(100) + Vec<std::int8_t>(100))[31], -56);
}

// 70 x 90: whole blocks and the remainder.
TEST(transposed_operands) {
  for (CPUCapability capability : {CPUCapability::DEFAULT, get_cpu_capability()}) {
    Capability scope(capability);
    for (ScalarType dtype :
         {kByte, kShort, kInt, kLong, kFloat, kDouble, kHalf, kComplexDouble, kComplexFloat}) {
      Tensor a = t(detail::to_dtype(arange({90, 70}, kLong), dtype)), out = empty({70, 90}, dtype);
      opgen::copy_(out, a);
      CHECK(values(out) == values(a));
      // A block in the middle of a larger matrix, and an output that is transposed, too.
      Tensor part = strided(arange({120 * 100}, kInt), {70, 90}, {1, 100}, 7);
      Tensor turned = t(empty({90, 70}, kInt));
      opgen::copy_(turned, part);
      CHECK(values(turned) == values(part));
    }
    Tensor a = arange({64, 64}), b = t(arange({64, 64})), c = t(arange({64, 64}));
    TensorIterator iter = TensorIterator::binary_op(empty({64, 64}), b, c);
    cpu_kernel(iter, [](float x, float y) { return x - 2 * y; });
    for (double v : values(detail::to_dtype(iter.output(), kDouble))) CHECK(v <= 0);
    CHECK_EQ(iter.output().data_ptr<float>()[65], -65.0f);
  }
}
