// loads.cpp: a program that loads libraries, calls their operators by name, and unloads the first.
#include <dlfcn.h>
#include <opgen/dispatch/dispatcher.h>
#include <opgen/registration/ivalue.h>
#include <opgen/tensor.h>

#include <cstdio>

void call(const char* name) {
  try {
    const auto op = opgen::Dispatcher::singleton().findSchemaOrThrow(name, "");
    opgen::Stack stack = {opgen::detail::full({1}, 1, opgen::kFloat)};
    op.call_boxed(stack);
    std::printf("%s %g\n", name, *stack.back().toTensor().data_ptr<float>());
  } catch (const opgen::Error& error) {
    std::printf("%s\n", error.what());
  }
}

int main(int count, char** names) {
  void* first = dlopen(names[1], RTLD_NOW | RTLD_LOCAL);
  for (int i = 2; i < count; ++i) {
    if (dlopen(names[i], RTLD_NOW | RTLD_LOCAL) == nullptr) std::puts(dlerror());
  }
  for (const char* name : {"base::twice", "second::thrice", "again::once"}) call(name);
  dlclose(first);
  for (const char* name : {"base::twice", "second::thrice"}) call(name);
}
