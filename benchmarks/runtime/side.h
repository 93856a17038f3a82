// side.h: opgen's side of the comparison: names that calls.cpp and throughput.cpp use.
#pragma once

#include <aten/Functions.h>
#include <aten/ops/add_native.h>
#include <idle/Functions.h>
#include <opgen/autograd/inference_mode.h>
#include <opgen/core/parallel.h>
#include <opgen/device/cpu_cache.h>
#include <opgen/dispatch/dispatcher.h>
#include <opgen/prepared.h>
#include <opgen/registration/ivalue.h>

using at::Tensor;

namespace side {

// Use one thread, and do not record gradients.
struct Scope {
  Scope() { opgen::set_num_threads(1); }
  opgen::InferenceMode inference;
};
// The dispatch keys for which autograd kernels run.
struct Recording {
  opgen::InferenceMode off{false};
};

// An array that lives as long as BENCH's lambda, which captures by value.
struct Dims {
  std::int64_t dim;
  operator opgen::OptionalIntArrayRef() const { return opgen::IntArrayRef(&dim, 1); }  // NOLINT
};
inline opgen::TensorOptions meta() {
  return opgen::TensorOptions(opgen::kMeta).dtype(opgen::kFloat);
}
inline opgen::TensorOptions integers() {
  return opgen::TensorOptions(opgen::kLong);
}

inline void noop(const Tensor& a, const Tensor& b) {
  idle::noop(a, b);
}
inline void noop_boxed(const Tensor& a, const Tensor& b) {
  idle::noop_boxed(a, b);
}
inline void noop_redispatch(const Tensor& a, const Tensor& b) {
  idle::noop_redispatch(a, b);
}
void noop_direct(const opgen::Tensor& a, const opgen::Tensor& b);

#define SIDE_HAS_PREPARED
using PreparedAdd = opgen::Prepared<at::native::structured_ufunc_add_CPU, at::_ops::add_out>;

#define SIDE_HAS_CACHE
// Keeps freed memory while this object exists.
struct CachedMemory {
  CachedMemory() { opgen::set_cpu_cache_limit(std::size_t(1) << 30); }
  ~CachedMemory() { opgen::set_cpu_cache_limit(0); }
};

// A stack that is reused, as in an interpreter.
class BoxedNoop {
 public:
  BoxedNoop() { stack_.reserve(8); }
  void call(const Tensor& a, const Tensor& b) {
    stack_.emplace_back(a);
    stack_.emplace_back(b);
    op_.call_boxed(stack_);
  }
#define SIDE_HAS_BORROWED
  void call_borrowed(const Tensor& a, const Tensor& b) {
    stack_.emplace_back(opgen::IValue::Borrowed(), a);
    stack_.emplace_back(opgen::IValue::Borrowed(), b);
    op_.call_boxed(stack_);
  }

 private:
  opgen::OperatorHandle op_ = opgen::Dispatcher::singleton().findSchemaOrThrow("idle::noop", "");
  opgen::Stack stack_;
};

}  // namespace side
