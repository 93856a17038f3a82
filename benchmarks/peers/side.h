// side.h: libtorch's side of the comparison: names that calls.cpp and throughput.cpp use.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include "noop_ops.h"

using at::Tensor;

namespace side {

// Use one thread, and do not record gradients.
struct Scope {
  Scope() { at::set_num_threads(1); }
  c10::InferenceMode inference;
};
// The dispatch keys for which autograd kernels run.
struct Recording {
  c10::InferenceMode off{false};
};

// An array that lives as long as BENCH's lambda, which captures by value.
struct Dims {
  std::int64_t dim;
  operator at::IntArrayRef() const { return {&dim, 1}; }            // NOLINT
  operator at::OptionalIntArrayRef() const { return {{&dim, 1}}; }  // NOLINT
};
inline at::TensorOptions meta() {
  return at::TensorOptions(at::kMeta).dtype(at::kFloat);
}
inline at::TensorOptions integers() {
  return at::TensorOptions(at::kLong);
}

inline void noop(const Tensor& a, const Tensor& b) {
  static auto op = find_noop("idle::noop");
  op.call(a, b);
}
inline void noop_boxed(const Tensor& a, const Tensor& b) {
  static auto op = find_noop("idle::noop_boxed");
  op.call(a, b);
}
inline void noop_redispatch(const Tensor& a, const Tensor& b) {
  static auto op = find_noop("idle::noop_redispatch");
  op.call(a, b);
}

// A stack that is reused, as in an interpreter.
class BoxedNoop {
 public:
  BoxedNoop() { stack_.reserve(8); }
  void call(const Tensor& a, const Tensor& b) {
    stack_.emplace_back(a);
    stack_.emplace_back(b);
    op_.callBoxed(&stack_);
  }

 private:
  c10::TypedOperatorHandle<NoopSignature> op_ = find_noop("idle::noop");
  torch::jit::Stack stack_;
};

}  // namespace side
