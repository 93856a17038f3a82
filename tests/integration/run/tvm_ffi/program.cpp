// program.cpp: calls operators by TVM-FFI's documented C++ calls. The argument is the library.
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/tvm_ffi.h>

#include <cstdio>
#include <cstdlib>

namespace ffi = tvm::ffi;

struct Malloc {
  void AllocData(DLTensor* tensor) { tensor->data = std::malloc(ffi::GetDataSize(*tensor)); }
  void FreeData(DLTensor* tensor) { std::free(tensor->data); }
};

int main(int, char** arguments) {
  ffi::Module module = ffi::Module::LoadFromFile(arguments[1]);
  const ffi::Function blend = module->GetFunction("blend").value();
  ffi::Tensor x =
      ffi::Tensor::FromNDAlloc(Malloc(), {2, 3}, DLDataType{kDLFloat, 32, 1}, DLDevice{kDLCPU, 0});
  auto* elements = static_cast<float*>(x.data_ptr());
  for (int i = 0; i < 6; ++i) elements[i] = static_cast<float>(i);

  // A DLTensor on the stack, transposed: its memory need not outlive the call.
  std::int64_t shape[] = {2, 3}, strides[] = {1, 2};
  DLTensor other{elements, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, strides, 0};
  const auto result = blend(x, &other, 0.5).cast<ffi::Tensor>();
  const auto* mean = static_cast<const float*>(result.data_ptr());
  for (int i = 0; i < 6; ++i) std::printf("%g ", mean[i]);

  const ffi::Function front = ffi::Module::LoadFromFile(arguments[2])->GetFunction("front").value();
  std::printf("%d ", front(&other).cast<ffi::Tensor>().data_ptr() != elements);
  std::printf("%d ", front(x).cast<ffi::Tensor>().data_ptr() == elements);

  const auto both = module->GetFunction("min_max").value()(x).cast<ffi::Array<ffi::Tensor>>();
  std::printf("%g\n", static_cast<const float*>(both[1].data_ptr())[1]);
  try {
    blend(x, "text");
  } catch (const ffi::Error& error) {
    std::printf("%s: %s\n", error.kind().c_str(), error.message().c_str());
  }
  other.device = {kDLCUDA, 1};
  try {
    module->GetFunction("min_max").value()(&other);
  } catch (const ffi::Error& error) {
    std::printf("%s: %s\n", error.kind().c_str(), error.message().c_str());
  }
}
