// anomaly.cpp: records the forward call in each node, and adds it to errors of backward().
#include "opgen/autograd/anomaly.h"

#include "autograd/node_extras.h"
#include "opgen/device/blocking.h"
#include "opgen/dispatch_macros.h"
#include "opgen/schema/observer.h"
#include "opgen/tensor/copy.h"

namespace opgen::autograd {

namespace {

Atomic<bool> enabled = false;
Atomic<bool> checks_nan = true;

// Only makes calls observed.
class Observer final : public CallObserver {
 public:
  void enter(const OperatorHandle&) override {}
  void leave(const OperatorHandle&, std::int64_t, std::int64_t) override {}
};

struct Observing {
  std::mutex mutex;
  std::unique_ptr<ObserverHandle> handle;
};

bool has_nan(const TensorBase& tensor) {
  if (!tensor.has_storage() || tensor.is_meta()) return false;
  const TensorBase here = opgen::detail::contiguous(opgen::detail::to_device(tensor, kCPU));
  bool found = false;
  OPGEN_DISPATCH_FLOATING_AND_COMPLEX(here.scalar_type(), "check for NaN", [&] {
    const scalar_t* data = here.const_data_ptr<scalar_t>();
    for (std::int64_t i = 0; i < here.numel() && !found; ++i) found = data[i] != data[i];
  });
  return found;
}

}  // namespace

void set_anomaly_enabled(bool value, bool check_nan) {
  // Never destroyed, because other threads may still call operators while the process ends.
  static Observing& observing = *new Observing;
  const opgen::detail::Lock lock(observing.mutex);
  if (!value) observing.handle.reset();
  if (value && observing.handle == nullptr) {
    observing.handle = std::make_unique<ObserverHandle>(std::make_shared<Observer>());
  }
  checks_nan.store_relaxed(check_nan);
  enabled.store_relaxed(value);
}
bool is_anomaly_enabled() noexcept {
  return enabled.load_relaxed();
}
bool anomaly_checks_nan() noexcept {
  return checks_nan.load_relaxed();
}

namespace internal {

void note_forward_call(Node& node) {
  NodeExtras& extras = extras_of(node);
  for (const OperatorHandle& op : observed_calls()) extras.trace += "\n  in " + op.signature();
  if (extras.trace.empty()) extras.trace = "\n  in a call of an unknown operator";
  if (const Node* parent = running_node()) {
    extras.parent = std::make_shared<const std::string>(describe_forward_call(*parent));
  }
}

std::string describe_forward_call(const Node& node) {
  const NodeExtras* extras = NodeAccess::extras(node);
  std::string text = "\n" + node.name();
  if (extras == nullptr || extras->trace.empty()) {
    return text + " was recorded before anomaly mode was enabled";
  }
  text += " was recorded" + extras->trace;
  if (extras->parent != nullptr) text += "\nduring the backward of" + *extras->parent;
  return text;
}

void rethrow_with_forward_call(const Node& node) {
  const std::string said = describe_forward_call(node);
  try {
    throw;
  } catch (Error& error) {
    error.append(said.data(), said.size());
    throw;
  } catch (const std::exception& error) {
    const std::string text = error.what() + said;
    throw Error(text.data(), text.size());
  }
}

void check_no_nan(const Node& node, const Gradients& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const TensorBase& result = results[i];
    if (!result.defined() || !is_differentiable(result.scalar_type())) continue;
    OPGEN_CHECK(!has_nan(result), node.name(), " returned NaN in the gradient for input ", i,
                describe_forward_call(node));
  }
}

}  // namespace internal
}  // namespace opgen::autograd
