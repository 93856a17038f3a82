// tensor_parts.cpp: attaches a part to a tensor. If two threads do so at once, the first one's part
// is used.
#include "tensor/tensor_parts.h"

#include <memory>

#include "core/pool.h"
#include "opgen/core/error.h"

namespace opgen {

TensorPart::~TensorPart() = default;
void* TensorPart::operator new(std::size_t size) {
  return detail::pool_allocate(size);
}
void TensorPart::operator delete(void* block, std::size_t size) noexcept {
  detail::pool_free(block, size);
}
void* TensorParts::operator new(std::size_t size) {
  return detail::pool_allocate(size);
}
void TensorParts::operator delete(void* block, std::size_t size) noexcept {
  detail::pool_free(block, size);
}

TensorParts::~TensorParts() {
  for (const Atomic<TensorPart*>& part : parts_) delete part.load_relaxed();
}

TensorPart* TensorParts::add(TensorPartKind kind, std::unique_ptr<TensorPart> part) noexcept {
  TensorPart* there = parts_[static_cast<std::size_t>(kind)].replace_null(part.get());
  return there == nullptr ? part.release() : there;
}

namespace detail {

TensorParts& make_parts(TensorImpl& impl) {
  if (TensorParts* parts = impl.parts()) return *parts;
  return *impl.add_parts(new TensorParts);
}
void throw_undefined_has_no_parts() {
  OPGEN_CHECK(false, "an undefined tensor cannot be marked");
  __builtin_unreachable();
}

}  // namespace detail

}  // namespace opgen
