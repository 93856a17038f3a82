// register_test.cpp: adapters in generated tables, existing functions, stubs and their report, and
// libraries that define the same operator.
#include <array>
#include <string>
#include <vector>

#include "check.h"
#include "opgen/boxing.h"
#include "opgen/existing.h"
#include "opgen/register.h"
#include "opgen/stub.h"
#include "opgen/tensor.h"
#include "opgen/tensor/empty.h"

using namespace opgen;

namespace kernels {

// In the same form as generated code: declarations, and weak bodies in a separate section.
struct opgen_written {
  static Tensor call(const Tensor& self);
};
struct opgen_missing {
  static Tensor call(const Tensor& self);
};
struct structured_missing {
  void impl(const Tensor& self, const Tensor& out);
};

}  // namespace kernels

namespace {
extern const KernelStub stubs[];
}
OPGEN_STUB Tensor kernels::opgen_missing::call(const Tensor&) {
  throw_missing_kernel(stubs[1]);
}
OPGEN_STUB void kernels::structured_missing::impl(const Tensor&, const Tensor&) {
  throw_missing_kernel(stubs[2]);
}
Tensor kernels::opgen_written::call(const Tensor& self) {
  return self;
}
namespace {
const KernelStub stubs[] = {
    {{"t::written", "CPU", "OPGEN_KERNEL(written)(const Tensor& self)"},
     kernel_address(&kernels::opgen_written::call)},
    {{"t::missing", "CPU", "OPGEN_KERNEL(missing)(const Tensor& self)"},
     kernel_address(&kernels::opgen_missing::call)},
    {{"t::missing.out", "Meta", "OPGEN_IMPL_FUNC(missing)(const Tensor& self, const Tensor& out)"},
     kernel_address(&kernels::structured_missing::impl)},
};

#define OPERATOR(struct_name, op_name, overload, ...)                           \
  struct struct_name : Operator<struct_name, __VA_ARGS__> {                     \
    static constexpr const char* name = op_name;                                \
    static constexpr const char* overload_name = overload;                      \
    static OperatorSlot slot;                                                   \
  };                                                                            \
  OperatorSlot struct_name::slot {                                              \
    struct_name::name, struct_name::overload_name, &boxing<struct_name::schema> \
  }

}  // namespace

namespace generated {
struct guarded : Operator<guarded, Tensor(const Tensor&, const std::optional<Tensor>&, TensorList,
                                          std::optional<Device>)> {
  static constexpr const char* name = "t::guarded";
  static constexpr const char* overload_name = "";
  static constexpr const char* schema_str =
      "guarded(Tensor a, Tensor? b, Tensor[] c, Device? d) -> Tensor";
  static OperatorSlot slot;
};
OperatorSlot guarded::slot{guarded::name, guarded::overload_name, &boxing<guarded::schema>};
OPERATOR(written_optional, "t::written_optional", "", Tensor&(Tensor&, Tensor&));
OPERATOR(meta_inplace, "t::meta_inplace_", "", Tensor&(Tensor&, std::int64_t));
}  // namespace generated
using namespace generated;

namespace {

struct FakeGuard final : DeviceGuardImpl {
  mutable DeviceIndex current = 0;
  Device device() const override { return {kPrivateUse1, current}; }
  Device exchange_device(Device d) const override {
    Device old = device();
    current = d.index();
    return old;
  }
  DeviceIndex device_count() const noexcept override { return 4; }
};
FakeGuard fake_guard;

struct FakeAllocator final : Allocator {
  DataPtr allocate(std::size_t, Device device) override {
    return {nullptr, nullptr, nullptr, device};
  }
};
FakeAllocator fake_allocator;

Tensor on(DeviceIndex index) {
  return detail::empty({2}, Device(kPrivateUse1, index));
}
std::string seen;
Tensor guarded_kernel(const Tensor& self, OptionalTensorRef, ITensorListRef,
                      std::optional<Device>) {
  seen = std::to_string(fake_guard.current);
  return self;
}

}  // namespace

TEST(stub_report) {
  const StubTable table("lib", stubs, 3, __start_opgen_stubs, __stop_opgen_stubs);
  auto report = opgen_stub_report();
  CHECK_EQ(report.size(), 2u);
  CHECK(report[0].op == "t::missing" && report[1].op == "t::missing.out" &&
        report[1].key == "Meta");
  CHECK(report[0].library == "lib" &&
        report[0].signature == "OPGEN_KERNEL(missing)(const Tensor& self)");
  CHECK_THROWS(
      NotImplementedError,
      "t::missing has no CPU kernel yet; write\n  OPGEN_KERNEL(missing)(const Tensor& self) {",
      kernels::opgen_missing::call(Tensor()));
  kernels::structured_missing op;
  CHECK_THROWS(NotImplementedError, "t::missing.out has no Meta kernel yet",
               op.impl(Tensor(), Tensor()));
}
TEST(stub_report_forgets) {
  CHECK(opgen_stub_report().empty());
}

TEST(device_guarded_adapters) {
  set_device_guard_impl(kPrivateUse1, &fake_guard);
  set_allocator(kPrivateUse1, &fake_allocator);
  using Kernel =
      Tensor (*)(const Tensor&, OptionalTensorRef, ITensorListRef, std::optional<Device>);
  using Checked =
      DeviceGuarded<guarded, Kernel, &guarded_kernel, true, std::index_sequence<0, 1, 2>, 0>;
  const SchemaRow schemas[] = {{&guarded::slot, guarded::schema_str, ""}};
  const SchemaTable schema_table("t", "lib", schemas, 1);
  const KernelRow rows[] = {kernel<guarded>(&Checked::call)};
  const KernelTable table("lib", DispatchKey::PrivateUse1, rows, 1);
  Tensor two = on(2), three = on(3);
  guarded::call(two, std::nullopt, {}, std::nullopt);
  CHECK(seen == "2" && fake_guard.current == 0);
  CHECK_THROWS(Error,
               "got b is on privateuseone:3, different from other tensors on privateuseone:2",
               guarded::call(two, three, {}, std::nullopt));
  CHECK_THROWS(Error, "got c is on privateuseone:3",
               guarded::call(two, Tensor(), TensorList(three), std::nullopt));
  using Unchecked =
      DeviceGuarded<guarded, Kernel, &guarded_kernel, false, std::index_sequence<>, 3>;
  Unchecked::call(two, three, {}, Device(kPrivateUse1, 1));
  CHECK_EQ(seen, "1");
  using Unguarded =
      DeviceGuarded<guarded, Kernel, &guarded_kernel, false, std::index_sequence<>, -1>;
  Unguarded::call(two, three, {}, Device(kPrivateUse1, 1));
  CHECK_EQ(seen, "0");
}

namespace {
Tensor& optional_kernel(Tensor& self, std::optional<Tensor>& written) {
  seen = written.has_value() ? "has" : "has not";
  return self;
}
}  // namespace

TEST(other_adapters) {
  using Kernel = Tensor& (*)(Tensor&, std::optional<Tensor>&);
  Tensor a = detail::empty({2}), b = detail::empty({2}, kMeta);
  CHECK_EQ(&(Adapt<written_optional, Kernel, &optional_kernel>::call(a, b)), &a);
  CHECK_EQ(seen, "has");
  CHECK_EQ(&MetaInplaceStub<meta_inplace>::call(b, 1), &b);
  CHECK_THROWS(NotImplementedError, "t::meta_inplace_: the Meta kernel got a tensor on cpu",
               MetaInplaceStub<meta_inplace>::call(a, 1));
}

namespace {
struct contested : Operator<contested, std::int64_t(std::int64_t)> {
  static constexpr const char* name = "contested::f";
  static constexpr const char* overload_name = "";
  static OperatorSlot slot;
};
OperatorSlot contested::slot{contested::name, contested::overload_name, &boxing<contested::schema>};
OperatorSlot contested_too{contested::name, contested::overload_name, &boxing<contested::schema>};
std::int64_t plus_one(std::int64_t x) {
  return x + 1;
}
std::int64_t plus_two(std::int64_t x) {
  return x + 2;
}
}  // namespace

TEST(a_library_with_an_operator_of_another_is_not_registered) {
  static const SchemaRow first[] = {{&contested::slot, "f(int x) -> int", ""}};
  static const SchemaRow second[] = {{&contested_too, "f(int x) -> int", ""}};
  static const KernelRow one[] = {{&contested::slot, reinterpret_cast<void*>(&plus_one), false}};
  static const KernelRow two[] = {{&contested_too, reinterpret_cast<void*>(&plus_two), false}};
  const SchemaTable schemas("contested", "alpha", first);
  const KernelTable kernels("alpha", DispatchKey::CompositeExplicitAutograd, one);
  {
    // The order of a library's tables is not defined.
    const KernelTable early("beta", DispatchKey::CompositeExplicitAutograd, two);
    const SchemaTable refused("contested", "beta", second);
    const KernelTable late("beta", DispatchKey::CompositeExplicitAutograd, two);
    CHECK_EQ(contested::call(1), 2);
    CHECK_EQ(why_refused("beta"),
             "library beta is not registered: contested::f is defined twice: by alpha and by beta");
    CHECK_EQ(why_refused("alpha"), "");
    CHECK_THROWS(Error, "contested::f: library beta is not registered",
                 detail::dispatch<std::int64_t, std::int64_t>(contested_too, DispatchKeySet(), 1));
  }
  CHECK_EQ(why_refused("beta"), "");
  CHECK_EQ(contested::call(1), 2);
}

namespace {

struct Taken {
  using schema = void(IntArrayRef);
};
struct Placed {
  using schema = void(std::int64_t);
};
std::vector<int> taken;
std::int8_t placed = 0;
void take(const std::vector<int>& numbers) {
  taken = numbers;
}
void place(std::int8_t index) {
  placed = index;
}

}  // namespace

// Numbers of existing functions that are narrower than the schema's are refused if they do not fit.
TEST(narrow_numbers_of_existing_functions) {
  const std::array<std::int64_t, 2> fitting{3, -4}, large{1, (std::int64_t(1) << 32) + 1};
  Existing<Taken, &take>::call(fitting);
  CHECK((taken == std::vector<int>{3, -4}));
  CHECK_THROWS(ValueError, "4294967297 does not fit into the function's type of integers",
               (Existing<Taken, &take>::call(large)));
  Existing<Placed, &place>::call(7);
  CHECK_EQ(placed, 7);
  CHECK_THROWS(ValueError, "does not fit", (Existing<Placed, &place>::call(300)));
}
