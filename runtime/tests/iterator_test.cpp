// iterator_test.cpp: shapes, strides, dtypes and outputs that the iterator infers, and loops over
// them.
#include <cmath>

#include "check.h"
#include "opgen/cpu/loops.h"
#include "opgen/dispatch_macros.h"
#include "opgen/iterator.h"
#include "tensors.h"

using namespace tensors;

namespace {

// a + b in the promoted dtype.
void add_kernel(TensorIteratorBase& iter) {
  OPGEN_DISPATCH_ALL(iter.common_dtype(), "add", [&] {
    cpu_kernel(iter,
               [](scalar_t a, scalar_t b) -> scalar_t { return static_cast<scalar_t>(a + b); });
  });
}
Tensor add(const Tensor& a, const Tensor& b, const Tensor& out = Tensor()) {
  TensorIterator iter = TensorIterator::binary_op(out, a, b);
  add_kernel(iter);
  return iter.output();
}
std::vector<double> sums(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(a[i] + b[i]);
  return result;
}
using Sizes = std::initializer_list<std::int64_t>;
bool is(IntArrayRef actual, Sizes expected) {
  return actual == IntArrayRef(expected);
}

}  // namespace

TEST(same_shape_contiguous_is_one_dimension) {
  Tensor a = arange({2, 3, 4});
  TensorIterator iter = TensorIterator::binary_op(Tensor(), a, a);
  CHECK(is(iter.shape(), {24}));
  CHECK(iter.is_contiguous());
  CHECK(is(iter.output().sizes(), {2, 3, 4}));
  add_kernel(iter);
  CHECK_EQ(values(iter.output()), sums(values(a), values(a)));
}

TEST(zero_dim_operands) {
  Tensor a = scalar(2, kFloat);
  Tensor r = add(a, scalar(3, kFloat));
  CHECK_EQ(r.dim(), 0);
  CHECK_EQ(values(r), std::vector<double>{5});
  CHECK(is(add(arange({2, 2}), a).sizes(), {2, 2}));
}

TEST(broadcasting) {
  Tensor a = arange({4, 1});
  Tensor b = arange({3});
  Tensor r = add(a, b);
  CHECK(is(r.sizes(), {4, 3}));
  CHECK_EQ(values(r), (std::vector<double>{0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5}));
  CHECK(is(add(arange({2, 1, 3}), arange({5, 1})).sizes(), {2, 5, 3}));
  CHECK(is(add(arange({0, 3}), arange({1, 3})).sizes(), {0, 3}));
  CHECK_THROWS(Error, "do not broadcast", static_cast<void>(add(arange({2}), arange({3}))));
}

TEST(output_strides_follow_the_inputs) {
  Tensor a = t(arange({3, 4}));
  Tensor r = add(a, a);
  CHECK(is(r.sizes(), {4, 3}));
  CHECK(is(r.strides(), {1, 4}));
  CHECK_EQ(values(r), sums(values(a), values(a)));
  // The first operand determines the order.
  Tensor b = arange({4, 3});
  CHECK(is(add(a, b).strides(), {1, 4}));
  CHECK(is(add(b, a).strides(), {3, 1}));
  CHECK_EQ(values(add(a, b)), sums(values(a), values(b)));
  // The output has the same order of dimensions, but no gaps.
  Tensor gaps = strided(arange({64}), {2, 3, 4}, {1, 16, 4});
  CHECK(is(add(gaps, gaps).strides(), {1, 8, 2}));
  // A broadcast operand does not influence the order.
  CHECK(is(add(expand(arange({1, 3}), {4, 3}), a).strides(), {1, 4}));
}

TEST(channels_last) {
  Tensor a = channels_last(arange({2, 3, 4, 5}));
  Tensor r = add(a, a);
  CHECK(is(r.strides(), {60, 1, 15, 3}));
  CHECK_EQ(values(r), sums(values(a), values(a)));
  CHECK(is(add(a, arange({3, 1, 1})).strides(), {60, 1, 15, 3}));
  CHECK(is(add(a, arange({2, 3, 4, 5})).strides(), {60, 1, 15, 3}));
}

TEST(dense_permuted_operands_of_equal_strides) {
  Tensor a = permute(arange({2, 3, 4}), {2, 0, 1});
  TensorIterator iter = TensorIterator::binary_op(Tensor(), a, a);
  CHECK(is(iter.shape(), {24}));
  CHECK(is(iter.output().strides(), {1, 12, 4}));
}

TEST(promotion) {
  Tensor i = arange({3}, kLong);
  Tensor f = arange({3}, kFloat);
  Tensor h = arange({3}, kHalf);
  Tensor bf = arange({3}, kBFloat16);
  Tensor b = full({3}, true, kBool);
  CHECK_EQ(add(i, f).scalar_type(), kFloat);
  CHECK_EQ(add(f, arange({3}, kDouble)).scalar_type(), kDouble);
  CHECK_EQ(add(h, bf).scalar_type(), kFloat);
  CHECK_EQ(add(h, i).scalar_type(), kHalf);
  CHECK_EQ(add(b, arange({3}, kByte)).scalar_type(), kByte);
  CHECK_EQ(add(arange({3}, kByte), arange({3}, kChar)).scalar_type(), kShort);
  CHECK_EQ(add(f, full({3}, 1, kComplexDouble)).scalar_type(), kComplexDouble);
  CHECK_EQ(values(add(i, f)), (std::vector<double>{0, 2, 4}));
  // Zero-dim tensors and numbers change the dtype only if their category is higher.
  CHECK_EQ(add(f, scalar(1, kDouble)).scalar_type(), kFloat);
  CHECK_EQ(add(i, scalar(1, kDouble)).scalar_type(), kDouble);
  CHECK_EQ(add(i, number(1.5)).scalar_type(), kFloat);
  CHECK_EQ(add(f, number(1.5)).scalar_type(), kFloat);
  CHECK_EQ(add(arange({3}, kByte), number(7)).scalar_type(), kByte);
  CHECK_EQ(add(b, number(7)).scalar_type(), kLong);
  CHECK_EQ(values(add(i, number(1.5))), (std::vector<double>{1.5, 2.5, 3.5}));
  // The result of numbers has the default dtype, unless a tensor has a higher category.
  CHECK_EQ(add(number(1.5), number(2.5)).scalar_type(), kFloat);
  CHECK_EQ(add(number(1), number(2.5)).scalar_type(), kFloat);
  CHECK_EQ(add(number(1), number(2)).scalar_type(), kLong);
  CHECK_EQ(add(number(1.5), scalar(1, kDouble)).scalar_type(), kDouble);
  CHECK_EQ(values(add(number(1.5), number(2.5))), std::vector<double>{4});
}

TEST(integers_to_float) {
  Tensor i = arange({3}, kInt);
  TensorIterator iter = TensorIterator::unary_float_op(Tensor(), i);
  CHECK_EQ(iter.common_dtype(), kFloat);
  cpu_kernel(iter, [](float x) { return std::sqrt(x); });
  CHECK_EQ(values(iter.output())[1], 1.0);
  CHECK_EQ(TensorIterator::binary_float_op(Tensor(), i, number(2)).dtype(), kFloat);
  CHECK_EQ(TensorIterator::unary_float_op(Tensor(), arange({3}, kHalf)).dtype(), kHalf);
}

TEST(outputs_of_another_dtype_are_cast) {
  Tensor out = empty({3}, kDouble);
  Tensor r = add(arange({3}, kLong), arange({3}, kLong), out);
  CHECK(r.is_same(out));
  CHECK_EQ(values(out), (std::vector<double>{0, 2, 4}));
  Tensor narrow = empty({3}, kHalf);
  CHECK_EQ(values(add(arange({3}, kDouble), arange({3}, kDouble), narrow)),
           (std::vector<double>{0, 2, 4}));
  CHECK_THROWS(Error, "dtype Float cannot be stored in an output of dtype Long",
               static_cast<void>(add(arange({3}), arange({3}), empty({3}, kLong))));
}

TEST(unary_dtypes_must_agree) {
  CHECK_THROWS(Error, "the same dtype",
               static_cast<void>(TensorIterator::unary_op(empty({3}, kDouble), arange({3}))));
}

TEST(comparisons_are_boolean) {
  Tensor a = arange({4});
  TensorIterator iter = TensorIterator::comparison_op(Tensor(), a, scalar(2, kLong));
  CHECK_EQ(iter.dtype(), kBool);
  cpu_kernel(iter, [](float x, float y) { return x < y; });
  CHECK_EQ(values(iter.output()), (std::vector<double>{1, 1, 0, 0}));
  Tensor out = empty({4}, kLong);
  TensorIterator into = TensorIterator::comparison_op(out, a, scalar(2, kLong));
  CHECK_EQ(into.dtype(), kBool);
  cpu_kernel(into, [](float x, float y) { return x < y; });
  CHECK_EQ(values(out), (std::vector<double>{1, 1, 0, 0}));
}

// Rows of outputs of another dtype are converted in blocks, others afterwards.
TEST(outputs_of_another_dtype_are_converted) {
  for (std::int64_t n : {1, 511, 512, 513, 200'000}) {
    Tensor a = arange({n}), limit = scalar(100, kFloat);
    std::vector<double> expected(static_cast<std::size_t>(n), 0.0);
    for (std::int64_t i = 0; i < std::min<std::int64_t>(n, 100); ++i) expected[std::size_t(i)] = 1;
    const auto less = [](float x, float y) { return x < y; };
    for (ScalarType dtype : {kFloat, kDouble, kBFloat16, kLong}) {
      Tensor out = empty({n}, dtype);
      TensorIterator into = TensorIterator::comparison_op(out, a, limit);
      cpu_kernel(into, less);
      CHECK_EQ(values(out), expected);
      Tensor gaps = strided(empty({2 * n}, dtype), {n}, {2}, 0);
      TensorIterator into_gaps = TensorIterator::comparison_op(gaps, a, limit);
      cpu_kernel(into_gaps, less);
      CHECK_EQ(values(gaps), expected);
    }
    // In place: each block is read before it is written.
    TensorIterator in_place = TensorIterator::comparison_op(a, a, limit);
    cpu_kernel(in_place, less);
    CHECK_EQ(values(a), expected);
  }
  Tensor matrix = arange({70, 30}), rows = t(empty({30, 70}, kFloat));
  TensorIterator transposed = TensorIterator::comparison_op(rows, matrix, scalar(40, kFloat));
  cpu_kernel(transposed, [](float x, float y) { return x < y; });
  std::vector<double> expected(2100, 0.0);
  std::fill_n(expected.begin(), 40, 1.0);
  CHECK_EQ(values(rows), expected);
}

TEST(outputs_of_the_caller) {
  Tensor a = arange({2, 3});
  Tensor out = t(empty({3, 2}));
  CHECK(is(out.strides(), {1, 2}));
  CHECK_EQ(values(add(a, a, out)), sums(values(a), values(a)));
  CHECK(is(out.strides(), {1, 2}));
  // An output without elements is resized without a warning.
  Tensor fresh = empty({0});
  CHECK_EQ(values(add(a, a, fresh)), sums(values(a), values(a)));
  CHECK(is(fresh.sizes(), {2, 3}));
  // An output that is an input cannot be resized.
  Tensor small = arange({3});
  CHECK_THROWS(Error, "broadcast", static_cast<void>(add(small, a, small)));
}

TEST(overlap) {
  Tensor base = arange({8});
  Tensor a = strided(base, {4}, {1}, 0);
  Tensor b = strided(base, {4}, {1}, 1);
  CHECK_THROWS(Error, "overlap", static_cast<void>(add(a, a, b)));
  CHECK_THROWS(Error, "share memory", static_cast<void>(add(a, a, expand(arange({1}), {4}))));
  CHECK_EQ(values(add(a, a, a)), (std::vector<double>{0, 2, 4, 6}));
  Tensor apart = strided(base, {4}, {1}, 4);
  CHECK_EQ(values(add(a, a, apart)), (std::vector<double>{0, 4, 8, 12}));
}

TEST(undefined_input) {
  CHECK_THROWS(Error, "undefined", static_cast<void>(add(Tensor(), arange({2}))));
}

TEST(meta_tensors) {
  TensorIterator iter = TensorIterator::binary_op(Tensor(), meta({2, 1}), meta({3}, kDouble));
  CHECK(iter.is_meta());
  CHECK(iter.output().is_meta());
  CHECK(is(iter.output().sizes(), {2, 3}));
  CHECK_EQ(iter.output().scalar_type(), kDouble);
  CHECK_THROWS(Error, "the same device",
               static_cast<void>(TensorIterator::binary_op(Tensor(), meta({2}), arange({2}))));
  CHECK(TensorIterator::binary_op(Tensor(), meta({2}), scalar(1, kFloat)).output().is_meta());
}

TEST(config) {
  Tensor a = arange({2, 3});
  Tensor out = empty({2, 3}, kLong);
  TensorIterator iter =
      TensorIteratorConfig().add_output(out).add_const_input(a).check_all_same_dtype(false).build();
  CHECK_EQ(iter.input_dtype(), kFloat);
  cpu_kernel(iter, [](float x) { return static_cast<std::int64_t>(x) * 2; });
  CHECK_EQ(values(out), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  TensorIterator squashed = TensorIteratorConfig()
                                .set_check_mem_overlap(false)
                                .check_all_same_dtype(false)
                                .resize_outputs(false)
                                .declare_static_shape(a.sizes(), {1})
                                .add_output(a)
                                .build();
  CHECK_EQ(squashed.numel(), 2);
  TensorIterator made = TensorIteratorConfig()
                            .declare_static_dtype_and_device(kShort, kCPU)
                            .check_all_same_dtype(false)
                            .add_output(Tensor())
                            .add_input(a)
                            .build();
  CHECK_EQ(made.dtype(), kShort);
}

TEST(linear_iteration) {
  Tensor a = t(arange({2, 3}));
  std::vector<float> seen;
  TensorIterator iter = TensorIteratorConfig()
                            .add_output(a)
                            .enforce_linear_iteration(true)
                            .resize_outputs(false)
                            .check_all_same_dtype(false)
                            .build();
  iter.serial_for_each(
      [&](char** data, const std::int64_t* strides, std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) {
          seen.push_back(*reinterpret_cast<float*>(data[0] + i * strides[0]));
        }
      },
      0, iter.numel());
  CHECK_EQ(seen, (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(parts_of_an_iteration) {
  Tensor a = strided(arange({200}), {3, 4, 5}, {1, 40, 5});
  TensorIterator iter = TensorIterator::nullary_op(a);
  CHECK_EQ(iter.ndim(), 3);
  auto collect = [&](std::int64_t begin, std::int64_t end, std::vector<float>& seen) {
    iter.serial_for_each(
        [&](char** data, const std::int64_t* strides, std::int64_t n) {
          for (std::int64_t i = 0; i < n; ++i) {
            seen.push_back(*reinterpret_cast<float*>(data[0] + i * strides[0]));
          }
        },
        begin, end);
  };
  std::vector<float> whole;
  collect(0, 60, whole);
  CHECK_EQ(whole.size(), 60u);
  for (std::int64_t cut = 0; cut <= 60; ++cut) {
    std::vector<float> parts;
    collect(0, cut, parts);
    collect(cut, 60, parts);
    CHECK(parts == whole);
  }
}

TEST(large_iterations_use_threads) {
  set_num_threads(4);
  Tensor a = arange({300, 700}, kDouble);
  Tensor b = t(arange({700, 300}, kDouble));
  Tensor r = add(a, b);
  set_num_threads(1);
  Tensor s = add(a, b);
  CHECK(values(r) == values(s));
  CHECK(values(r) == sums(values(a), values(b)));
}

TEST(kernels_of_every_form) {
  Tensor c = detail::to_dtype(arange({6}), kBool);
  Tensor x = arange({6});
  Tensor y = scalar(-1, kFloat);
  Tensor out = empty({6});
  TensorIterator where = TensorIteratorConfig()
                             .check_all_same_dtype(false)
                             .add_output(out)
                             .add_input(c)
                             .add_input(x)
                             .add_input(y)
                             .build();
  cpu_kernel(where, [](bool take, float p, float q) { return take ? p : q; });
  CHECK_EQ(values(out), (std::vector<double>{-1, 1, 2, 3, 4, 5}));
  TensorIterator nullary = TensorIterator::nullary_op(out);
  cpu_kernel(nullary, [] { return 3.0f; });
  CHECK_EQ(values(out)[5], 3.0);
  int next = 0;
  TensorIterator serial = TensorIterator::nullary_op(out);
  cpu_serial_kernel(serial, [&next]() -> float { return static_cast<float>(next++); });
  CHECK_EQ(values(out), values(x));
  CHECK_THROWS(Error, "takes Double", cpu_kernel(serial, []() -> double { return 1; }));

  Tensor half = arange({5}, kHalf);
  TensorIterator op = TensorIterator::binary_op(Tensor(), half, half);
  cpu_kernel_opmath<Half>(op, [](auto a, auto b) {
    static_assert(std::is_same_v<decltype(a), float>);
    return a * 2 + b;
  });
  CHECK_EQ(values(op.output()), (std::vector<double>{0, 3, 6, 9, 12}));

  Tensor whole = empty({4}, kLong);
  Tensor rest = empty({4});
  TensorIterator both = TensorIteratorConfig()
                            .check_all_same_dtype(false)
                            .add_output(whole)
                            .add_output(rest)
                            .add_input(detail::to_dtype(full({4}, 2.5), kFloat))
                            .build();
  cpu_kernel_multiple_outputs(both, [](float v) {
    return std::tuple<std::int64_t, float>(static_cast<std::int64_t>(v), v - std::floor(v));
  });
  CHECK_EQ(values(whole)[3], 2.0);
  CHECK_EQ(values(rest)[0], 0.5);

  TensorIterator ufunc = TensorIterator::binary_op(Tensor(), half, half);
  Scalar alpha = 2;
  CHECK(ufunc_loop<float, Half>(ufunc, [&]<class T>(std::type_identity<T>) {
    return [a = alpha.to<T>()](T p, T q) { return p + a * q; };
  }));
  CHECK_EQ(values(ufunc.output()), (std::vector<double>{0, 3, 6, 9, 12}));
  CHECK(!ufunc_loop<float>(ufunc, [](auto p, auto q) { return p + q; }));
}

// Returns how many of the types have the dtype.
template <class... T>
int count_of(TypeList<T...>, ScalarType dtype) {
  return (0 + ... + static_cast<int>(scalar_type_of<T> == dtype));
}

TEST(dispatch) {
  auto size_of = [](ScalarType t) {
    return dispatch<NumberTypes, bool>(t, "size", []<class scalar_t> { return sizeof(scalar_t); });
  };
  CHECK_EQ(size_of(kComplexDouble), 16u);
  CHECK_EQ(size_of(kBool), 1u);
  CHECK_THROWS(NotImplementedError, "'sqrt' is not implemented for dtype Bool",
               dispatch<FloatingTypes>(kBool, "sqrt", []<class> {}));
  for (int i = 0; i < 32; ++i) {
    if (!isValidScalarType(i)) continue;
    const ScalarType t = static_cast<ScalarType>(i);
    CHECK_EQ(count_of(IntegralTypes(), t), isIntegralType(t, false) ? 1 : 0);
    CHECK_EQ(count_of(FloatingTypes(), t), isFloatingType(t) ? 1 : 0);
    CHECK_EQ(count_of(ComplexTypes(), t), isComplexType(t) ? 1 : 0);
    CHECK_EQ(count_of(RealTypes(), t), t != kBool && !isComplexType(t) ? 1 : 0);
    CHECK_EQ(count_of(NumberTypes(), t), t != kBool ? 1 : 0);
  }
}

TEST(dispatch_macros) {
  auto size_of = [](ScalarType t) {
    return OPGEN_DISPATCH_ALL(t, "size", [&]() -> std::size_t { return sizeof(scalar_t); });
  };
  CHECK_EQ(size_of(kComplexDouble), 16u);
  CHECK_EQ(size_of(kBool), 1u);
  CHECK_THROWS(
      NotImplementedError, "'sqrt' is not implemented for dtype Bool",
      OPGEN_DISPATCH_FLOATING(kBool, "sqrt", [&] { static_cast<void>(sizeof(scalar_t)); }));
  int count = 0;
  for (int i = 0; i < 32; ++i) {
    if (!isValidScalarType(i)) continue;
    ScalarType t = static_cast<ScalarType>(i);
    OPGEN_DISPATCH(t, "list", OPGEN_WRAP([&] {
                     if (scalar_type_of<scalar_t> == t) ++count;
                   }),
                   OPGEN_INTEGRAL_DTYPES, OPGEN_FLOATING_DTYPES, OPGEN_HALF_DTYPES,
                   OPGEN_COMPLEX_DTYPES, Bool);
  }
  CHECK_EQ(count, 12);
}

// Compares every pair of layouts of a small tensor, also in place, with plain arithmetic.
TEST(layouts) {
  std::vector<Tensor> layouts = {
      arange({3, 4, 2}),
      permute(arange({2, 3, 4}), {1, 2, 0}),
      permute(arange({4, 2, 3}), {2, 0, 1}),
      strided(arange({100}), {3, 4, 2}, {20, 3, 2}, 5),
      expand(arange({3, 1, 2}), {3, 4, 2}),
      expand(arange({1}), {3, 4, 2}),
      strided(arange({64}), {3, 4, 2}, {1, 0, 7}, 3),
  };
  for (const Tensor& a : layouts) {
    for (const Tensor& b : layouts) {
      Tensor r = add(a, b);
      CHECK(values(r) == sums(values(a), values(b)));
      CHECK(r.is_non_overlapping_and_dense());
      Tensor copy = detail::clone(a);
      std::vector<double> expected = sums(values(a), values(b));
      CHECK(values(add(copy, b, copy)) == expected);
    }
  }
}

// The tensors are on invalid memory, because building and splitting an iteration does not read
// elements.
TEST(parts_for_32_bits) {
  Tensor small = arange({4, 5});
  CHECK(TensorIterator::unary_op(Tensor(), small).can_use_32bit_indexing());
  int parts = 0;
  TensorIterator::unary_op(Tensor(), small).with_32bit_indexing([&](TensorIteratorBase& part) {
    ++parts;
    CHECK_EQ(part.numel(), 20);
  });
  CHECK_EQ(parts, 1);

  constexpr std::int64_t rows = 3, columns = std::int64_t(1) << 30, gap = columns + 64;
  Tensor in = strided(arange({1}), {rows, columns}, {gap, 1});
  Tensor out = strided(arange({1}), {rows, columns}, {gap, 1});
  TensorIterator iter = TensorIterator::unary_op(out, in);
  CHECK(!iter.can_use_32bit_indexing());
  std::int64_t elements = 0;
  const char* first = static_cast<const char*>(iter.data_ptr(1));
  iter.with_32bit_indexing([&](TensorIteratorBase& part) {
    CHECK(part.can_use_32bit_indexing());
    std::int64_t at = static_cast<const char*>(part.data_ptr(1)) - first;
    CHECK(at >= 0 && at < rows * gap * 4);
    elements += part.numel();
  });
  CHECK_EQ(elements, rows * columns);

  Tensor sum = strided(arange({1}), {1, 1}, {0, 0});
  TensorIterator fold = TensorIterator::reduce_op(sum, in);
  CHECK_THROWS(Error, "32 bits", fold.with_32bit_indexing([](TensorIteratorBase&) {}));
}
