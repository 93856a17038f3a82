// direct_kernel.h: DirectKernel, the kernel of one operator and key, called without the dispatcher.
#pragma once

#include <type_traits>
#include <utility>

#include "opgen/core/error.h"

namespace opgen {

struct OperatorSlot;

namespace detail {

// See operator.h, which targets with another dispatcher do not have.
[[noreturn]] OPGEN_API OPGEN_COLD void rethrow_from(const OperatorSlot& slot, Error& error);

// The type of kernels with the class Tensor of their library, if that is not the dispatcher's.
template <class Op, class Schema>
struct OwnSchema {
  using type = void(OwnSchema);
};
template <class Op, class Schema>
requires(!std::is_same_v<typename Op::own_schema, Schema>) struct OwnSchema<Op, Schema> {
  using type = typename Op::own_schema;
};

}  // namespace detail

// The generated Register<Key>.cpp defines one for each operator. It is constant-initialised, so it
// may be called before any operator is registered.
template <class Op, class Schema = typename Op::schema>
struct DirectKernel;
template <class Op, class R, class... A>
struct DirectKernel<Op, R(A...)> {
  using Own = typename detail::OwnSchema<Op, R(A...)>::type;

  constexpr DirectKernel(R (*kernel)(A...)) noexcept : function(kernel) {}  // NOLINT
  constexpr DirectKernel(Own* kernel) noexcept : own(kernel) {}             // NOLINT
  // `Served` is FunctionalKernel<K, Impl>, OutKernel<K, Impl> or the like.
  template <class Served>
  requires requires { typename Served::template Of<Op>; }
  constexpr DirectKernel(const Served&) noexcept  // NOLINT
      : function(&Served::template Of<Op>::call) {}

  decltype(auto) operator()(A... arguments) const {
    // PyTorch's dispatcher has no slots: it names operators itself.
    if constexpr (requires { Op::slot; }) {
      using Result = typename Op::result;
      try {
        return reinterpret_cast<Result (*)(A...)>(reinterpret_cast<void*>(function))(
            std::forward<A>(arguments)...);
      } catch (Error& error) {
        detail::rethrow_from(Op::slot, error);
      }
    } else {
      return function(std::forward<A>(arguments)...);
    }
  }

  // The library's class only adds methods, so both are called alike.
  union {
    R (*function)(A...);
    Own* own;
  };
};

}  // namespace opgen
