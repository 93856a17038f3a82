// composite_compliance.cpp: stand-ins for tensors, and the fallback that passes them to composite
// kernels and unwraps the results.
#include "opgen/transforms/composite_compliance.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>
#include <vector>

#include "autograd/tensors_of.h"
#include "core/thread_value.h"
#include "opgen/device/blocking.h"
#include "opgen/dispatch/dispatcher.h"
#include "opgen/schema/function_schema.h"
#include "opgen/tensor/tensor.h"
#include "tensor/tensor_parts.h"

namespace opgen {

namespace {

// The thread has the key kMode, for calls without tensors; stand-ins have kStandIn.
constexpr DispatchKey kMode = DispatchKey::TESTING_ONLY_GenericMode;
constexpr DispatchKey kStandIn = DispatchKey::TESTING_ONLY_GenericWrapper;
constexpr DispatchKeySet kBoth{kMode, kStandIn};

struct StandInPart final : TensorPart {
  static constexpr TensorPartKind kKind = TensorPartKind::StandIn;
  TensorBase tensor;
};

const TensorBase* stands_for(const TensorImpl* impl) noexcept {
  const auto* part = detail::find_part<StandInPart>(impl);
  return part != nullptr ? &part->tensor : nullptr;
}

// Updates a stand-in after an operator, which may have changed sizes and strides in place, and
// added keys.
void refresh(TensorImpl* stand_in, const TensorImpl* of) {
  stand_in->set_sizes_and_strides(of->sizes(), of->strides());
  stand_in->set_storage_offset(of->storage_offset());
  stand_in->set_key_set(of->key_set().add(kStandIn));
}

TensorBase stand_in_for(const TensorBase& tensor) {
  const TensorImpl* of = tensor.unsafeGetTensorImpl();
  TensorBase result = TensorBase::adopt(TensorImpl::create(
      Storage(), of->key_set().add(kStandIn), of->dtype(), of->device(), of->layout()));
  TensorImpl* impl = result.unsafeGetTensorImpl();
  refresh(impl, of);
  impl->set_wrapped_number(of->is_wrapped_number());
  detail::part_of<StandInPart>(impl).tensor = tensor;
  return result;
}

// The composite kernel that this thread is executing.
struct Frame {
  const OperatorHandle& op;
  bool is_out;
  const Frame* outer;
};
const Frame*& innermost() {
  static auto& frames = *new ThreadValue<const Frame*>;
  return frames.get();
}

class Running {
 public:
  Running(const OperatorHandle& op, bool is_out) : frame_{op, is_out, innermost()} {
    innermost() = &frame_;
  }
  ~Running() { innermost() = frame_.outer; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  Frame frame_;
};

// Maps tensors to their stand-ins within one call. A tensor that is passed twice has one stand-in.
class StandIns {
 public:
  IValue of(const IValue& value) {
    return detail::map_tensors(value, [&](const TensorBase& tensor) {
      if (stands_for(tensor.unsafeGetTensorImpl()) != nullptr) return tensor;
      for (const auto& [known, stand_in] : pairs_) {
        if (known.is_same(tensor)) return stand_in;
      }
      return pairs_.emplace_back(tensor, stand_in_for(tensor)).second;
    });
  }
  IValue without(const IValue& value) {
    return detail::map_tensors(value, [&](const TensorBase& tensor) {
      const TensorBase* behind = stands_for(tensor.unsafeGetTensorImpl());
      if (behind == nullptr) return tensor;
      pairs_.emplace_back(*behind, tensor);
      return *behind;
    });
  }
  void refresh_all() {
    for (auto& [tensor, stand_in] : pairs_) {
      refresh(stand_in.unsafeGetTensorImpl(), tensor.unsafeGetTensorImpl());
    }
  }

 private:
  std::vector<std::pair<TensorBase, TensorBase>> pairs_;
};

constexpr std::array<std::string_view, 4> kResizing{"resize_", "resize_as_", "resize_as_sparse_",
                                                    "set_"};
constexpr std::array<std::string_view, 2> kReading{"item", "_local_scalar_dense"};

bool is_one_of(std::string_view name, const auto& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool takes_out(const FunctionSchema& schema) {
  return std::any_of(schema.arguments.begin(), schema.arguments.end(),
                     [](const SchemaArgument& argument) { return argument.is_out; });
}

void check_allowed(const OperatorHandle& op, const FunctionSchema& schema) {
  if (innermost() == nullptr) return;
  std::string_view name = op.name();
  name.remove_prefix(name.find("::") + 2);
  std::string by = innermost()->op.full_name() + " is composite, but its kernel ";
  OPGEN_CHECK(!is_one_of(name, kResizing), by, "calls ", op.full_name(),
              ": not every tensor can be resized. Compute a result of the right size");
  OPGEN_CHECK(!is_one_of(name, kReading), by, "calls ", op.full_name(),
              ", item(): code that depends on the number cannot be traced, batched or run without "
              "data. Compute with the tensor");
  OPGEN_CHECK(innermost()->is_out || !takes_out(schema), by, "calls ", op.full_name(),
              ", an out= operator, which has no gradient. Call the functional operator");
}

DispatchKey backend_of_call(DispatchKeySet keys) {
  return (keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::BackendSelect))
      .highestPriorityTypeId();
}

void run_composite(const OperatorHandle& op, const FunctionSchema& schema, DispatchKey backend,
                   Stack& stack) {
  bool outermost = innermost() == nullptr;
  StandIns stand_ins;
  for (std::size_t i = stack.size() - schema.arguments.size(); i < stack.size(); ++i) {
    stack[i] = stand_ins.of(stack[i]);
  }
  Running running(op, takes_out(schema));
  op.redispatch_boxed(DispatchKeySet(backend), stack);
  if (!outermost) return;
  for (std::size_t i = stack.size() - schema.returns.size(); i < stack.size(); ++i) {
    stack[i] = stand_ins.without(stack[i]);
  }
}

void call_with_tensors(const OperatorHandle& op, const FunctionSchema& schema, Stack& stack) {
  StandIns stand_ins;
  for (std::size_t i = stack.size() - schema.arguments.size(); i < stack.size(); ++i) {
    stack[i] = stand_ins.without(stack[i]);
  }
  {
    ExcludeDispatchKeyGuard below(kBoth);
    op.call_boxed(stack);
  }
  stand_ins.refresh_all();
  if (innermost() == nullptr) return;
  for (std::size_t i = stack.size() - schema.returns.size(); i < stack.size(); ++i) {
    stack[i] = stand_ins.of(stack[i]);
  }
}

void watched_kernel(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const FunctionSchema& schema = op.schema();
  check_allowed(op, schema);
  DispatchKey backend = backend_of_call(keys);
  if (op.is_served_by(DispatchKey::CompositeImplicitAutograd, backend)) {
    run_composite(op, schema, backend, stack);
  } else {
    call_with_tensors(op, schema, stack);
  }
}

// Registered while any guard exists.
struct Fallbacks {
  std::mutex mutex;
  int guards = 0;
  RegistrationHandle handles[2];

  static Fallbacks& singleton() {
    static Fallbacks* fallbacks = new Fallbacks;
    return *fallbacks;
  }
  void add() {
    const detail::Lock lock(mutex);
    if (guards++ != 0) return;
    KernelFunction kernel = KernelFunction::from_boxed(&watched_kernel);
    Dispatcher& dispatcher = Dispatcher::singleton();
    handles[0] = dispatcher.register_fallback(kMode, kernel, "composite compliance");
    handles[1] = dispatcher.register_fallback(kStandIn, kernel, "composite compliance");
  }
  void remove() {
    const detail::Lock lock(mutex);
    if (--guards != 0) return;
    for (RegistrationHandle& handle : handles) RegistrationHandle(std::move(handle));
  }
};

[[noreturn]] void refuse_memory(const TensorImpl& impl, const char* act) {
  OPGEN_CHECK(false,
              innermost() != nullptr
                  ? innermost()->op.full_name() + " is composite, but its kernel "
                  : std::string("a composite kernel kept a tensor, and now "),
              act, " of a tensor, ", impl.dtype(), impl.sizes(),
              ": not every backend has memory that can be read here. Call operators");
  __builtin_unreachable();
}

}  // namespace

CompositeComplianceGuard::CompositeComplianceGuard() : keys_(DispatchKeySet(kMode)) {
  detail::stand_in_thrower.store_release(&refuse_memory);
  Fallbacks::singleton().add();
}
CompositeComplianceGuard::~CompositeComplianceGuard() {
  Fallbacks::singleton().remove();
}

}  // namespace opgen
