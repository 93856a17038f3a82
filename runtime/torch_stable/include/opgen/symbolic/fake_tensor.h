// fake_tensor.h: FakeParts, the sizes, strides and identity of a tensor without memory, which may
// be symbols.
#pragma once

#include <cstdint>
#include <optional>

#include "opgen/core/small_vector.h"
#include "opgen/core/sym_int.h"
#include "opgen/core/sym_lists.h"
#include "opgen/tensor/tensor.h"

namespace opgen {

using SymDimVector = SmallVector<SymInt, 5>;

class FakeParts {
 public:
  SymDimVector sizes;
  SymDimVector strides;
  SymInt storage_offset = 0;
  // The number by which Python knows the tensor; -1: it was made in C++.
  std::int64_t object = -1;
  // Equal for tensors that share a storage; 0: unknown.
  std::int64_t storage = 0;
  // For one that was made in C++: a format that its strides follow by itself, or Preserve.
  MemoryFormat format = MemoryFormat::Preserve;
  // The tensor that this one is a view of, if a meta function said so.
  TensorBase base;
  // Whether a meta function gave other sizes to a tensor that Python knows.
  bool is_resized = false;
  // The numbers, for sizes() and strides() of a tensor without symbols.
  DimVector known_sizes;
  DimVector known_strides;
};

namespace detail {

// Whether this thread runs a meta function for fakes, so that new tensors are fakes, too.
[[nodiscard]] OPGEN_API bool makes_fakes() noexcept;
// Makes this true, or false, for the scope.
class OPGEN_API FakeScope {
 public:
  explicit FakeScope(bool makes_fakes = true) noexcept;
  ~FakeScope();
  FakeScope(const FakeScope&) = delete;
  FakeScope& operator=(const FakeScope&) = delete;

 private:
  bool outer_;
};

// While an iteration over fakes is set up for its dtypes, fakes have the address null. Otherwise
// code that asks for it would compute elements.
class OPGEN_API DtypeScope {
 public:
  DtypeScope() noexcept;
  ~DtypeScope();
  DtypeScope(const DtypeScope&) = delete;
  DtypeScope& operator=(const DtypeScope&) = delete;
  [[nodiscard]] static bool is_alive() noexcept;
};

// Empty strides mean those of the format.
[[nodiscard]] OPGEN_API TensorBase make_fake(SymIntArrayRef sizes, SymIntArrayRef strides,
                                             ScalarType dtype, Device device,
                                             Layout layout = kStrided,
                                             MemoryFormat format = MemoryFormat::Contiguous);
// Gives a fake that Python knows other sizes: Python resizes its tensor after the call.
OPGEN_API void set_fake_sizes(const TensorBase& fake, SymIntArrayRef sizes, SymIntArrayRef strides,
                              MemoryFormat format);
[[nodiscard]] OPGEN_API SymDimVector symbolic_strides(SymIntArrayRef sizes, MemoryFormat format);
// The numbers; a symbol becomes one, for which the traced program is then valid.
[[nodiscard]] inline DimVector concrete_sizes(SymIntArrayRef sizes) {
  DimVector numbers;
  for (const SymInt& size : sizes) numbers.push_back(size.guard_int(__FILE__, __LINE__));
  return numbers;
}

}  // namespace detail

}  // namespace opgen
