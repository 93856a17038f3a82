// tensor_owner.cpp: records the library whose class Tensor the process uses.
#include "opgen/dispatch/tensor_owner.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace opgen {

namespace {
constinit std::atomic<const char*> tensor_owner{nullptr};
}

TensorOwner::TensorOwner(const char* library) noexcept : library_(library) {
  const char* owner = nullptr;
  if (tensor_owner.compare_exchange_strong(owner, library)) return;
  std::fprintf(stderr,
               "opgen: both '%s' and '%s' own class Tensor; generate one of them with the option "
               "--extends and the other\n",
               owner, library);
  std::abort();
}
TensorOwner::~TensorOwner() {
  const char* owner = library_;
  tensor_owner.compare_exchange_strong(owner, nullptr);
}

}  // namespace opgen
