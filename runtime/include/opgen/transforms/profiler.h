// profiler.h: Profiler, which counts and times all calls of the process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "opgen/schema/observer.h"

namespace opgen {

// Profiler profiler; … ; std::puts(profiler.table().c_str());
class OPGEN_API Profiler {
 public:
  struct Row {
    std::string op;  // "aten::add.Tensor"
    std::int64_t calls = 0;
    std::int64_t total = 0;  // nanoseconds
    std::int64_t own = 0;
  };

  Profiler();
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  void stop() noexcept;
  // Sorted by own time, longest first.
  [[nodiscard]] std::vector<Row> rows() const;
  [[nodiscard]] std::string table() const;

 private:
  class Counts;
  std::shared_ptr<Counts> counts_;
  std::unique_ptr<ObserverHandle> handle_;
};

}  // namespace opgen
