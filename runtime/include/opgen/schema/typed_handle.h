// typed_handle.h: TypedOperatorHandle, which calls an operator with C++ arguments.
#pragma once

#include <utility>

#include "opgen/dispatch/dispatcher.h"
#include "opgen/registration/boxing.h"

namespace opgen {

// Valid as long as its OperatorHandle, whose typed() makes it.
template <class R, class... A>
class TypedOperatorHandle<R(A...)> : public OperatorHandle {
 public:
  explicit TypedOperatorHandle(OperatorEntry* entry) noexcept : OperatorHandle(entry) {}

  R call(A... arguments) const {
    return detail::call<R, A...>(typed_slot(), std::forward<A>(arguments)...);
  }
  R redispatch(DispatchKeySet keys, A... arguments) const {
    return detail::dispatch<R, A...>(typed_slot(), keys, std::forward<A>(arguments)...);
  }

 private:
  // The operator's own slot, with the boxing of this signature.
  [[nodiscard]] OperatorSlot typed_slot() const noexcept {
    const OperatorSlot& own = slot();
    return {own.name, own.overload_name, &boxing<R(A...)>, own.table.load_acquire(), entry_};
  }
};

}  // namespace opgen
