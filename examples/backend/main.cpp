// main.cpp: `main LIBTOY` calls the operators before and after loading the accelerator's library.
#include <dlfcn.h>
#include <opgen/device/device_guard.h>
#include <opgen/kernel.h>
#include <opgen/library.h>

#include <cstdio>
#include <exception>

#include <demo/Functions.h>

namespace {

using namespace opgen::types;

const Device toy(opgen::kPrivateUse1, 1);

Tensor on(Device device, IntArrayRef sizes, const Scalar& value) {
  Tensor tensor = opgen::empty(sizes, TensorOptions().dtype(kFloat).device(device));
  opgen::fill_(tensor, value);
  return tensor;
}
void print(const char* what, const Tensor& tensor) {
  Tensor host = opgen::empty(tensor.sizes(), TensorOptions().dtype(tensor.scalar_type()));
  opgen::copy_(host, tensor);
  Device device = tensor.device();
  std::printf("%-28s %s %d:", what, toString(device.type()), device.index());
  for (std::int64_t i = 0; i < host.numel(); ++i)
    std::printf(" %g", host.const_data_ptr<float>()[i]);
  std::printf("\n");
}
template <class F>
void refused(const char* what, F call) {
  try {
    call();
    std::printf("%-28s did not throw\n", what);
  } catch (const std::exception& error) {
    std::printf("%-28s %s\n", what, error.what());
  }
}

}  // namespace

int main(int, char** arguments) {
  refused("without the toy", [] { on(toy, {2}, 1); });
  if (dlopen(arguments[1], RTLD_NOW) == nullptr) {
    std::printf("%s\n", dlerror());
    return 1;
  }

  Tensor a = on(toy, {2, 3}, 2), row = on(toy, {3}, 5);
  print("add, allocated by the meta", demo::add(a, row));
  Tensor out = opgen::empty({0}, a.options());
  print("mul.out, resized", demo::mul_out(out, a, row));
  print("add_", demo::add_(a, row));
  print("mul_ of a column", demo::mul_(a, on(toy, {2, 1}, -1)));
  out.unsafeGetTensorImpl()->storage()->resize(1 << 16);  // the toy's copy function moves the data
  print("after growing the storage", out);

  refused("shapes", [&] { demo::add(a, on(toy, {4}, 1)); });
  refused("two devices", [&] { demo::add(a, on(Device(opgen::kCPU), {3}, 1)); });
  refused("no kernel", [&] { demo::sub(a, a); });
  {
    // A backend can opt out of the generated composite kernel.
    opgen::Library m(opgen::Library::Kind::Impl, "demo", DispatchKey::PrivateUse1, __FILE__,
                     __LINE__);
    m.impl("mul", opgen::CppFunction::makeFallthrough());
    refused("opted out", [&] { demo::mul(a, a); });
  }
  print("mul", demo::mul(a, a));

  // Work on this stream runs when the program waits for the stream. The copy to the host is on the
  // default stream and does not wait.
  opgen::Stream stream = opgen::getNewStream(toy);
  Tensor late = on(toy, {3}, 1);
  {
    opgen::StreamGuard guard(stream);
    demo::add_(late, row);
    demo::mul_(late, row);
  }
  print("before the stream is done", late);
  opgen::synchronize(stream);
  print("after", late);
}
