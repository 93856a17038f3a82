// observer.cpp: the fallback that tells observers about calls.
#include "opgen/schema/observer.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <vector>

#include "core/thread_value.h"
#include "opgen/device/blocking.h"

namespace opgen {

CallObserver::~CallObserver() = default;

namespace {

constexpr DispatchKey kObserverKey = DispatchKey::PythonDispatcher;

using Observers = std::vector<std::shared_ptr<CallObserver>>;

struct Registry {
  std::mutex mutex;
  std::shared_ptr<const Observers> observers = std::make_shared<Observers>();
  std::unique_ptr<RegistrationHandle> fallback;

  // Never destroyed, because other threads may still call operators while the process ends.
  static Registry& singleton() {
    static Registry* registry = new Registry;
    return *registry;
  }
  std::shared_ptr<const Observers> current() {
    const detail::Lock lock(mutex);
    return observers;
  }
};

std::int64_t now() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class Observed {
 public:
  explicit Observed(const OperatorHandle& op)
      : op_(op), observers_(Registry::singleton().current()), outer_(innermost()) {
    for (const auto& observer : *observers_) observer->enter(op_);
    innermost() = this;
    begin_ = now();
  }
  ~Observed() {
    std::int64_t total = now() - begin_;
    for (const auto& observer : *observers_) observer->leave(op_, total, total - within_);
    innermost() = outer_;
    if (outer_ != nullptr) outer_->within_ += total;
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

  // The observed calls that this thread is executing.
  static Observed*& innermost() {
    static auto& calls = *new ThreadValue<Observed*>;
    return calls.get();
  }
  [[nodiscard]] const OperatorHandle& op() const noexcept { return op_; }
  [[nodiscard]] const Observed* outer() const noexcept { return outer_; }

 private:
  const OperatorHandle& op_;
  std::shared_ptr<const Observers> observers_;
  Observed* outer_;
  std::int64_t within_ = 0;  // nanoseconds in observed calls that this one made
  std::int64_t begin_ = 0;
};

void observed_kernel(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  Observed observed(op);
  op.redispatch_boxed(keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, kObserverKey), stack);
}

}  // namespace

std::vector<OperatorHandle> observed_calls() {
  std::vector<OperatorHandle> calls;
  for (const Observed* call = Observed::innermost(); call != nullptr; call = call->outer()) {
    calls.push_back(call->op());
  }
  return calls;
}

ObserverHandle::ObserverHandle(std::shared_ptr<CallObserver> observer)
    : observer_(std::move(observer)) {
  Registry& registry = Registry::singleton();
  const detail::Lock lock(registry.mutex);
  auto observers = std::make_shared<Observers>(*registry.observers);
  observers->push_back(observer_);
  if (registry.fallback == nullptr) {
    registry.fallback =
        std::make_unique<RegistrationHandle>(Dispatcher::singleton().register_fallback(
            kObserverKey, KernelFunction::from_boxed(&observed_kernel), "observers"));
  }
  registry.observers = std::move(observers);
}

ObserverHandle::~ObserverHandle() {
  Registry& registry = Registry::singleton();
  const detail::Lock lock(registry.mutex);
  auto observers = std::make_shared<Observers>(*registry.observers);
  observers->erase(std::find(observers->begin(), observers->end(), observer_));
  if (observers->empty()) registry.fallback.reset();
  registry.observers = std::move(observers);
}

}  // namespace opgen
