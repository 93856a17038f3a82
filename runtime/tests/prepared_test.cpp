// prepared_test.cpp: a structured operator that is set up once and run many times returns the same
// as separate calls.
#include "opgen/prepared.h"
#include "opgen/dispatch_macros.h"

#include "check.h"
#include "opgen/cpu/loops.h"
#include "opgen/kernel_macros.h"
#include "tensors.h"

using namespace tensors;

namespace {

int metas = 0;

struct add_meta : TensorIteratorBase {
  static constexpr std::size_t opgen_outputs = 1;
  void meta(const Tensor& self, const Tensor& other, const Scalar&) {
    ++metas;
    build_borrowing_binary_op(maybe_get_output(), self, other);
  }
};
struct add_cpu : add_meta {
  void impl(const Tensor&, const Tensor&, const Scalar& alpha, const Tensor&) {
    OPGEN_DISPATCH_ALL_BUT_BOOL(common_dtype(), "add", [&] {
      using T = opmath_type<scalar_t>;
      cpu_kernel_opmath<scalar_t>(*this, [a = alpha.to<T>()](auto x, auto y) { return x + a * y; });
    });
  }
};
struct add_out {
  static constexpr const char* name = "t::add";
  using schema = Tensor&(const Tensor&, const Tensor&, const Scalar&, Tensor&);
};
using PreparedAdd = Prepared<add_cpu, add_out>;

// Removes one operand from its own iteration.
struct plus_number_cpu : add_meta {
  void impl(const Tensor&, const Tensor&, const Scalar&, const Tensor&) {
    float number = scalar_value<float>(2);
    remove_operand(2);
    cpu_kernel(*this, [number](float x) { return x + number; });
  }
};

struct halves_meta : MetaBase {
  static constexpr std::size_t opgen_outputs = 2;
  struct meta_return_ty {
    std::int64_t half;
  };
  meta_return_ty meta(const Tensor& self, IntArrayRef add) {
    ++metas;
    OPGEN_CHECK(self.dim() == 1 && self.numel() % 2 == 0, "halves: one even dimension");
    std::int64_t half = self.size(0) / 2;
    set_output_contiguous(0, {half}, self.options());
    set_output_strided(1, {half, 1}, {1, half}, self.options());
    OPGEN_CHECK(add.size() == 2, "halves: two numbers to add");
    return {half};
  }
};
struct halves_cpu : halves_meta {
  void opgen_impl(const meta_return_ty& precomputed, const Tensor& self, IntArrayRef add,
                  const Tensor& first, const Tensor& second) {
    for (std::int64_t i = 0; i < precomputed.half; ++i) {
      const float* from = self.const_data_ptr<float>();
      first.mutable_data_ptr<float>()[i] = from[i] + static_cast<float>(add[0]);
      second.mutable_data_ptr<float>()[i] = from[i + precomputed.half] + static_cast<float>(add[1]);
    }
  }
};
struct halves_out {
  static constexpr const char* name = "t::halves";
  using schema = std::tuple<Tensor&, Tensor&>(const Tensor&, IntArrayRef, Tensor&, Tensor&);
};

}  // namespace

TEST(meta_runs_once) {
  Tensor a = arange({3}), b = full({3}, 10), out = empty({0});
  metas = 0;
  PreparedAdd add(a, b, 2, out);
  CHECK_EQ(out.sizes(), IntArrayRef({3}));
  for (int i = 0; i < 3; ++i) {
    opgen::fill_(b, i);
    add();
    CHECK_EQ(values(out), (std::vector<double>{0.0 + 2 * i, 1.0 + 2 * i, 2.0 + 2 * i}));
  }
  CHECK_EQ(metas, 1);
  CHECK(!add.is_set_up_each_time());
  CHECK(add.output().is_same(out));
}

TEST(broadcast_and_strided_operands) {
  Tensor a = t(arange({3, 2})), b = arange({3}), out = empty({2, 3});
  PreparedAdd add(a, b, 1, out);
  add();
  CHECK_EQ(values(out), (std::vector<double>{0, 3, 6, 1, 4, 7}));
  opgen::fill_(a, 1);
  add();
  CHECK_EQ(values(out), (std::vector<double>{1, 2, 3, 1, 2, 3}));
}

TEST(converted_operands_are_converted_each_time) {
  Tensor a = arange({3}, kLong), b = full({3}, 0.5), out = empty({3}, kDouble);
  metas = 0;
  PreparedAdd add(a, b, 1, out);
  CHECK(add.is_set_up_each_time());
  add();
  CHECK_EQ(values(out), (std::vector<double>{0.5, 1.5, 2.5}));
  opgen::fill_(a, 7);
  add();
  CHECK_EQ(values(out), (std::vector<double>{7.5, 7.5, 7.5}));
  CHECK_EQ(metas, 2);
}

TEST(a_kernel_may_modify_its_iteration) {
  Tensor a = arange({2}), b = scalar(5, kFloat), out = empty({2});
  metas = 0;
  Prepared<plus_number_cpu, add_out> add(a, b, 1, out);
  for (int i = 0; i < 3; ++i) {
    opgen::fill_(b, i);
    add();
    CHECK_EQ(values(out), (std::vector<double>{0.0 + i, 1.0 + i}));
  }
  CHECK_EQ(metas, 3);
}

TEST(several_outputs_and_lists) {
  Tensor self = arange({4}), first = empty({2}), second = empty({2, 1});
  metas = 0;
  std::int64_t numbers[] = {10, 20};
  Prepared<halves_cpu, halves_out> halves(self, IntArrayRef(numbers), first, second);
  numbers[0] = 0;  // lists are kept by value
  halves();
  CHECK_EQ(values(first), (std::vector<double>{10, 11}));
  CHECK_EQ(values(second), (std::vector<double>{22, 23}));
  opgen::fill_(self, 1);
  halves();
  CHECK_EQ(values(first), (std::vector<double>{11, 11}));
  CHECK_EQ(values(second), (std::vector<double>{21, 21}));
  CHECK_EQ(metas, 1);
}

TEST(the_constructor_rejects_invalid_arguments) {
  Tensor a = arange({3}), out = empty({3}, kLong);
  CHECK_THROWS(Error, "cannot be stored", PreparedAdd(a, a, 1, out));
  Tensor other = arange({2}), good = empty({3});
  CHECK_THROWS(Error, "do not broadcast", PreparedAdd(a, other, 1, good));
}

TEST(tensors_are_kept) {
  Tensor out = empty({2});
  PreparedAdd add(full({2}, 1), full({2}, 2), 1, out);
  add();
  CHECK_EQ(values(out), (std::vector<double>{3, 3}));
}

TEST(the_constructor_rejects_outputs_that_share_memory_with_inputs) {
  Tensor self = arange({4}), second = empty({2, 1});
  const std::int64_t numbers[] = {10, 20};
  Tensor first = strided(self, {2}, {1}, 1);
  CHECK_THROWS(Error, "shares memory",
               Prepared<halves_cpu, halves_out>(self, IntArrayRef(numbers), first, second));
  first = strided(self, {3}, {1}, 1);
  CHECK_THROWS(Error, "would be resized",
               Prepared<halves_cpu, halves_out>(self, IntArrayRef(numbers), first, second));
}
