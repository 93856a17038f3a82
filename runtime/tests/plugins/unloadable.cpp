// unloadable.cpp: a library with generated and hand-written registrations, which unload_test.cpp
// loads and unloads.
#include "opgen/library.h"
#include "opgen/register.h"
#include "opgen/tensor.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/empty.h"

using namespace opgen;

namespace {

struct twice : Operator<twice, Tensor(const Tensor&)> {
  static constexpr const char* name = "plugin::twice";
  static constexpr const char* overload_name = "";
  static OperatorSlot slot;
};
OperatorSlot twice::slot{twice::name, twice::overload_name, &boxing<twice::schema>};

// A registration for an operator that the program defines.
struct shared : Operator<shared, std::int64_t(const Tensor&)> {
  static constexpr const char* name = "program::shared";
  static constexpr const char* overload_name = "";
  static OperatorSlot slot;
};
OperatorSlot shared::slot{shared::name, shared::overload_name, &boxing<shared::schema>};

const char* kernel_name = "plugin::twice";

Tensor twice_cpu(const Tensor& self) {
  return self;
}
std::int64_t shared_cpu(const Tensor& self) {
  return self.numel();
}

const SchemaRow schema_rows[] = {{&twice::slot, "twice(Tensor self) -> Tensor", "core"}};
const SchemaTable schemas("plugin", "plugin", schema_rows, 1);
const KernelRow kernel_rows[] = {kernel<twice>(&twice_cpu), kernel<shared>(&shared_cpu)};
const KernelTable kernels("plugin", DispatchKey::CPU, kernel_rows, 2);

const KernelStub stubs[] = {{{kernel_name, "CPU", "OPGEN_KERNEL(twice)"}, kernel_name}};
const StubTable stub_table("plugin", stubs, 1, kernel_name, kernel_name + 1);

OPGEN_LIBRARY(plugin, m) {
  m.def("make(int size) -> Tensor", [](std::int64_t size) {
    Tensor made = detail::empty({size});
    opgen::fill_(made, 5);
    return made;
  });
  m.def("plus_one(int x) -> int", [](std::int64_t x) { return x + 1; });
}

}  // namespace
