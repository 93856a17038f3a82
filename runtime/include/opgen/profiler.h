// profiler.h: observers of every dispatched call of the process, switched on and off at run time;
// and Profiler, which counts calls and measures them.
//
// Off, they cost nothing: the key that they stand at is in every call's key set, and in no
// operator's mask. The first observer registers a fallback there, which changes the operators'
// tables; the last one that leaves takes it away.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "opgen/dispatcher.h"

namespace opgen {

class OPGEN_API CallObserver {
 public:
  virtual ~CallObserver();
  // On the thread that calls, before the kernel of the highest key. Calls that a kernel makes come
  // between its own enter and leave.
  virtual void enter(const OperatorHandle& op) = 0;
  // Also after an error. Nanoseconds: with, and without the calls in between.
  virtual void leave(const OperatorHandle& op, std::int64_t total, std::int64_t own) = 0;
};

// Observes while it lives. A call that runs when it goes still leaves.
class OPGEN_API ObserverHandle {
 public:
  explicit ObserverHandle(std::shared_ptr<CallObserver> observer);
  ~ObserverHandle();
  ObserverHandle(const ObserverHandle&) = delete;
  ObserverHandle& operator=(const ObserverHandle&) = delete;

 private:
  std::shared_ptr<CallObserver> observer_;
};

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
  // By time of their own, longest first.
  [[nodiscard]] std::vector<Row> rows() const;
  [[nodiscard]] std::string table() const;

 private:
  class Counts;
  std::shared_ptr<Counts> counts_;
  std::unique_ptr<ObserverHandle> handle_;
};

}  // namespace opgen
