// tensor_extra.h: TensorExtra, the records that only some tensors carry: gradients, the base of a
// view, a wrapped value.
#pragma once

#include <cstddef>
#include <memory>

#include "opgen/tensor_impl.h"

namespace opgen {

enum class TensorPartKind : std::uint8_t { Autograd, View, Batched, Liveness, StandIn, Count };

// One concern's record. `static constexpr TensorPartKind kKind` says which.
class OPGEN_API TensorPart {
 public:
  virtual ~TensorPart();
};

class OPGEN_API TensorExtra {
 public:
  TensorExtra() noexcept = default;
  ~TensorExtra();
  TensorExtra(const TensorExtra&) = delete;
  TensorExtra& operator=(const TensorExtra&) = delete;

  [[nodiscard]] TensorPart* find(TensorPartKind kind) const noexcept {
    return __atomic_load_n(&parts_[static_cast<std::size_t>(kind)], __ATOMIC_ACQUIRE);
  }
  // The part that is there, be it `part` or one that another thread was quicker to add.
  TensorPart* add(TensorPartKind kind, std::unique_ptr<TensorPart> part) noexcept;

 private:
  TensorPart* parts_[static_cast<std::size_t>(TensorPartKind::Count)] = {};
};

namespace detail {

[[nodiscard]] OPGEN_API TensorExtra& make_extra(TensorImpl& impl);
[[noreturn]] OPGEN_API OPGEN_COLD void throw_no_extra();

template <class Part>
[[nodiscard]] Part* find_part(const TensorImpl* impl) noexcept {
  TensorExtra* extra = impl->extra();
  return extra != nullptr ? static_cast<Part*>(extra->find(Part::kKind)) : nullptr;
}
// Makes the record if the tensor has none. Safe against another thread that does the same.
template <class Part>
[[nodiscard]] Part& part_of(TensorImpl* impl) {
  if (Part* part = find_part<Part>(impl)) return *part;
  if (impl == &undefined_tensor) throw_no_extra();
  return static_cast<Part&>(*make_extra(*impl).add(Part::kKind, std::make_unique<Part>()));
}

}  // namespace detail
}  // namespace opgen
