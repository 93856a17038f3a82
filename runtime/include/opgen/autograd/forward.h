// forward.h: forward mode: tensors that carry a tangent, the derivative along one direction.
//
//   ForwardLevel level;
//   TensorBase x = make_dual(value, direction);
//   TensorBase derivative = tangent_of(f(x));   // the Jacobian times the direction
#pragma once

#include "opgen/tensor/tensor.h"

namespace opgen::autograd {

namespace internal {
// How many levels are open in the process.
extern OPGEN_API Atomic<std::int32_t> open_forward_levels;
[[nodiscard]] OPGEN_API bool find_tangent(const TensorBase& tensor) noexcept;
}  // namespace internal

// While it lives, tensors can have tangents that this thread sets; at its end these are gone. A
// level inside of a level is refused: a tensor has one tangent.
class OPGEN_API ForwardLevel {
 public:
  ForwardLevel();
  ~ForwardLevel();
  ForwardLevel(const ForwardLevel&) = delete;
  ForwardLevel& operator=(const ForwardLevel&) = delete;
};

// Whether some tensor may have a tangent: one load, for kernels that do no more if none has.
[[nodiscard]] inline bool forward_mode_is_active() noexcept {
  return internal::open_forward_levels.load_relaxed() != 0;
}
[[nodiscard]] inline bool has_tangent(const TensorBase& tensor) noexcept {
  return OPGEN_UNLIKELY(forward_mode_is_active()) && internal::find_tangent(tensor);
}
// Undefined if there is none. A view that was made before its base got a tangent has a view of it.
[[nodiscard]] OPGEN_API TensorBase tangent_of(const TensorBase& tensor);
// An undefined tangent removes the one that is there. Throws Error unless the tangent has the
// tensor's sizes, dtype and device, and a level is open. The tangent of a view is written to that
// of its base, which gets one if it has none.
OPGEN_API void set_tangent(const TensorBase& tensor, const TensorBase& tangent);
// Returns a tensor with the same bytes and history, without a tangent: `tensor` if it has none.
[[nodiscard]] OPGEN_API TensorBase primal_of(const TensorBase& tensor);

// Returns a tensor with the bytes and history of `primal`, and the tangent. Throws Error if
// `primal` has a tangent, and as set_tangent() does.
[[nodiscard]] OPGEN_API TensorBase make_dual(const TensorBase& primal, const TensorBase& tangent);
struct Dual {
  TensorBase primal;
  TensorBase tangent;  // may be undefined
};
[[nodiscard]] OPGEN_API Dual unpack_dual(const TensorBase& tensor);

// Throws NotImplementedError, which names `op`: it has no forward-mode formula.
[[noreturn]] OPGEN_API OPGEN_COLD void throw_no_forward_formula(std::string_view op);

}  // namespace opgen::autograd
