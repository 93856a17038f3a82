// say.h: for the programs of tests/integration/run: prints tensors, shapes, warnings, and the
// messages of errors.
#pragma once

#include <aten/TensorBody.h>
#include <opgen/kernel.h>

#include <cstdio>
#include <exception>

namespace say {

inline opgen::Tensor tensor(opgen::IntArrayRef sizes, const opgen::TensorOptions& options = {}) {
  return opgen::empty(sizes, options);
}

// 0, 1, 2, ... as floats.
inline opgen::Tensor range(opgen::IntArrayRef sizes) {
  opgen::Tensor t = tensor(sizes);
  for (std::int64_t i = 0; i < t.numel(); ++i) t.mutable_data_ptr<float>()[i] = static_cast<float>(i);
  return t;
}

inline opgen::Tensor meta(opgen::IntArrayRef sizes) {
  return tensor(sizes, opgen::TensorOptions().device(opgen::kMeta));
}

// A view with the first two dimensions exchanged.
inline opgen::Tensor transposed(const opgen::Tensor& t) {
  return opgen::alias_with_sizes_and_strides(
      t, {t.size(1), t.size(0)}, {t.stride(1), t.stride(0)}, t.storage_offset());
}

inline void numbers(opgen::IntArrayRef list) {
  std::printf("[");
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::printf(i == 0 ? "%lld" : " %lld", static_cast<long long>(list[i]));
  }
  std::printf("]");
}

// Name, sizes, strides and, unless there is no data, the elements.
inline void show(const char* what, const opgen::Tensor& t) {
  std::printf("%s = ", what);
  if (!t.defined()) {
    std::printf("undefined\n");
    return;
  }
  numbers(t.sizes());
  std::printf(" by ");
  numbers(t.strides());
  if (t.is_meta()) {
    std::printf(", no data\n");
    return;
  }
  opgen::TensorBase flat = opgen::clone(t, opgen::MemoryFormat::Contiguous);
  flat = opgen::to_dtype(flat, opgen::kDouble);
  std::printf(":");
  for (std::int64_t i = 0; i < flat.numel(); ++i) std::printf(" %g", flat.const_data_ptr<double>()[i]);
  std::printf("\n");
}

template <class F>
void refused(const char* what, F&& call) {
  try {
    call();
    std::printf("%s: not refused\n", what);
  } catch (const opgen::NotImplementedError& error) {
    std::printf("%s: NotImplementedError: %s\n", what, error.what());
  } catch (const std::exception& error) {
    std::printf("%s: %s\n", what, error.what());
  }
}

// Warnings go to stdout from here on.
inline void warnings() {
  opgen::set_warning_handler([](const char* text) { std::printf("warning: %s\n", text); });
}

}  // namespace say
