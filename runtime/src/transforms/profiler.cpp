// profiler.cpp: the fallback for observers, and the counts of a profiler.
#include "opgen/transforms/profiler.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "opgen/device/blocking.h"
#include "opgen/dispatch/library.h"

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

// ---- Profiler ----------------------------------------------------------------------------------

class Profiler::Counts final : public CallObserver {
 public:
  void enter(const OperatorHandle&) override {}
  void leave(const OperatorHandle& op, std::int64_t total, std::int64_t own) override {
    const detail::Lock lock(mutex_);
    Row& row = rows_[op.full_name()];
    ++row.calls;
    row.total += total;
    row.own += own;
  }
  std::vector<Row> rows() {
    const detail::Lock lock(mutex_);
    std::vector<Row> rows;
    for (const auto& [name, row] : rows_) rows.push_back({name, row.calls, row.total, row.own});
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.own > b.own; });
    return rows;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Row> rows_;
};

Profiler::Profiler()
    : counts_(std::make_shared<Counts>()), handle_(std::make_unique<ObserverHandle>(counts_)) {}
Profiler::~Profiler() = default;

void Profiler::stop() noexcept {
  handle_.reset();
}
std::vector<Profiler::Row> Profiler::rows() const {
  return counts_->rows();
}

namespace {

constexpr std::size_t kNameWidth = 32;
constexpr std::size_t kCallsWidth = 10;
constexpr std::size_t kTimeWidth = 14;

std::string right(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}
std::string left(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}
std::string microseconds(std::int64_t nanoseconds) {
  char buffer[40];
  char* end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<double>(nanoseconds) / 1000,
                            std::chars_format::fixed, 1)
                  .ptr;
  return std::string(buffer, end);
}
std::string line(const std::string& op, const std::string& calls, const std::string& own,
                 const std::string& total) {
  return left(op, kNameWidth) + ' ' + right(calls, kCallsWidth) + ' ' + right(own, kTimeWidth) +
         ' ' + right(total, kTimeWidth) + '\n';
}

}  // namespace

std::string Profiler::table() const {
  std::string text = line("operator", "calls", "own us", "total us");
  for (const Row& row : rows()) {
    text += line(row.op, std::to_string(row.calls), microseconds(row.own), microseconds(row.total));
  }
  return text;
}

}  // namespace opgen
