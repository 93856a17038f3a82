// unload_test.cpp: if dlclose unloads a library, its registrations are removed.
#include <dlfcn.h>

#include <cstring>

#include "check.h"
#include "opgen/library.h"
#include "opgen/register.h"
#include "opgen/stub.h"
#include "tensors.h"

using namespace tensors;

namespace {

struct shared : Operator<shared, std::int64_t(const Tensor&)> {
  static constexpr const char* name = "program::shared";
  static constexpr const char* overload_name = "";
  static OperatorSlot slot;
};
OperatorSlot shared::slot{shared::name, shared::overload_name, &boxing<shared::schema>};

const SchemaRow rows[] = {{&shared::slot, "shared(Tensor self) -> int", ""}};
const SchemaTable schemas("program", "program", rows, 1);

bool exists(const char* name) {
  return Dispatcher::singleton().findSchema(name, "").has_value();
}
bool is_loaded() {
  return dlopen(OPGEN_UNLOADABLE_PLUGIN, RTLD_NOW | RTLD_NOLOAD) != nullptr;
}

// Calls the operator whose kernel is in the library. Returns its result or its error.
std::string shared_or_error(const Tensor& tensor) {
  try {
    shared::call(tensor);
  } catch (const NotImplementedError& error) {
    return std::string(error.what()).substr(0, std::strlen(shared::name));
  }
  return "called";
}

}  // namespace

TEST(tensors_outlive_the_library_that_made_them) {
  void* library = dlopen(OPGEN_UNLOADABLE_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return check::fail(__FILE__, __LINE__, dlerror());
  OperatorHandle make = Dispatcher::singleton().findSchemaOrThrow("plugin::make", "");
  Tensor small = make.typed<Tensor(std::int64_t)>().call(2);  // bytes in the storage itself
  Tensor large = make.typed<Tensor(std::int64_t)>().call(1000);
  Tensor row = detail::alias_with_sizes_and_strides(large, {2}, {1}, 998);
  Stack boxed = {std::int64_t(3)};
  make.call_boxed(boxed);
  CHECK_EQ(dlclose(library), 0);
  CHECK(!is_loaded());

  large = Tensor();
  for (const Tensor& kept : {small, row, Tensor(boxed.back().toTensor())}) {
    CHECK_EQ(values(kept)[0], 5.0);
    CHECK_EQ(shared_or_error(kept), "program::shared");
  }
  // Existing handles report that the library is missing, and work again after it is reloaded.
  CHECK_THROWS(Error, "plugin::make", make.typed<Tensor(std::int64_t)>().call(2));
  library = dlopen(OPGEN_UNLOADABLE_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  CHECK_EQ(make.typed<Tensor(std::int64_t)>().call(4).numel(), 4);
  CHECK_EQ(dlclose(library), 0);
}

TEST(registrations_are_removed_with_their_library) {
  for (int round = 0; round < 3; ++round) {
    CHECK(!exists("plugin::twice"));
    void* library = dlopen(OPGEN_UNLOADABLE_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return check::fail(__FILE__, __LINE__, dlerror());
    CHECK(exists("plugin::twice") && exists("plugin::plus_one"));
    OperatorHandle twice = Dispatcher::singleton().findSchemaOrThrow("plugin::twice", "");
    CHECK(twice.typed<Tensor(const Tensor&)>().call(arange({2})).numel() == 2);
    Stack stack = {std::int64_t(1)};
    Dispatcher::singleton().findSchemaOrThrow("plugin::plus_one", "").call_boxed(stack);
    CHECK_EQ(stack.back().toInt(), 2);
    CHECK_EQ(shared::call(arange({3})), 3);
    CHECK_EQ(opgen_stub_report().size(), 1u);

    CHECK_EQ(dlclose(library), 0);
    CHECK(!is_loaded());
    CHECK(!exists("plugin::twice") && !exists("plugin::plus_one"));
    CHECK(!twice.has_schema() && !twice.has_kernel_for(DispatchKey::CPU));
    CHECK(twice.registered_keys().empty());
    CHECK(exists("program::shared"));
    CHECK_THROWS(NotImplementedError, "program::shared", shared::call(arange({3})));
    CHECK(opgen_stub_report().empty());
  }
}
