// tensor_parts.h: TensorParts, records that only some tensors have, one per feature: gradients, the
// base of a view, a wrapped value.
#pragma once

#include <cstddef>
#include <memory>

#include "opgen/core/atomic.h"
#include "opgen/tensor/tensor_impl.h"

namespace opgen {

enum class TensorPartKind : std::uint8_t {
  Autograd,
  View,
  Tangent,
  Batched,
  Liveness,
  StandIn,
  Count
};

// The record of one feature, which its `static constexpr TensorPartKind kKind` names. Its memory is
// from the runtime's pool.
class OPGEN_API TensorPart {
 public:
  virtual ~TensorPart();
  static void* operator new(std::size_t size);
  static void operator delete(void* block, std::size_t size) noexcept;
};

class OPGEN_API TensorParts {
 public:
  TensorParts() noexcept = default;
  OPGEN_NOINLINE ~TensorParts();  // most tensors that are freed have no parts
  TensorParts(const TensorParts&) = delete;
  TensorParts& operator=(const TensorParts&) = delete;
  static void* operator new(std::size_t size);
  static void operator delete(void* block, std::size_t size) noexcept;

  [[nodiscard]] TensorPart* find(TensorPartKind kind) const noexcept {
    return parts_[static_cast<std::size_t>(kind)].load_acquire();
  }
  // Adds the part and returns it. If another thread has added one first, returns that one.
  TensorPart* add(TensorPartKind kind, std::unique_ptr<TensorPart> part) noexcept;

 private:
  Atomic<TensorPart*> parts_[static_cast<std::size_t>(TensorPartKind::Count)] = {};
};

namespace detail {

[[nodiscard]] OPGEN_API TensorParts& make_parts(TensorImpl& impl);
[[noreturn]] OPGEN_API OPGEN_COLD void throw_undefined_has_no_parts();

template <class Part>
[[nodiscard]] Part* find_part(const TensorImpl* impl) noexcept {
  TensorParts* parts = impl->parts();
  return parts != nullptr ? static_cast<Part*>(parts->find(Part::kKind)) : nullptr;
}
// Returns the record; creates it if the tensor has none. Several threads may do so at once.
template <class Part>
[[nodiscard]] Part& part_of(TensorImpl* impl) {
  if (Part* part = find_part<Part>(impl)) return *part;
  if (impl == &undefined_tensor) throw_undefined_has_no_parts();
  return static_cast<Part&>(*make_parts(*impl).add(Part::kKind, std::make_unique<Part>()));
}

}  // namespace detail
}  // namespace opgen
