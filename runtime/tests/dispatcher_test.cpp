// dispatcher_test.cpp: calls, precedence of alias keys, fallthrough, redispatch, order of
// registration, removal.
#include <algorithm>
#include <string>
#include <thread>

#include "check.h"
#include "opgen/boxing.h"
#include "opgen/library.h"
#include "opgen/register.h"
#include "opgen/schema/function_schema.h"
#include "opgen/tensor.h"
#include "opgen/tensor/empty.h"

using namespace opgen;

namespace {

// An operator as generated in _ops.h and Operators.cpp.
#define OPERATOR(struct_name, op_name, overload, ...)                           \
  struct struct_name : Operator<struct_name, __VA_ARGS__> {                     \
    static constexpr const char* name = op_name;                                \
    static constexpr const char* overload_name = overload;                      \
    static OperatorSlot slot;                                                   \
  };                                                                            \
  constinit OperatorSlot struct_name::slot {                                    \
    struct_name::name, struct_name::overload_name, &boxing<struct_name::schema> \
  }

std::string ran;

template <int id>
Tensor unary(const Tensor& self) {
  ran += static_cast<char>('a' + id);
  return self;
}

Tensor on(DispatchKeySet keys) {
  Tensor tensor = detail::empty({2});
  tensor.unsafeGetTensorImpl()->set_key_set(keys);
  return tensor;
}
Tensor cpu() {
  return detail::empty({2});
}
Tensor meta() {
  return detail::empty({2}, kMeta);
}

OPERATOR(basic, "t::basic", "", Tensor(const Tensor&));
OPERATOR(late, "t::late", "Tensor", Tensor(const Tensor&, const Tensor&));
OPERATOR(newer, "t::newer", "", Tensor(const Tensor&));
OPERATOR(factory, "t::factory", "",
         Tensor(IntArrayRef, std::optional<ScalarType>, std::optional<Layout>,
                std::optional<Device>, std::optional<bool>));
OPERATOR(on_device, "t::on_device", "", std::int64_t(std::int64_t, Device));
OPERATOR(maybe_on_device, "t::maybe_on_device", "",
         std::int64_t(std::optional<Device>, std::string_view));
OPERATOR(lists, "t::lists", "",
         std::int64_t(TensorList, const std::optional<Tensor>&,
                      const List<std::optional<Tensor>>&));

// Registers {key, kernel}… for its lifetime.
struct Scope {
  Scope(const char* name, std::vector<std::pair<DispatchKey, KernelFunction>> kernels,
        const char* schema = "(Tensor self) -> Tensor") {
    auto [base, overload] = split_operator_name(name);
    auto& d = Dispatcher::singleton();
    handles.push_back(d.register_schema(
        base, overload, split_operator_name(name).first.substr(3) + schema, "", "test", nullptr));
    for (auto& [key, kernel] : kernels)
      handles.push_back(d.register_kernel(base, overload, key, kernel, "test"));
    op = d.findSchema(base, overload);
  }
  std::string call(const Tensor& tensor) {
    ran.clear();
    try {
      op->typed<Tensor(const Tensor&)>().call(tensor);
    } catch (const Error& error) {
      return std::string("error: ") + error.what();
    }
    return ran;
  }
  std::vector<RegistrationHandle> handles;
  std::optional<OperatorHandle> op;
};

template <int id>
KernelFunction k() {
  return KernelFunction::from_unboxed(reinterpret_cast<void*>(&unary<id>), false,
                                      &boxing<Tensor(const Tensor&)>);
}

bool starts(const std::string& text, const char* start) {
  return text.rfind(start, 0) == 0;
}

}  // namespace

TEST(an_unregistered_operator_is_an_error) {
  CHECK_THROWS(Error, "t::basic is not registered", basic::call(cpu()));
}

TEST(tables_register_and_undo) {
  {
    const SchemaRow schemas[] = {{&basic::slot, "basic(Tensor self) -> Tensor", "core,pointwise"}};
    const SchemaTable schema_table("t", "mylib", schemas, 1);
    CHECK_THROWS(NotImplementedError, "t::basic has no kernel for CPU", basic::call(cpu()));
    {
      const KernelRow kernels[] = {kernel<basic>(&unary<0>)};
      const KernelTable table("mylib", DispatchKey::CPU, kernels, 1);
      ran.clear();
      Tensor tensor = cpu();
      CHECK(basic::call(tensor).is_same(tensor));
      CHECK_EQ(ran, "a");
      CHECK_THROWS(NotImplementedError, "registered for CPU", basic::call(meta()));
      auto op = Dispatcher::singleton().findSchemaOrThrow("t::basic", "");
      CHECK_EQ(op.tags().size(), 2u);
      CHECK_EQ(op.tags()[1], "pointwise");
      CHECK_EQ(op.library(), "mylib");
      CHECK(op.has_kernel_for(DispatchKey::CPU));
      CHECK_EQ(op.dump_computed_table(), "CPU: kernel\n");
      const std::string whole = op.dump_table(true);
      CHECK(whole.find("\nCPU: unboxed, from mylib [kernel]\nCUDA: missing\n") !=
            std::string::npos);
      CHECK(whole.find("\nAutogradCPU: fallthrough\n") != std::string::npos);
      const std::string brief = op.dump_table();
      CHECK_EQ(brief.substr(0, brief.find('\n')), "CPU: unboxed, from mylib [kernel]");
      CHECK(brief.find(" keys: missing\n") != std::string::npos);
      CHECK(brief.find(" keys: fallthrough\n") != std::string::npos);
      CHECK_EQ(std::count(brief.begin(), brief.end(), '\n'), 3);
      CHECK(op.dump_registrations().find("CPU: unboxed, from mylib") != std::string::npos);
    }
    CHECK_THROWS(NotImplementedError, "registered for no key", basic::call(cpu()));
  }
  CHECK_THROWS(Error, "is not registered", basic::call(cpu()));
  CHECK(!Dispatcher::singleton().findSchema("t::basic", "").has_value());
}

TEST(kernels_before_schemas) {
  const KernelRow kernels[] = {kernel<late>(+[](const Tensor& a, const Tensor&) {
    ran = "late";
    return a;
  })};
  const KernelTable table("lib", DispatchKey::Meta, kernels, 1);
  bool listed = false;
  for (auto& op : Dispatcher::singleton().operators_without_schema())
    listed |= op.full_name() == "t::late.Tensor";
  CHECK(listed);
  const SchemaRow schemas[] = {{&late::slot, "late.Tensor(Tensor a, Tensor b) -> Tensor", ""}};
  const SchemaTable schema_table("t", "lib", schemas, 1);
  late::call(cpu(), meta());  // Meta wins over CPU
  CHECK_EQ(ran, "late");
  const SchemaTable second("t", "other", schemas, 1);
  CHECK_EQ(why_refused("other"),
           "library other is not registered: t::late.Tensor is defined twice: by lib and by other");
  late::call(cpu(), meta());
}

TEST(a_library_for_another_abi_is_refused) {
  static const SchemaRow schemas[] = {{&newer::slot, "newer(Tensor a) -> Tensor", ""}};
  const SchemaTable table("t", "newer", schemas, 1, 1000);
  CHECK(starts(why_refused("newer"),
               "library newer is not registered: it was built for ABI 1000 of opgen's runtime, and "
               "this process uses ABI "));
  CHECK_THROWS(Error, "it was built for ABI 1000", newer::call(cpu()));
}

TEST(alias_key_precedence) {
  using K = DispatchKey;
  Tensor on_cpu = cpu();
  {  // implicit composites also serve autograd
    Scope s("t::p1", {{K::CompositeImplicitAutograd, k<0>()}});
    CHECK_EQ(s.call(on_cpu), "a");
    CHECK(s.op->dump_computed_table().find("AutogradCPU: CompositeImplicitAutograd\n") !=
          std::string::npos);
    CHECK(s.op->dump_computed_table().find("\nSparseCsrMeta: CompositeImplicitAutograd") !=
          std::string::npos);
    CHECK(s.op->dump_computed_table().find("Functionalize:") == std::string::npos);
  }
  {  // a backend kernel keeps the implicit composite out of that backend's autograd
    Scope s("t::p2", {{K::CompositeImplicitAutograd, k<0>()}, {K::CPU, k<1>()}});
    CHECK_EQ(s.call(on_cpu), "b");
    CHECK_EQ(s.call(meta()), "a");
    CHECK(s.op->dump_computed_table().find("AutogradCPU:") == std::string::npos);
    CHECK(s.op->dump_computed_table().find("AutogradCUDA: CompositeImplicitAutograd") !=
          std::string::npos);
  }
  {  // explicit composites serve backends only, and have priority over implicit ones
    Scope s("t::p3",
            {{K::CompositeImplicitAutograd, k<0>()}, {K::CompositeExplicitAutograd, k<1>()}});
    CHECK_EQ(s.call(on_cpu), "b");
    CHECK(s.op->dump_computed_table().find("Autograd") == std::string::npos ||
          s.op->dump_computed_table().find("AutogradCPU: ") == std::string::npos);
  }
  {  // non-functional ones have priority over explicit ones, except for sparse, XLA and Lazy
    Scope s("t::p4", {{K::CompositeExplicitAutograd, k<1>()},
                      {K::CompositeExplicitAutogradNonFunctional, k<2>()}});
    CHECK_EQ(s.call(on_cpu), "c");
    CHECK_EQ(s.call(on(DispatchKeySet(K::SparseCPU))), "b");
    CHECK_EQ(s.call(on(DispatchKeySet(K::SparseCsrCPU))), "c");
    CHECK_EQ(s.call(on(DispatchKeySet(K::XLA))), "b");
    CHECK_EQ(s.call(on(DispatchKeySet(K::Lazy))), "b");
  }
  {  // a kernel registered for the key itself has priority over every alias
    Scope s("t::p5", {{K::CompositeExplicitAutogradNonFunctional, k<2>()}, {K::CPU, k<3>()}});
    CHECK_EQ(s.call(on_cpu), "d");
  }
  {  // Autograd stands for every autograd key, but a kernel for a specific one has priority
    Scope s(
        "t::p6",
        {{K::Autograd, k<0>()}, {K::AutogradMeta, k<1>()}, {K::CPU, k<2>()}, {K::Meta, k<3>()}});
    CHECK_EQ(s.call(on_cpu), "a");
    CHECK_EQ(s.call(meta()), "b");
    AutoDispatchBelowAutograd guard;
    CHECK_EQ(s.call(on_cpu), "c");
    CHECK_EQ(s.call(meta()), "d");
  }
  {  // implicit composite and Autograd: the composite wins while no backend kernel exists
    Scope s("t::p7", {{K::CompositeImplicitAutograd, k<0>()}, {K::Autograd, k<1>()}});
    CHECK_EQ(s.call(on_cpu), "a");
    Scope t("t::p8",
            {{K::CompositeImplicitAutograd, k<0>()}, {K::Autograd, k<1>()}, {K::CPU, k<2>()}});
    CHECK_EQ(t.call(on_cpu), "b");
  }
  {  // AutogradOther is ambiguous as soon as one of its backends has a kernel
    DispatchKeySet mkldnn{K::MkldnnCPU, K::AutogradOther};
    Scope s("t::p9", {{K::CompositeImplicitAutograd, k<0>()}, {K::MkldnnCPU, k<1>()}});
    CHECK(starts(s.call(on(mkldnn)), "error: t::p9 has both"));
    CHECK_EQ(s.call(on(DispatchKeySet(K::MkldnnCPU))), "b");
    Scope t("t::p10", {{K::CompositeImplicitAutograd, k<0>()}});
    CHECK_EQ(t.call(on(mkldnn)), "a");
    Scope u("t::p11", {{K::CompositeImplicitAutograd, k<0>()},
                       {K::MkldnnCPU, k<1>()},
                       {K::AutogradOther, k<2>()}});
    CHECK_EQ(u.call(on(mkldnn)), "c");
  }
  {  // nested tensors use implicit composites, those of their own alias first, but not explicit
     // ones
    DispatchKeySet nested{K::NestedTensorCPU, K::AutogradNestedTensor};
    Scope s("t::p12", {{K::CompositeImplicitAutograd, k<0>()},
                       {K::CompositeImplicitAutogradNestedTensor, k<1>()}});
    CHECK_EQ(s.call(on(nested)), "b");
    CHECK_EQ(s.call(on_cpu), "a");
    Scope t("t::p13", {{K::CompositeExplicitAutograd, k<0>()}});
    CHECK(starts(t.call(on(nested)), "error: t::p13 has no kernel for NestedTensorCPU"));
    Scope u("t::p14", {{K::CompositeImplicitAutograd, k<0>()}});
    CHECK_EQ(u.call(on(nested)), "a");
  }
  {  // a catch-all kernel is an implicit composite
    Scope s("t::p15", {{K::CatchAll, k<4>()}});
    CHECK_EQ(s.call(on_cpu), "e");
    CHECK_EQ(s.call(on({})), "e");
  }
  {  // quantized and sparse are backends
    Scope s("t::p16", {{K::CompositeExplicitAutograd, k<0>()}});
    CHECK_EQ(s.call(on(DispatchKeySet(K::QuantizedCPU))), "a");
    CHECK_EQ(s.call(on(DispatchKeySet(K::SparseCUDA))), "a");
    CHECK_EQ(s.call(on(DispatchKeySet(K::PrivateUse1))), "a");
  }
}

TEST(a_backend_opts_out_of_composite_kernels) {
  using K = DispatchKey;
  Tensor toy = on(DispatchKeySet(K::PrivateUse1));
  for (K composite : {K::CompositeExplicitAutogradNonFunctional, K::CompositeExplicitAutograd,
                      K::CompositeImplicitAutograd}) {
    Scope s("t::opt", {{composite, k<0>()}});
    CHECK_EQ(s.call(toy), "a");
    RegistrationHandle out = Dispatcher::singleton().register_kernel(
        "t::opt", "", K::PrivateUse1, KernelFunction::fallthrough(), "toy");
    CHECK(starts(s.call(toy), "error: t::opt has no kernel for PrivateUse1, which opted out"));
    CHECK_EQ(s.call(cpu()), "a");
    CHECK_EQ(s.call(on({})), "a");
  }
}

TEST(the_newest_kernel_is_used_and_the_old_one_returns) {
  static std::string warned;
  WarningHandler old = set_warning_handler([](const char* text) { warned = text; });
  Scope s("t::newest", {{DispatchKey::CPU, k<0>()}});
  {
    RegistrationHandle newer =
        Dispatcher::singleton().register_kernel("t::newest", "", DispatchKey::CPU, k<1>(), "other");
    CHECK(warned.find("t::newest: the kernel for CPU from other replaces") != std::string::npos);
    CHECK_EQ(s.call(cpu()), "b");
    CHECK(s.op->dump_registrations().find("(inactive)") != std::string::npos);
  }
  CHECK_EQ(s.call(cpu()), "a");
  set_warning_handler(old);
}

DispatchKeySet seen_keys;
Tensor takes_keys(DispatchKeySet keys, const Tensor& self) {
  seen_keys = keys;
  ran += 'k';
  return self;
}

// A key that falls through for one backend only is skipped for that backend at no cost: the table
// has an address for the call, and one for kernels that take the keys.
TEST(masks_are_per_backend) {
  using K = DispatchKey;
  KernelFunction with_keys = KernelFunction::from_unboxed(reinterpret_cast<void*>(&takes_keys),
                                                          true, &boxing<Tensor(const Tensor&)>);
  Scope s("t::masked", {{K::AutogradMeta, with_keys}, {K::CPU, k<0>()}, {K::Meta, k<1>()}});
  DispatchKeySet both{K::CPU, K::AutogradCPU, K::ADInplaceOrView};
  CHECK_EQ(s.call(on(both)), "a");
  // The highest backend of the call selects the mask: the keys passed to a kernel do not contain
  // the functionalities that fall through for that backend, even if not for all.
  DispatchKeySet mixed = both | DispatchKeySet(K::Meta);
  CHECK_EQ(s.call(on(mixed)), "k");
  CHECK(seen_keys.has(K::AutogradMeta));
  CHECK(!seen_keys.has(K::ADInplaceOrView));

  // Without a backend, a functionality is skipped if it falls through for every backend.
  DispatchKeySet bare(DispatchKeySet::RAW,
                      DispatchKeySet::functionality_bit(K::AutogradFunctionality));
  auto redispatched = [&](Scope& scope) {
    ran.clear();
    scope.op->typed<Tensor(const Tensor&)>().redispatch(bare, cpu());
    return ran;
  };
  Scope all("t::all_masked", {{K::CompositeExplicitAutograd, k<2>()}});
  CHECK_EQ(redispatched(all), "c");
  CHECK_THROWS(NotImplementedError, "no kernel for AutogradFunctionality", redispatched(s));
}

TEST(fallthrough_and_fallbacks) {
  using K = DispatchKey;
  {  // a fallthrough for the autograd key of one backend only
    Scope s("t::f1", {{K::Autograd, k<0>()},
                      {K::AutogradCPU, KernelFunction::fallthrough()},
                      {K::CPU, k<1>()},
                      {K::Meta, k<2>()}});
    CHECK_EQ(s.call(cpu()), "b");
    CHECK_EQ(s.call(meta()), "a");
  }
  {  // a boxed fallback serves operators without a kernel, and can redispatch below itself
    Scope s("t::f2", {{K::CPU, k<1>()}});
    CHECK_EQ(s.call(cpu()), "b");
    {
      RegistrationHandle fallback = Dispatcher::singleton().register_fallback(
          K::AutogradCPU,
          KernelFunction::from_boxed(
              [](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
                ran.append("[").append(op.full_name()).append("]");
                op.redispatch_boxed(keys & after_autograd_keyset, stack);
              }),
          "test");
      CHECK_EQ(s.call(cpu()), "[t::f2]b");
      CHECK_THROWS(Error, "registered twice",
                   Dispatcher::singleton().register_fallback(
                       K::AutogradCPU, KernelFunction::fallthrough(), "again"));
      Scope own("t::f3", {{K::CPU, k<1>()}, {K::AutogradCPU, k<2>()}});
      CHECK_EQ(own.call(cpu()), "c");
    }
    CHECK_EQ(s.call(cpu()), "b");
  }
  {  // a backend fallback
    RegistrationHandle fallback = Dispatcher::singleton().register_fallback(
        K::PrivateUse1,
        KernelFunction::from_boxed(
            [](const OperatorHandle&, DispatchKeySet, Stack&) { ran += "fallback"; }),
        "test");
    Scope s("t::f4", {{K::CPU, k<1>()}});
    CHECK_EQ(s.call(on(DispatchKeySet(K::PrivateUse1))), "fallback");
  }
  CHECK_THROWS(
      Error, "stands for several keys",
      Dispatcher::singleton().register_fallback(K::Autograd, KernelFunction::fallthrough(), "x"));
  CHECK_THROWS(Error, "one backend of Dense",
               Dispatcher::singleton().register_kernel("t::f5", "", K::Dense, k<0>(), "x"));
}

namespace {
OPERATOR(keyed, "t::keyed", "", Tensor(const Tensor&));
Tensor keyed_autograd(DispatchKeySet keys, const Tensor& self) {
  ran += keys.has(DispatchKey::AutogradCPU) ? "A" : "?";
  return keyed::redispatch(keys & after_autograd_keyset, self);
}
}  // namespace

TEST(kernels_with_keys_and_redispatch) {
  const SchemaRow schemas[] = {{&keyed::slot, "keyed(Tensor self) -> Tensor", ""}};
  const SchemaTable schema_table("t", "lib", schemas, 1);
  const KernelRow autograd[] = {kernel<keyed>(&keyed_autograd)};
  const KernelTable autograd_table("lib", DispatchKey::AutogradCPU, autograd, 1);
  const KernelRow backend[] = {kernel<keyed>(&unary<1>)};
  const KernelTable backend_table("lib", DispatchKey::CPU, backend, 1);
  ran.clear();
  keyed::call(cpu());
  CHECK_EQ(ran, "Ab");
  ran.clear();
  {
    ExcludeDispatchKeyGuard guard{DispatchKeySet(DispatchKey::AutogradFunctionality)};
    keyed::call(cpu());
  }
  CHECK_EQ(ran, "b");
  // The same, with boxed values.
  ran.clear();
  Stack stack{IValue(cpu())};
  Dispatcher::singleton().findSchemaOrThrow("t::keyed", "").call_boxed(stack);
  CHECK_EQ(ran, "Ab");
  CHECK_EQ(stack.size(), 1u);
}

TEST(included_keys) {
  Scope s("t::included", {{DispatchKey::CPU, k<0>()}, {DispatchKey::Tracer, k<1>()}});
  CHECK_EQ(s.call(cpu()), "a");
  {
    IncludeDispatchKeyGuard guard{DispatchKeySet(DispatchKey::Tracer)};
    CHECK_EQ(s.call(cpu()), "b");
  }
  CHECK_EQ(s.call(cpu()), "a");
}

TEST(backend_select) {
  const SchemaRow schemas[] = {
      {&factory::slot,
       "factory(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
       "bool? pin_memory=None) -> Tensor",
       ""}};
  const SchemaTable schema_table("t", "lib", schemas, 1);
  const KernelRow select[] = {kernel<factory>(&BackendSelect<factory, 1>::call)};
  const KernelTable select_table("lib", DispatchKey::BackendSelect, select, 1);
  auto make = [](IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                 std::optional<Device> device, std::optional<bool>) -> Tensor {
    return detail::empty(size, TensorOptions().dtype(dtype).layout(layout).device(device));
  };
  const KernelRow cpu_rows[] = {kernel<factory>(+make)};
  const KernelTable cpu_table("lib", DispatchKey::CPU, cpu_rows, 1);
  const KernelTable meta_table("lib", DispatchKey::Meta, cpu_rows, 1);
  CHECK(factory::call({2, 3}, kLong, {}, {}, {}).is_cpu());
  CHECK(factory::call({2, 3}, {}, {}, Device(kMeta), {}).is_meta());
  CHECK_THROWS(NotImplementedError, "no kernel for CUDA",
               factory::call({2}, {}, {}, Device(kCUDA, 1), {}));
  CHECK_THROWS(NotImplementedError, "no kernel for SparseCPU",
               factory::call({2}, {}, kSparse, {}, {}));
}

TEST(backend_select_by_a_device_alone) {
  const SchemaRow schemas[] = {
      {&on_device::slot, "on_device(int n, Device device) -> int", ""},
      {&maybe_on_device::slot, "maybe_on_device(Device? device, str text) -> int", ""}};
  const SchemaTable schema_table("t", "lib", schemas, 2);
  const KernelRow select[] = {
      kernel<on_device>(&BackendSelectByDevice<on_device, 1>::call),
      kernel<maybe_on_device>(&BackendSelectByDevice<maybe_on_device, 0>::call)};
  const KernelTable select_table("lib", DispatchKey::BackendSelect, select, 2);
  const KernelRow cpu_rows[] = {
      kernel<on_device>(+[](std::int64_t n, Device) { return n; }),
      kernel<maybe_on_device>(+[](std::optional<Device>, std::string_view text) {
        return static_cast<std::int64_t>(text.size());
      })};
  const KernelRow meta_rows[] = {kernel<on_device>(+[](std::int64_t n, Device) { return -n; })};
  const KernelTable cpu_table("lib", DispatchKey::CPU, cpu_rows, 2);
  const KernelTable meta_table("lib", DispatchKey::Meta, meta_rows, 1);
  CHECK_EQ(on_device::call(3, kCPU), 3);
  CHECK_EQ(on_device::call(3, kMeta), -3);
  CHECK_EQ(maybe_on_device::call(std::nullopt, "four"), 4);
  CHECK_THROWS(NotImplementedError, "t::maybe_on_device has no kernel for Meta",
               maybe_on_device::call(Device(kMeta), "four"));
}

TEST(keys_of_lists_and_optionals) {
  const SchemaRow schemas[] = {
      {&lists::slot, "lists(Tensor[] a, Tensor? b, Tensor?[] c) -> int", ""}};
  const SchemaTable schema_table("t", "lib", schemas, 1);
  const KernelRow on_cpu[] = {
      kernel<lists>(+[](TensorList, const std::optional<Tensor>&,
                        const List<std::optional<Tensor>>&) { return std::int64_t(1); })};
  const KernelRow on_meta[] = {
      kernel<lists>(+[](TensorList, const std::optional<Tensor>&,
                        const List<std::optional<Tensor>>&) { return std::int64_t(2); })};
  const KernelTable cpu_table("lib", DispatchKey::CPU, on_cpu, 1);
  const KernelTable meta_table("lib", DispatchKey::Meta, on_meta, 1);
  Tensor tensors[] = {cpu(), Tensor()};
  CHECK_EQ(lists::call(tensors, std::nullopt, {}), 1);
  CHECK_EQ(lists::call(tensors, meta(), {}), 2);
  CHECK_EQ(lists::call(tensors, std::nullopt, {std::nullopt, meta()}), 2);
  CHECK_THROWS(NotImplementedError,
               "t::lists was called without any of the tensors that it may take, so nothing "
               "selects a backend, and the call cannot reach its kernels for CPU, Meta. Register a "
               "kernel for CompositeExplicitAutograd, which serves every call",
               lists::call({}, std::nullopt, {}));
}

TEST(calls_run_while_others_register) {
  Scope s("t::racing", {{DispatchKey::CPU, k<0>()}});
  auto op = s.op->typed<Tensor(const Tensor&)>();
  auto quiet = [](const Tensor& self) { return self; };
  RegistrationHandle silent = Dispatcher::singleton().register_kernel(
      "t::racing", "", DispatchKey::Meta,
      KernelFunction::from_unboxed(reinterpret_cast<void*>(+quiet), false,
                                   &boxing<Tensor(const Tensor&)>),
      "test");
  Atomic<bool> stop = false;
  std::thread registrar([&] {
    for (int i = 0; i < 300; ++i) {
      RegistrationHandle fallback = Dispatcher::singleton().register_fallback(
          DispatchKey::PrivateUse2, KernelFunction::fallthrough(), "thread");
      RegistrationHandle kernel = Dispatcher::singleton().register_kernel(
          "t::racing", "", DispatchKey::CUDA,
          KernelFunction::from_unboxed(reinterpret_cast<void*>(+quiet), false,
                                       &boxing<Tensor(const Tensor&)>),
          "thread");
    }
    stop.store_release(true);
  });
  Tensor tensor = meta();
  long calls = 0;
  do {
    CHECK(op.call(tensor).is_same(tensor));
    ++calls;
  } while (!stop.load_acquire());
  registrar.join();
  CHECK(calls > 0);
}

TEST(signatures_are_checked) {
  Scope s("t::signature", {{DispatchKey::CPU, k<0>()}});
  CHECK_THROWS(Error, "C++ signature", s.op->typed<Tensor(const Tensor&, const Tensor&)>());
  CHECK_THROWS(Error, "has the C++ signature",
               Dispatcher::singleton().register_kernel(
                   "t::signature", "", DispatchKey::Meta,
                   KernelFunction::from_unboxed(nullptr, false, &boxing<void()>), "x"));
}

TEST(find_proposes_a_name) {
  Scope s("t::proposal", {});
  CHECK_THROWS(Error, "did you mean t::proposal?",
               Dispatcher::singleton().findSchemaOrThrow("t::proposl", ""));
  CHECK_THROWS(Error, "is its library loaded?",
               Dispatcher::singleton().findSchemaOrThrow("far::away", "out"));
}

TEST(key_sets) {
  using K = DispatchKey;
  CHECK_EQ(std::string(toString(K::SparseCsrPrivateUse3)), "SparseCsrPrivateUse3");
  CHECK_EQ(std::string(toString(K::CompositeExplicitAutogradNonFunctional)),
           "CompositeExplicitAutogradNonFunctional");
  int keys = 0;
  for (int i = 0; i < int(K::EndOfKeys); ++i) {
    K key = static_cast<K>(i);
    if (key == K::EndOfFunctionalities || key == K::EndOfRuntimeKeys) continue;
    CHECK(find_dispatch_key(toString(key)) == key);
    ++keys;
    if (is_product_key(key)) CHECK(DispatchKeySet(key).highestPriorityTypeId() == key);
  }
  CHECK_EQ(keys, 45 + 90 + 6);
  DispatchKeySet set{K::CPU, K::AutogradCUDA};
  CHECK(set.has(K::CUDA) && set.has(K::AutogradCPU) && !set.has(K::SparseCPU) && !set.has(K::Meta));
  CHECK(set.remove(K::AutogradCPU).highestPriorityTypeId() == K::CUDA);
  CHECK(after_autograd_keyset.has(K::ADInplaceOrView) &&
        !after_autograd_keyset.has(K::AutogradCPU));
  CHECK(!after_ADInplaceOrView_keyset.has(K::ADInplaceOrView) &&
        after_ADInplaceOrView_keyset.has(K::BackendSelect));
}

TEST(a_registration_is_undone_if_the_warning_handler_throws) {
  Scope scope("t::warned", {{DispatchKey::CPU, k<1>()}});
  Dispatcher& dispatcher = Dispatcher::singleton();
  const std::string before = dispatcher.find_operator("t::warned", "")->dump_table(true);
  WarningHandler old = set_warning_handler([](const char* text) { throw Error(text); });
  for (int i = 0; i < 2; ++i) {
    CHECK_THROWS(Error, "replaces one",
                 dispatcher.register_kernel("t::warned", "", DispatchKey::CPU, k<2>(), "other"));
  }
  const KernelRow kernels[] = {kernel<basic>(&unary<0>), kernel<basic>(&unary<0>)};
  CHECK_THROWS(Error, "replaces one", KernelTable("other", DispatchKey::CPU, kernels, 2));
  set_warning_handler(old);
  CHECK_EQ(dispatcher.find_operator("t::warned", "")->dump_table(true), before);
}
