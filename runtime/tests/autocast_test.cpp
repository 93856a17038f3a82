// autocast_test.cpp: scopes, casts, the cache, and typed and boxed wrappers.
#include "opgen/transforms/autocast.h"

#include <thread>

#include "check.h"
#include "operators.h"
#include "opgen/autograd.h"
#include "opgen/autograd/primitives.h"

using namespace opgen;
using tensors::arange;
using tensors::full;
using tensors::values;

// An operator with a typed handle, as in generated code.
struct join_op : Operator<join_op, Tensor(TensorList, const std::optional<Tensor>&,
                                          const List<std::optional<Tensor>>&, double)> {
  static constexpr const char* name = "c::join";
  static OperatorSlot slot;
};
OperatorSlot join_op::slot{"c::join", "", &boxing<join_op::schema>};
struct pair_op : Operator<pair_op, Tensor(const Tensor&, const Tensor&)> {
  static constexpr const char* name = "c::pair";
  static OperatorSlot slot;
};
OperatorSlot pair_op::slot{"c::pair", "", &boxing<pair_op::schema>};
struct into_op : Operator<into_op, Tensor&(const Tensor&, Tensor&)> {
  static constexpr const char* name = "c::into";
  static OperatorSlot slot;
};
OperatorSlot into_op::slot{"c::into", "out", &boxing<into_op::schema>};

namespace {

const SchemaRow schemas[] = {
    {&join_op::slot, "join(Tensor[] list, Tensor? one, Tensor?[] many, float f) -> Tensor", ""},
    {&pair_op::slot, "pair(Tensor a, Tensor b) -> Tensor", ""},
    {&into_op::slot, "into.out(Tensor a, *, Tensor(a!) out) -> Tensor(a!)", ""},
};
const SchemaTable schema_table("c", "test", schemas, 3);

ScalarType seen[4];
Tensor join_kernel(TensorList list, const std::optional<Tensor>& one,
                   const List<std::optional<Tensor>>& many, double f) {
  seen[0] = list[0].scalar_type();
  seen[1] = one.has_value() ? one->scalar_type() : ScalarType::Undefined;
  seen[2] = many[0].has_value() ? many[0]->scalar_type() : ScalarType::Undefined;
  CHECK(f == 0.5 && !autocast::is_enabled());
  return list[0];
}
Tensor pair_kernel(const Tensor& a, const Tensor& b) {
  seen[0] = a.scalar_type();
  seen[1] = b.scalar_type();
  return a;
}
Tensor& into_kernel(const Tensor& a, Tensor& out) {
  seen[0] = a.scalar_type();
  seen[1] = out.scalar_type();
  return out;
}
const KernelRow kernels[] = {kernel<join_op>(&join_kernel), kernel<pair_op>(&pair_kernel),
                             kernel<into_op>(&into_kernel)};
const KernelTable kernel_table("test", DispatchKey::CPU, kernels, 3);
const KernelRow wrappers[] = {autocast::row<autocast::LowerPrecision, join_op>(),
                              autocast::row<autocast::Promote, pair_op>(),
                              autocast::row<autocast::Fp32, into_op>()};
const KernelTable wrapper_table("test", DispatchKey::AutocastCPU, wrappers, 3);

}  // namespace

OPGEN_LIBRARY_IMPL(t, AutocastCPU, m) {
  m.impl("add", autocast::lower_precision());
  m.impl("mul", autocast::promote());
  m.impl("sum", autocast::fp32());
  m.impl("add_", autocast::lower_precision());
  m.impl("add_all", autocast::lower_precision());
}

TEST(scopes) {
  CHECK(!autocast::is_enabled());
  {
    autocast::Mode mode;
    CHECK(autocast::is_enabled() && autocast::lower_precision_dtype() == kBFloat16);
    {
      autocast::Mode half(kCPU, kHalf);
      CHECK_EQ(autocast::lower_precision_dtype(), kHalf);
      autocast::Mode off(kCPU, ScalarType::Undefined, false);
      CHECK(!autocast::is_enabled());
      autocast::Mode on_again;
      CHECK(autocast::is_enabled());
    }
    CHECK(autocast::is_enabled() && autocast::lower_precision_dtype() == kBFloat16);
    CHECK(!autocast::is_enabled(kCUDA));
    std::thread([] { CHECK(!autocast::is_enabled()); }).join();
  }
  CHECK(!autocast::is_enabled());
  CHECK_THROWS(Error, "no autocast key exists for device meta", autocast::Mode(kMeta));
  CHECK_THROWS(Error, "to Half or BFloat16, not to Float", autocast::Mode(kCPU, kFloat));
  CHECK(!autocast::is_enabled());
}

TEST(eligible_tensors_are_cast) {
  CHECK_EQ(autocast::cached_cast(kHalf, arange({2})).scalar_type(), kHalf);
  CHECK_EQ(autocast::cached_cast(kHalf, arange({2}, kDouble)).scalar_type(), kDouble);
  CHECK_EQ(autocast::cached_cast(kHalf, arange({2}, kLong)).scalar_type(), kLong);
  CHECK_EQ(autocast::cached_cast(kHalf, tensors::meta({2})).scalar_type(), kFloat);
  CHECK(!autocast::cached_cast(kHalf, Tensor()).defined());
  CHECK_EQ(autocast::cached_cast(kHalf, 7), 7);
  Tensor half = arange({2}, kHalf), bf16 = arange({2}, kBFloat16), fp32 = arange({2});
  auto promote = [](const auto&... t) { return autocast::promote_type(kBFloat16, kCPU, t...); };
  CHECK(promote(bf16, bf16) == kBFloat16 && promote(bf16, fp32) == kFloat);
  CHECK(promote(bf16, half) == kFloat && promote(bf16, arange({2}, kDouble)) == kBFloat16);
  CHECK(promote(std::optional<Tensor>(fp32), 1.0) == kFloat);
  CHECK(promote(std::vector<Tensor>{bf16}) == kBFloat16);
  std::vector<Tensor> list{bf16, fp32};
  CHECK(promote(TensorList(list)) == kFloat);
}

TEST(boxed_wrappers) {
  Tensor a = arange({2, 3});
  CHECK_EQ(ops::add(a, a).scalar_type(), kFloat);
  autocast::Mode mode;
  Tensor sum = ops::add(full({1}, 1.001), full({1}, 0));
  CHECK(sum.scalar_type() == kBFloat16 && values(sum)[0] == 1);
  CHECK_EQ(ops::add(full({1}, 1, kDouble), full({1}, 1)).scalar_type(), kDouble);
  CHECK_EQ(ops::add_all({a, a}, std::nullopt).scalar_type(), kBFloat16);
  CHECK_EQ(ops::mul(full({1}, 1), full({1}, 1, kBFloat16)).scalar_type(), kFloat);
  CHECK_EQ(ops::mul(full({1}, 1, kBFloat16), full({1}, 1, kBFloat16)).scalar_type(), kBFloat16);
  CHECK_EQ(ops::sum(arange({2, 3}, kBFloat16)).scalar_type(), kFloat);
  // A written argument keeps its dtype.
  Tensor self = full({1}, 1);
  ops::add_(self, full({1}, 1.001));
  CHECK(self.scalar_type() == kFloat && values(self)[0] == 2);
}

TEST(typed_wrappers) {
  Tensor a = arange({2});
  std::vector<Tensor> list{a, a};
  List<std::optional<Tensor>> many{a, std::nullopt};
  join_op::call(list, a, many, 0.5);
  CHECK(seen[0] == kFloat && seen[1] == kFloat && seen[2] == kFloat);
  autocast::Mode mode;
  join_op::call(list, a, many, 0.5);
  CHECK(seen[0] == kBFloat16 && seen[1] == kBFloat16 && seen[2] == kBFloat16);
  join_op::call(list, std::nullopt, many, 0.5);
  CHECK_EQ(seen[1], ScalarType::Undefined);
  pair_op::call(a, arange({2}, kBFloat16));
  CHECK(seen[0] == kFloat && seen[1] == kFloat);
  pair_op::call(arange({2}, kBFloat16), arange({2}, kBFloat16));
  CHECK(seen[0] == kBFloat16 && seen[1] == kBFloat16);
  Tensor out = arange({2}, kHalf);
  CHECK_EQ(&into_op::call(arange({2}, kBFloat16), out), &out);
  CHECK(seen[0] == kFloat && seen[1] == kHalf);
}

TEST(weights_are_converted_once) {
  Tensor weight = arange({2});
  autograd::set_requires_grad(weight, true);
  auto cast = [](const Tensor& t) { return autocast::cached_cast(kBFloat16, t); };
  CHECK(!cast(weight).is_same(cast(weight)));  // outside of all scopes, casts are not cached
  {
    autocast::Mode mode;
    Tensor first = cast(weight);
    {
      autocast::Mode inner;
      CHECK(cast(weight).is_same(first));
    }
    CHECK(cast(weight).is_same(first) && autocast::cache_size() == 1);
    // Activations are not cached, and neither are casts made without recording.
    CHECK(!cast(arange({2})).is_same(cast(arange({2}))));
    {
      NoGradGuard no_grad;
      CHECK(!cast(weight).is_same(first) && !autograd::requires_grad(cast(weight)));
      ops::op<Tensor&(Tensor&, const Tensor&)>("t::add_").call(weight, full({2}, 1));
    }
    // The weight was changed in place, so the cached cast is stale.
    CHECK_EQ(values(cast(weight)), (std::vector<double>{1, 2}));
    // The cast's gradient reaches the weight.
    autograd::backward(cast(weight), full({2}, 3, kBFloat16));
    CHECK_EQ(autograd::grad_of(weight).scalar_type(), kFloat);
    CHECK_EQ(values(autograd::grad_of(weight)), (std::vector<double>{3, 3}));
    autocast::Mode without(kCPU, kBFloat16, true, false);
    CHECK(!cast(weight).is_same(cast(weight)));
  }
  CHECK_EQ(autocast::cache_size(), 0u);
}

TEST(a_freed_weight_is_never_matched) {
  autocast::Mode mode;
  for (int i = 0; i < 8; ++i) {
    // The pool returns the address of the freed tensor.
    Tensor weight = full({2}, i);
    autograd::set_requires_grad(weight, true);
    CHECK_EQ(values(autocast::cached_cast(kBFloat16, weight))[0], i);
  }
}

TEST(default_lists) {
  CHECK(autocast::eligible_operators(autocast::Policy::LowerPrecision).size() > 5);
  Library defs(Library::Kind::Fragment, "aten", DispatchKey::Undefined, __FILE__, __LINE__);
  defs.def("mm(Tensor self, Tensor mat2) -> Tensor");
  defs.def("mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)");
  defs.impl("mm", DispatchKey::CPU, pair_kernel);
  auto mm = Dispatcher::singleton().findSchemaOrThrow("aten::mm", "");
  {
    std::vector<RegistrationHandle> handles = autocast::register_defaults();
    CHECK_EQ(handles.size(), 1u);
    autocast::Mode mode;
    mm.typed<ops::Binary>().call(arange({2}), arange({2}));
    CHECK_EQ(seen[0], kBFloat16);
  }
  CHECK(!mm.has_kernel_for(DispatchKey::AutocastCPU));
}
