// say.h: functions that print results.
#pragma once

#include <opgen/kernel.h>

#include <cstdio>
#include <exception>

#include <myops/Functions.h>

namespace say {

using opgen::Tensor;

// Returns a Float tensor with the elements 0, 1, 2, …
inline Tensor range(opgen::IntArrayRef sizes) {
  Tensor t = opgen::empty(sizes, {});
  for (std::int64_t i = 0; i < t.numel(); ++i) t.mutable_data_ptr<float>()[i] = float(i);
  return t;
}
inline Tensor full(opgen::IntArrayRef sizes, double value) {
  return opgen::full(sizes, value, opgen::TensorOptions().dtype(opgen::kFloat));
}

inline void section(const char* name) {
  std::printf("== %s ==\n", name);
}
// Print dtype, shape and elements.
inline void show(const char* what, const opgen::TensorBase& t) {
  std::printf("%s: %s[", what, opgen::toString(t.scalar_type()));
  for (std::int64_t d = 0; d < t.dim(); ++d) {
    std::printf(d == 0 ? "%lld" : ", %lld", static_cast<long long>(t.size(d)));
  }
  std::printf("]");
  if (!t.is_meta()) {
    opgen::TensorBase all = opgen::clone(t, opgen::MemoryFormat::Contiguous);
    all = opgen::to_dtype(all, opgen::kDouble);
    for (std::int64_t i = 0; i < all.numel(); ++i) {
      std::printf(" %g", all.const_data_ptr<double>()[i]);
    }
  }
  std::printf("\n");
}
// Print the error that the call throws.
template <class F>
void refused(const char* what, F&& call) {
  try {
    call();
    std::printf("%s: no error\n", what);
  } catch (const std::exception& error) {
    std::printf("%s: %s\n", what, error.what());
  }
}

}  // namespace say
