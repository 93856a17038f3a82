// observer.cpp: the fallback that tells observers about calls.
#include "opgen/dispatch/observer.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <vector>

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

// Time spent in the calls that this thread's innermost observed call made.
thread_local std::int64_t time_within = 0;

class Observed {
 public:
  explicit Observed(const OperatorHandle& op)
      : op_(op), observers_(Registry::singleton().current()), outer_(time_within) {
    for (const auto& observer : *observers_) observer->enter(op_);
    time_within = 0;
    begin_ = now();
  }
  ~Observed() {
    std::int64_t total = now() - begin_;
    std::int64_t own = total - time_within;
    for (const auto& observer : *observers_) observer->leave(op_, total, own);
    time_within = outer_ + total;
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

 private:
  const OperatorHandle& op_;
  std::shared_ptr<const Observers> observers_;
  std::int64_t outer_;
  std::int64_t begin_ = 0;
};

void observed_kernel(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  Observed observed(op);
  op.redispatch_boxed(keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, kObserverKey), stack);
}

}  // namespace

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
