// forward.h: forward mode, in which tensors carry a tangent: the derivative along one direction.
//
//   ForwardLevel level;
//   TensorBase x = make_dual(value, direction);
//   TensorBase derivative = tangent_of(f(x));   // the Jacobian times the direction
#pragma once

#include "opgen/tensor/tensor.h"

namespace opgen::autograd {

namespace internal {
// The number of levels that are open in the process.
extern OPGEN_API Atomic<std::int32_t> open_forward_levels;
[[nodiscard]] OPGEN_API bool find_tangent(const TensorBase& tensor) noexcept;
}  // namespace internal

// While it lives, this thread can set tangents of tensors. Its destructor removes them. Throws
// Error inside another level, because a tensor has only one tangent.
class OPGEN_API ForwardLevel {
 public:
  ForwardLevel();
  ~ForwardLevel();
  ForwardLevel(const ForwardLevel&) = delete;
  ForwardLevel& operator=(const ForwardLevel&) = delete;
};

// Returns whether some tensor may have a tangent. Costs one load, so that kernels can skip tangents
// cheaply.
[[nodiscard]] inline bool forward_mode_is_active() noexcept {
  return internal::open_forward_levels.load_relaxed() != 0;
}
[[nodiscard]] inline bool has_tangent(const TensorBase& tensor) noexcept {
  return OPGEN_UNLIKELY(forward_mode_is_active()) && internal::find_tangent(tensor);
}
// Returns the tangent; undefined if there is none. A view that was made before its base got a
// tangent has a view of that tangent.
[[nodiscard]] OPGEN_API TensorBase tangent_of(const TensorBase& tensor);
// Sets the tangent. An undefined tangent removes the current one. Throws Error unless the tangent
// has the tensor's sizes, dtype and device, and a level is open. The tangent of a view is written
// into the tangent of its base, which gets one if it has none.
OPGEN_API void set_tangent(const TensorBase& tensor, const TensorBase& tangent);
// Returns a tensor with the same bytes and history, without a tangent: `tensor` if it has none.
[[nodiscard]] OPGEN_API TensorBase primal_of(const TensorBase& tensor);

// Returns a tensor with the bytes and history of `primal`, and the tangent. Throws Error if
// `primal` has a tangent, and for the same reasons as set_tangent().
[[nodiscard]] OPGEN_API TensorBase make_dual(const TensorBase& primal, const TensorBase& tangent);
struct Dual {
  TensorBase primal;
  TensorBase tangent;  // may be undefined
};
[[nodiscard]] OPGEN_API Dual unpack_dual(const TensorBase& tensor);

// Throws NotImplementedError, which names `op`: it has no forward-mode formula.
[[noreturn]] OPGEN_API OPGEN_COLD void throw_no_forward_formula(std::string_view op);

}  // namespace opgen::autograd
