// profiler.cpp: the counts of a profiler.
#include "opgen/transforms/profiler.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>

#include "opgen/device/blocking.h"

namespace opgen {

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
