// structured_test.cpp: functional, out= and in-place operators made from a meta and an impl.
#include <string>
#include <tuple>

#include "check.h"
#include "opgen/cpu/loops.h"
#include "opgen/dispatch_macros.h"
#include "opgen/kernel_macros.h"
#include "opgen/register.h"
#include "opgen/registration/apart_out.h"
#include "opgen/tensor/resize.h"
#include "tensors.h"

using namespace tensors;

namespace {

// -- as in generated code: an elementwise operator on the iterator

struct add_meta : TensorIteratorBase {
  static constexpr std::size_t opgen_outputs = 1;
  void meta(const Tensor& self, const Tensor& other, const Scalar& alpha);
};
struct add_cpu : add_meta {
  void impl(const Tensor& self, const Tensor& other, const Scalar& alpha, const Tensor& out);
};
#define OPGEN_NativeMetaFunctions_h_META_add_Tensor add_meta
#define OPGEN_NativeFunctions_h_IMPL_add_out_cpu add_cpu

OPGEN_META_FUNC2(add, Tensor)(const Tensor& self, const Tensor& other, const Scalar&) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}
OPGEN_IMPL_FUNC(add_out_cpu)
(const Tensor&, const Tensor&, const Scalar& alpha, const Tensor& out) {
  CHECK(out.defined());
  OPGEN_DISPATCH_ALL_BUT_BOOL(common_dtype(), "add", [&] {
    using T = opmath_type<scalar_t>;
    cpu_kernel_opmath<scalar_t>(*this, [a = alpha.to<T>()](auto x, auto y) { return x + a * y; });
  });
}
struct add_op {
  static constexpr const char* name = "t::add";
  using schema = Tensor(const Tensor&, const Tensor&, const Scalar&);
};
struct add_inplace_op {
  static constexpr const char* name = "t::add_inplace";
  using schema = Tensor&(Tensor&, const Tensor&, const Scalar&);
};
struct add_out_op {
  static constexpr const char* name = "t::add_out";
  using schema = Tensor&(const Tensor&, const Tensor&, const Scalar&, Tensor&);
  static Tensor& call(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
    return Out<DispatchKey::CPU, add_cpu, add_out_op>::call(self, other, alpha, out);
  }
};
constexpr auto add = &Functional<DispatchKey::CPU, add_cpu, add_op>::call;
constexpr auto add_out = &Out<DispatchKey::CPU, add_cpu, add_out_op>::call;
constexpr auto add_ = &Inplace<DispatchKey::CPU, add_cpu, add_inplace_op, 0>::call;

// -- an operator with two outputs, exact strides and precomputed values

struct halves_meta : MetaBase {
  static constexpr std::size_t opgen_outputs = 2;
  struct meta_return_ty {
    std::int64_t half;
  };
  meta_return_ty meta(const Tensor& self) {
    OPGEN_CHECK(self.dim() == 1 && self.numel() % 2 == 0, "halves: one even dimension");
    std::int64_t half = self.size(0) / 2;
    set_output_contiguous(0, {half, 1}, self.options());
    set_output_strided(1, {half, 1}, {1, half}, self.options());
    return {half};
  }
};
struct halves_cpu : halves_meta {
  void opgen_impl(const meta_return_ty& precomputed, const Tensor& self, const Tensor& first,
                  const Tensor& second) {
    impl(precomputed.half, self, first, second);
  }
  void impl(std::int64_t half, const Tensor& self, const Tensor& first, const Tensor& second) {
    CHECK(first.is_contiguous());
    CHECK_EQ(second.stride(1), half);
    opgen::copy_(first, strided(self, {half, 1}, {1, 1}));
    opgen::copy_(second, strided(self, {half, 1}, {1, 1}, half));
  }
};
struct halves_op {
  static constexpr const char* name = "t::halves";
  using schema = std::tuple<Tensor, Tensor>(const Tensor&);
};
struct halves_out_op {
  static constexpr const char* name = "t::halves_out";
  using schema = std::tuple<Tensor&, Tensor&>(const Tensor&, Tensor&, Tensor&);
};

// -- exact strides for an in-place operator

struct reverse_meta : MetaBase {
  static constexpr std::size_t opgen_outputs = 1;
  void meta(const Tensor& self) { set_output_contiguous(0, self.sizes(), self.options()); }
};
struct reverse_cpu : reverse_meta {
  void impl(const Tensor& self, const Tensor& out) {
    CHECK(out.is_contiguous());
    std::vector<double> all = values(self);
    float* data = out.mutable_data_ptr<float>();
    for (std::size_t i = 0; i < all.size(); ++i)
      data[i] = static_cast<float>(all[all.size() - 1 - i]);
  }
};
struct reverse_inplace_op {
  static constexpr const char* name = "t::reverse_inplace";
  using schema = Tensor&(Tensor&);
};

// -- an operator whose meta changes the shape

struct row_meta : MetaBase {
  static constexpr std::size_t opgen_outputs = 1;
  void meta(const Tensor& self) { set_output_raw_strided(0, {self.numel()}, {}, self.options()); }
};
struct row_cpu : row_meta {
  void impl(const Tensor& self, const Tensor& out) {
    opgen::copy_(out, strided(self, {self.numel()}, {1}));
  }
};
struct row_op {
  static constexpr const char* name = "t::row";
  using schema = Tensor&(Tensor&);
};

// -- a view of the second argument together with a new tensor, and an in-place view

struct corner_meta : MetaBase {
  void meta(const Tensor&, const Tensor& self, std::int64_t n) {
    if (!self.defined()) return set_output_view(0, {}, {}, 0);
    set_output_view(0, {n, n}, {self.stride(0), self.stride(1)}, self.storage_offset());
    set_output_contiguous(1, {n}, self.options());
  }
};
struct corner_op {
  static constexpr const char* name = "t::corner";
  using schema = std::tuple<Tensor, Tensor>(const Tensor&, const Tensor&, std::int64_t);
};
struct row_view_meta : MetaBase {
  void meta(const Tensor& self, std::int64_t row) {
    set_output_view(0, {self.size(1)}, {self.stride(1)}, row * self.stride(0));
  }
};
struct row_view_op {
  static constexpr const char* name = "t::row_view";
  using schema = Tensor&(Tensor&, std::int64_t);
};

// -- kernels without checks: one may overwrite its first tensor, the other may not

struct running_meta : InplaceMetaBase {
  static constexpr std::size_t opgen_outputs = 1;
  void meta(const Tensor& self, const Tensor&) {
    set_output_raw_strided(0, self.sizes(), {}, self.options());
  }
};
struct running_cpu : running_meta {
  void impl(const Tensor& self, const Tensor& other, const Tensor& out) {
    float sum = 0;
    for (std::int64_t i = 0; i < self.numel(); ++i) {
      sum += self.data_ptr<float>()[i * self.stride(0)];
      sum += other.data_ptr<float>()[i * other.stride(0)];
      out.data_ptr<float>()[i * out.stride(0)] = sum;
    }
  }
};
struct running_out_op {
  static constexpr const char* name = "t::running_out";
  static constexpr const char* schema_str =
      "t::running.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)";
  using schema = Tensor&(const Tensor&, const Tensor&, Tensor&);
  static Tensor& call(const Tensor& self, const Tensor& other, Tensor& out) {
    return Out<DispatchKey::CPU, running_cpu, running_out_op>::call(self, other, out);
  }
};
struct running_inplace_op {
  static constexpr const char* name = "t::running_inplace";
  static constexpr const char* schema_str =
      "t::running_(Tensor(a!) self, Tensor other) -> Tensor(a!)";
  using schema = Tensor&(Tensor&, const Tensor&);
};

struct join_meta : MetaBase {
  static constexpr std::size_t opgen_outputs = 1;
  void meta(TensorList tensors, const std::optional<Tensor>&) {
    std::int64_t size = 0;
    for (const Tensor& tensor : tensors) size += tensor.size(0);
    set_output_raw_strided(0, {size}, {}, tensors[0].options());
  }
};
struct join_cpu : join_meta {
  void impl(TensorList tensors, const std::optional<Tensor>&, const Tensor& out) {
    std::int64_t start = 0;
    for (const Tensor& tensor : tensors) {
      opgen::copy_(strided(out, {tensor.size(0)}, {out.stride(0)},
                           out.storage_offset() + start * out.stride(0)),
                   tensor);
      start += tensor.size(0);
    }
  }
};
struct join_out_op {
  static constexpr const char* name = "t::join_out";
  static constexpr const char* schema_str =
      "t::join.out(Tensor[] tensors, Tensor? unused=None, *, Tensor(a!) out) -> Tensor(a!)";
  using schema = Tensor&(TensorList, const std::optional<Tensor>&, Tensor&);
};

struct reverse_raw_meta : MetaBase {
  static constexpr std::size_t opgen_outputs = 1;
  void meta(const Tensor& self) { set_output_raw_strided(0, self.sizes(), {}, self.options()); }
};
struct reverse_raw_cpu : reverse_raw_meta {
  void impl(const Tensor& self, const Tensor& out) {
    const std::int64_t n = self.numel();
    for (std::int64_t i = 0; i < n; ++i) {
      out.data_ptr<float>()[i * out.stride(0)] =
          self.data_ptr<float>()[(n - 1 - i) * self.stride(0)];
    }
  }
};
struct reverse_raw_out_op {
  static constexpr const char* name = "t::reverse_raw_out";
  using schema = Tensor&(const Tensor&, Tensor&);
  static Tensor& call(const Tensor& self, Tensor& out) {
    return Out<DispatchKey::CPU, reverse_raw_cpu, reverse_raw_out_op>::call(self, out);
  }
};

// -- an unstructured out= kernel: it resizes first and then reads

Tensor& pick_every_kernel(const Tensor& self, std::int64_t step, Tensor& out) {
  const std::int64_t n = (self.size(0) + step - 1) / step;
  opgen::resize_output(out, {n});
  for (std::int64_t i = 0; i < n; ++i) {
    out.data_ptr<float>()[i * out.stride(0)] =
        self.data_ptr<float>()[(self.size(0) - 1 - i * step) * self.stride(0)];
  }
  return out;
}
struct pick_every_out_op {
  static constexpr const char* schema_str =
      "t::pick_every.out(Tensor self, int step, *, Tensor(a!) out) -> Tensor(a!)";
  using schema = Tensor&(const Tensor&, std::int64_t, Tensor&);
};
void halve_kernel(const Tensor& self, TensorList out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    opgen::copy_(out[i], strided(self, {2}, {1},
                                 self.storage_offset() + 2 - 2 * static_cast<std::int64_t>(i)));
  }
}
struct halve_out_op {
  static constexpr const char* schema_str = "t::halve.out(Tensor self, *, Tensor(a!)[] out) -> ()";
  using schema = void(const Tensor&, TensorList);
};

// -- tensors of every kind, for the check of devices

struct pick_impl : MetaBase {
  static constexpr std::size_t opgen_outputs = 1;
  void meta(const Tensor& self, const Tensor&, const std::optional<Tensor>&, TensorList) {
    set_output_raw_strided(0, self.sizes(), {}, self.options());
  }
  void impl(const Tensor& self, const Tensor&, const std::optional<Tensor>&, TensorList,
            const Tensor& out) {
    opgen::copy_(out, self);
  }
};
struct pick_op {
  static constexpr const char* name = "t::pick";
  static constexpr const char* schema_str =
      "t::pick(Tensor self, Tensor other, Tensor? third, Tensor[] rest) -> Tensor";
  using schema = Tensor(const Tensor&, const Tensor&, const std::optional<Tensor>&, TensorList);
};

std::string last_warning;
void keep_warning(const char* text) {
  last_warning = text;
}
using Sizes = std::initializer_list<std::int64_t>;
bool is(IntArrayRef actual, Sizes expected) {
  return actual == IntArrayRef(expected);
}

}  // namespace

TEST(functional) {
  Tensor r = add(arange({2, 3}), arange({3}), 2);
  CHECK_EQ(values(r), (std::vector<double>{0, 3, 6, 3, 6, 9}));
  CHECK_EQ(add(arange({2}, kLong), arange({2}, kHalf), 1).scalar_type(), kHalf);
  CHECK_EQ(r.use_count(), 1u);
}

TEST(out) {
  Tensor given = empty({2, 3});
  Tensor& r = add_out(arange({2, 3}), arange({3}), 1, given);
  CHECK(&r == &given);
  CHECK_EQ(values(given), (std::vector<double>{0, 2, 4, 3, 5, 7}));
}

TEST(out_is_cast) {
  Tensor given = empty({3}, kDouble);
  add_out(arange({3}), arange({3}), 1, given);
  CHECK_EQ(given.scalar_type(), kDouble);
  CHECK_EQ(values(given), (std::vector<double>{0, 2, 4}));
  // Resizes and casts in one call.
  Tensor none = empty({0}, kDouble);
  add_out(arange({3}, kLong), arange({3}, kLong), 1, none);
  CHECK_EQ(values(none), (std::vector<double>{0, 2, 4}));
  CHECK_THROWS(Error, "cannot be stored",
               add_out(arange({3}), arange({3}), 1, given = empty({3}, kInt)));
}

TEST(out_is_resized_with_a_warning) {
  WarningHandler old = set_warning_handler(&keep_warning);
  last_warning.clear();
  Tensor given = empty({0});
  add_out(t(arange({2, 3})), t(arange({2, 3})), 1, given);
  CHECK(is(given.sizes(), {3, 2}));
  CHECK(is(given.strides(), {1, 3}));
  CHECK(last_warning.empty());
  given = arange({5});
  add_out(arange({2, 3}), arange({3}), 1, given);
  CHECK(is(given.sizes(), {2, 3}));
  CHECK(last_warning.find("[5] was resized to [2, 3]") != std::string::npos);
  set_warning_handler(old);
}

TEST(out_checks_dtype_and_device) {
  Tensor wrong = empty({2, 1}, kDouble);
  Tensor right = empty({2, 1});
  using halves_out = Out<DispatchKey::CPU, halves_cpu, halves_out_op>;
  CHECK_THROWS(Error, "expected an out= tensor of dtype Float but got Double",
               halves_out::call(arange({4}), right, wrong));
  Tensor elsewhere = meta({2, 1});
  CHECK_THROWS(Error, "expected an out= tensor on cpu but got one on meta",
               halves_out::call(arange({4}), elsewhere, right));
}

TEST(inplace) {
  Tensor a = arange({2, 3});
  Tensor& r = add_(a, arange({3}), 1);
  CHECK(&r == &a);
  CHECK_EQ(values(a), (std::vector<double>{0, 2, 4, 3, 5, 7}));
  CHECK_THROWS(Error, "broadcast", add_(a, arange({4, 2, 3}), 1));
  Tensor i = arange({3}, kLong);
  CHECK_THROWS(Error, "cannot be stored", add_(i, arange({3}), 1));
  Tensor f = arange({3});
  add_(f, arange({3}, kDouble), 1);
  CHECK_EQ(f.scalar_type(), kFloat);
  CHECK_EQ(values(f), (std::vector<double>{0, 2, 4}));
  using row_ = Inplace<DispatchKey::CPU, row_cpu, row_op, 0>;
  CHECK_THROWS(Error, "cannot change the shape", row_::call(a));
}

TEST(several_outputs_and_precomputed_values) {
  auto [first, second] = Functional<DispatchKey::CPU, halves_cpu, halves_op>::call(arange({6}));
  CHECK_EQ(values(first), (std::vector<double>{0, 1, 2}));
  CHECK_EQ(values(second), (std::vector<double>{3, 4, 5}));
  CHECK(is(second.strides(), {1, 3}));
}

TEST(proxies_are_copied_back) {
  Tensor first = strided(arange({20}), {3, 1}, {4, 1});
  Tensor second = strided(arange({20}), {3, 1}, {5, 1});
  auto outs = Out<DispatchKey::CPU, halves_cpu, halves_out_op>::call(arange({6}), first, second);
  CHECK(&std::get<0>(outs) == &first);
  CHECK(&std::get<1>(outs) == &second);
  CHECK(is(first.strides(), {4, 1}));
  CHECK_EQ(values(first), (std::vector<double>{0, 1, 2}));
  CHECK_EQ(values(second), (std::vector<double>{3, 4, 5}));
  Tensor self = t(arange({2, 3}));
  std::vector<double> before = values(self);
  Inplace<DispatchKey::CPU, reverse_cpu, reverse_inplace_op, 0>::call(self);
  CHECK(is(self.strides(), {1, 3}));
  CHECK(values(self) == std::vector<double>(before.rbegin(), before.rend()));
}

TEST(meta_key) {
  Tensor r = Functional<DispatchKey::Meta, add_meta, add_op>::call(meta({2, 1}), meta({3}), 1);
  CHECK(r.is_meta());
  CHECK(is(r.sizes(), {2, 3}));
  // If the inputs are not row-major, the strides are computed, and the device is that of the
  // inputs.
  Tensor turned = detail::alias_with_sizes_and_strides(meta({6}), {3, 2}, {1, 3}, 0);
  r = Functional<DispatchKey::Meta, add_meta, add_op>::call(turned, meta({2}), 1);
  CHECK(r.is_meta());
  CHECK_EQ(r.stride(0), 1);
  Tensor given = meta({0}, kDouble);
  Out<DispatchKey::Meta, add_meta, add_out_op>::call(meta({2}), meta({2}), 1, given);
  CHECK(is(given.sizes(), {2}));
  Tensor self = meta({2});
  Inplace<DispatchKey::Meta, add_meta, add_inplace_op, 0>::call(self, meta({1}), 1);
  CHECK_THROWS(
      Error, "broadcast",
      (Inplace<DispatchKey::Meta, add_meta, add_inplace_op, 0>::call(self, meta({3, 2}), 1)));
}

TEST(results_on_meta_have_the_same_strides_as_on_the_cpu) {
  // The promoted operand is a dense copy, so its original strides have no effect.
  for (bool expanded : {false, true}) {
    auto made = [&](Device device) {
      TensorOptions options = TensorOptions().device(device);
      Tensor base = detail::empty({2, 3}, options.dtype(kByte));
      Tensor a = expanded ? strided(base, {2, 3}, {0, 1}) : strided(base, {3, 2}, {1, 3});
      Tensor b = t(detail::empty({a.size(1), a.size(0)}, options.dtype(kDouble)));
      if (!device.is_meta()) opgen::zero_(base), opgen::zero_(b);
      return std::pair(a, b);
    };
    auto [a, b] = made(kCPU);
    auto [c, d] = made(kMeta);
    using on_meta = Functional<DispatchKey::Meta, add_meta, add_op>;
    CHECK(add(a, b, 1).strides() == on_meta::call(c, d, 1).strides());
    CHECK_EQ(on_meta::call(c, d, 1).scalar_type(), kDouble);
  }
}

TEST(inputs_share_a_device) {
  using first = Functional<DispatchKey::PrivateUse1, pick_impl, pick_op>;
  Tensor a = arange({2}), b = meta({2});
  CHECK_EQ(values(first::call(a, a, std::nullopt, {})), (std::vector<double>{0, 1}));
  CHECK_THROWS(Error,
               "Expected all tensors to be on the same device, but got other is on meta, different "
               "from other tensors on cpu (when checking argument in method t::pick)",
               first::call(a, b, std::nullopt, {}));
  CHECK_THROWS(Error, "got third is on meta", first::call(a, a, b, {}));
  CHECK_THROWS(Error, "got rest is on meta", first::call(a, a, std::nullopt, TensorList(b)));
}

TEST(composite) {
  using functional = CompositeFunctional<add_meta, add_op, add_out_op>;
  CHECK_EQ(values(functional::call(arange({3}), arange({3}), 2)), (std::vector<double>{0, 3, 6}));
  using inplace = CompositeInplace<add_meta, add_inplace_op, add_out_op, 0>;
  Tensor a = arange({3});
  CHECK(&inplace::call(a, arange({3}, kDouble), 2) == &a);
  CHECK_EQ(values(a), (std::vector<double>{0, 3, 6}));
}

TEST(views_alias_their_bases) {
  using view = View<DispatchKey::CPU, corner_meta, corner_op, Bases<1, -1>>;
  Tensor unused = arange({1}), a = arange({3, 4});
  auto [corner, fresh] = view::call(unused, a, 2);
  CHECK(corner.is_alias_of(a) && !fresh.is_alias_of(a));
  CHECK_EQ(values(corner), (std::vector<double>{0, 1, 4, 5}));
  CHECK_EQ(fresh.sizes(), IntArrayRef({2}));
  opgen::fill_(corner, 9);
  CHECK_EQ(values(a), (std::vector<double>{9, 9, 2, 3, 9, 9, 6, 7, 8, 9, 10, 11}));
  a = Tensor();
  CHECK_EQ(values(corner), (std::vector<double>{9, 9, 9, 9}));
  CHECK(std::get<0>(view::call(unused, meta({3, 4}), 2)).is_meta());
}

TEST(views_stay_inside_of_their_storage) {
  using view = View<DispatchKey::CPU, corner_meta, corner_op, Bases<1, -1>>;
  Tensor unused = arange({1}), a = arange({3, 4});
  CHECK_THROWS(Error, "but the storage has 12", view::call(unused, a, 4));
  CHECK_THROWS(Error, "negative", view::call(unused, a, -1));
  CHECK_THROWS(Error, "", view::call(unused, a, std::int64_t{1} << 62));
  CHECK_THROWS(Error, "undefined tensor", view::call(unused, Tensor(), 1));
  using both = View<DispatchKey::CPU, corner_meta, corner_op, Bases<1, 0>>;
  CHECK_THROWS(Error, "output 1 is a view", both::call(unused, a, 2));
  using neither = View<DispatchKey::CPU, corner_meta, corner_op, Bases<-1, -1>>;
  CHECK_THROWS(Error, "output 0 is not a view", neither::call(unused, a, 2));
}

TEST(inplace_views_set_the_sizes_and_strides_of_self) {
  using inplace = InplaceView<DispatchKey::CPU, row_view_meta, row_view_op, 0>;
  Tensor a = arange({3, 4}), other = detail::alias_with_sizes_and_strides(a, {12}, {1}, 0);
  CHECK(&inplace::call(a, 1) == &a);
  CHECK_EQ(values(a), (std::vector<double>{4, 5, 6, 7}));
  CHECK(a.is_alias_of(other));
  // A call that fails leaves the tensor unchanged.
  Tensor b = arange({3, 4});
  CHECK_THROWS(Error, "but the storage has 12", inplace::call(b, 3));
  CHECK_EQ(b.sizes(), IntArrayRef({3, 4}));
}

namespace {

// -- mistakes of authors

struct silent_meta : MetaBase {
  static constexpr std::size_t opgen_outputs = 1;
  void meta(const Tensor&) {}
};
struct silent_cpu : silent_meta {
  void impl(const Tensor&, const Tensor&) { CHECK(false); }
};
struct silent_op {
  static constexpr const char* name = "m::pick";
  using schema = Tensor(const Tensor&);
};
struct silent_out_op {
  static constexpr const char* name = "m::pick";
  using schema = Tensor&(const Tensor&, Tensor&);
  static Tensor& call(const Tensor&, Tensor& out) { return out; }
};
struct silent_inplace_op {
  static constexpr const char* name = "m::pick_";
  using schema = Tensor&(Tensor&);
};

struct half_silent_meta : MetaBase {
  static constexpr std::size_t opgen_outputs = 2;
  void meta(const Tensor& self) { set_output_raw_strided(0, self.sizes(), {}, self.options()); }
};
struct half_silent_cpu : half_silent_meta {
  void impl(const Tensor&, const Tensor&, const Tensor&) { CHECK(false); }
};
struct half_silent_op {
  static constexpr const char* name = "m::both";
  using schema = std::tuple<Tensor, Tensor>(const Tensor&);
};

struct unbuilt_meta : TensorIteratorBase {
  static constexpr std::size_t opgen_outputs = 1;
  void meta(const Tensor& self) {
    if (self.dim() == 1) set_output_raw_strided(0, self.sizes(), {}, self.options());
  }
};
struct unbuilt_cpu : unbuilt_meta {
  void impl(const Tensor&, const Tensor&) {
    cpu_kernel(*this, [](float x) { return x; });
  }
};

}  // namespace

TEST(a_meta_function_that_sets_no_output) {
  constexpr const char* text = "the meta function (OPGEN_META_FUNC) did not set output 0";
  Tensor a = arange({3}), given = arange({2});
  CHECK_THROWS(Error, text, Functional<DispatchKey::CPU, silent_cpu, silent_op>::call(a));
  CHECK_THROWS(Error, text, Functional<DispatchKey::Meta, silent_meta, silent_op>::call(a));
  CHECK_THROWS(Error, text, Out<DispatchKey::CPU, silent_cpu, silent_out_op>::call(a, given));
  CHECK_THROWS(Error, text, Out<DispatchKey::Meta, silent_meta, silent_out_op>::call(a, given));
  CHECK_THROWS(Error, "the meta function (OPGEN_META_FUNC) did not set output 0",
               Inplace<DispatchKey::CPU, silent_cpu, silent_inplace_op, 0>::call(a));
  CHECK_THROWS(Error, text, CompositeFunctional<silent_meta, silent_op, silent_out_op>::call(a));
  CHECK_THROWS(Error, "the meta function (OPGEN_META_FUNC) did not set output 1",
               Functional<DispatchKey::CPU, half_silent_cpu, half_silent_op>::call(a));
  CHECK_EQ(values(given), (std::vector<double>{0, 1}));
}

TEST(a_meta_function_that_builds_no_iteration) {
  constexpr const char* text = "the meta function (OPGEN_META_FUNC) did not set up the iterator";
  Tensor given = arange({2});
  for (const Tensor& a : {arange({2}), arange({2, 2})}) {
    CHECK_THROWS(Error, text, Functional<DispatchKey::CPU, unbuilt_cpu, silent_op>::call(a));
    CHECK_THROWS(Error, text, Out<DispatchKey::CPU, unbuilt_cpu, silent_out_op>::call(a, given));
  }
  CHECK_THROWS(Error, "did not set output 0",
               Functional<DispatchKey::Meta, unbuilt_meta, silent_op>::call(meta({2, 2})));
}

TEST(set_output_without_outputs) {
  row_meta op;
  CHECK_THROWS(Error, "without outputs", op.meta(arange({2})));
  CHECK(!op.maybe_get_output().defined());
}

TEST(an_output_must_not_share_memory_with_an_input) {
  using join = Out<DispatchKey::CPU, join_cpu, join_out_op>;
  Tensor memory = arange({12});
  Tensor a = strided(memory, {2}, {1}), b = strided(memory, {2}, {1}, 4);
  const std::vector<Tensor> both = {a, b};
  auto out = [&](IntArrayRef sizes, IntArrayRef strides, std::int64_t offset) {
    Tensor given = strided(memory, sizes, strides, offset);
    join::call(both, std::nullopt, given);
    return values(given);
  };
  CHECK_THROWS(Error,
               "t::join.out: out would be resized from [2] to [4] while it shares its storage "
               "with tensors",
               join::call(both, std::nullopt, a));
  CHECK(is(a.sizes(), {2}));
  CHECK_THROWS(Error, "t::join.out: out shares memory with tensors, which is still read",
               out({4}, {1}, 1));
  CHECK_THROWS(Error, "shares memory", out({4}, {1}, 2));
  CHECK_THROWS(Error, "shares memory", out({4}, {2}, 0));
  CHECK_EQ(values(memory)[2], 2.0);
  CHECK_EQ(out({4}, {1}, 8), (std::vector<double>{0, 1, 4, 5}));
  // The outputs are in gaps that no element uses.
  const std::vector<Tensor> even = {strided(memory, {2}, {4}), strided(memory, {2}, {4}, 2)};
  Tensor odd = strided(memory, {4}, {2}, 1);
  join::call(even, std::nullopt, odd);
  CHECK_EQ(values(odd), (std::vector<double>{0, 4, 2, 6}));
  // The same check is made on Meta, so that a program also fails there.
  Tensor m = meta({4});
  using on_meta = Out<DispatchKey::Meta, join_meta, join_out_op>;
  CHECK_THROWS(Error, "shares memory", on_meta::call(TensorList(m), std::nullopt, m));
}

TEST(an_output_may_be_the_input_if_the_class_allows_it) {
  using running = Out<DispatchKey::CPU, running_cpu, running_out_op>;
  Tensor a = arange({4}), ones = full({4}, 1);
  running::call(a, ones, a);
  CHECK_EQ(values(a), (std::vector<double>{1, 3, 6, 10}));
  Tensor same = strided(a, {4}, {1});
  running::call(a, ones, same);
  CHECK_EQ(values(a), (std::vector<double>{2, 6, 13, 24}));
  CHECK_THROWS(Error, "t::running.out: out shares memory with other", running::call(ones, a, a));
  CHECK_THROWS(Error, "out shares memory with other", running::call(a, a, a));
  Tensor memory = arange({8});
  Tensor shifted = strided(memory, {4}, {1}, 1);
  CHECK_THROWS(Error, "out shares memory with self",
               running::call(strided(memory, {4}, {1}), ones, shifted));
  Tensor turned = strided(memory, {2}, {1});
  CHECK_THROWS(Error, "would be resized", running::call(strided(memory, {4}, {1}), ones, turned));

  for (auto inplace :
       {&Inplace<DispatchKey::CPU, running_cpu, running_inplace_op, 0>::call,
        &CompositeInplace<running_meta, running_inplace_op, running_out_op, 0>::call}) {
    Tensor self = arange({4});
    CHECK_EQ(values(inplace(self, ones)), (std::vector<double>{1, 3, 6, 10}));
    CHECK_THROWS(Error, "t::running_: self shares memory with other", inplace(self, self));
    Tensor once = expand(full({1}, 1), {4});
    CHECK_THROWS(Error, "several elements share memory", inplace(once, ones));
  }
}

// The kernel would otherwise read elements that it has overwritten.
TEST(in_place_operators_write_to_a_temporary) {
  for (auto inplace :
       {&Inplace<DispatchKey::CPU, reverse_raw_cpu, reverse_inplace_op, 0>::call,
        &CompositeInplace<reverse_raw_meta, reverse_inplace_op, reverse_raw_out_op, 0>::call}) {
    Tensor self = strided(arange({8}), {4}, {2});
    CHECK(&inplace(self) == &self);
    CHECK_EQ(values(self), (std::vector<double>{6, 4, 2, 0}));
  }
  Tensor self = arange({4});
  CHECK_THROWS(Error, "share",
               (Out<DispatchKey::CPU, reverse_raw_cpu, reverse_raw_out_op>::call(self, self)));
}

TEST(outputs_must_not_share_memory) {
  using halves_out = Out<DispatchKey::CPU, halves_cpu, halves_out_op>;
  Tensor memory = arange({12});
  Tensor first = strided(memory, {3, 1}, {2, 1}), second = strided(memory, {3, 1}, {2, 1}, 2);
  CHECK_THROWS(Error, "share memory", halves_out::call(arange({6}), first, second));
  Tensor apart = strided(memory, {3, 1}, {2, 1}, 1);
  halves_out::call(arange({6}), first, apart);
  CHECK_EQ(values(strided(memory, {6}, {1})), (std::vector<double>{0, 3, 1, 4, 2, 5}));
}

TEST(iterators_do_not_resize_their_inputs) {
  Tensor memory = arange({8});
  Tensor read = strided(memory, {6}, {1}), part = strided(memory, {2}, {1}, 6);
  CHECK_THROWS(Error, "would be resized from [2] to [6] while it shares its storage",
               add_out(read, read, 1, part));
  CHECK(is(part.sizes(), {2}));
  CHECK_THROWS(Error, "would be resized", add_out(read, arange({1}, kDouble), 1, part));
  CHECK_THROWS(Error, "overlap in memory", add_out(memory, memory, 1, read));
  CHECK(is(part.sizes(), {2}) && is(read.sizes(), {6}));
  CHECK_EQ(values(add_out(memory, memory, 1, memory))[5], 10.0);
}

TEST(unstructured_kernels_get_stand_ins) {
  WarningHandler old = set_warning_handler(&keep_warning);
  using pick_every = ApartOut<pick_every_out_op, &pick_every_kernel, 1, false>;
  Tensor a = arange({4});
  Tensor fresh = empty({0});
  CHECK(&pick_every::call(a, 1, fresh) == &fresh);
  CHECK_EQ(values(fresh), (std::vector<double>{3, 2, 1, 0}));
  CHECK(&pick_every::call(a, 1, a) == &a);
  CHECK_EQ(values(a), (std::vector<double>{3, 2, 1, 0}));
  Tensor memory = arange({8});
  Tensor shifted = strided(memory, {4}, {1}, 1);
  pick_every::call(strided(memory, {4}, {1}), 1, shifted);
  CHECK_EQ(values(memory), (std::vector<double>{0, 3, 2, 1, 0, 5, 6, 7}));
  CHECK_THROWS(Error,
               "t::pick_every.out: out would be resized from [4] to [2] while it shares its "
               "storage with an input",
               pick_every::call(a, 2, a));
  CHECK(is(a.sizes(), {4}));
  CHECK_EQ(values(a), (std::vector<double>{3, 2, 1, 0}));
  // A kernel that is declared elementwise needs no stand-in if the sizes match.
  using elementwise = ApartOut<pick_every_out_op, &pick_every_kernel, 1, true>;
  a = arange({4});
  elementwise::call(a, 1, a);
  CHECK_EQ(values(a), (std::vector<double>{3, 2, 2, 3}));
  Tensor part = strided(memory, {2}, {1});
  CHECK_THROWS(Error, "would be resized", elementwise::call(memory, 1, part));

  using halve = ApartOut<halve_out_op, &halve_kernel, 1, false>;
  a = arange({4});
  std::vector<Tensor> parts = {strided(a, {2}, {1}), strided(a, {2}, {1}, 2)};
  halve::call(a, parts);
  CHECK_EQ(values(a), (std::vector<double>{2, 3, 0, 1}));
  parts[1] = strided(a, {2}, {1}, 1);
  CHECK_THROWS(Error, "t::halve.out: the outputs out and out share memory", halve::call(a, parts));
  set_warning_handler(old);
}
