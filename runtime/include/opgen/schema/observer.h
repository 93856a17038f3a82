// observer.h: observers of every dispatched call of the process, switched on and off at run time.
//
// Without observers, calls cost nothing extra: their key is in every call's key set, but in no
// operator's mask. The first observer registers a fallback for the key, which changes the
// operators' tables; the last one removes it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "opgen/dispatch/dispatcher.h"

namespace opgen {

class OPGEN_API CallObserver {
 public:
  virtual ~CallObserver();
  // Called on the thread that makes the call, before the kernel of the highest key. Nested calls
  // are reported between enter() and leave() of the outer call.
  virtual void enter(const OperatorHandle& op) = 0;
  // Called also after an error. `total` and `own` are nanoseconds with and without nested calls.
  virtual void leave(const OperatorHandle& op, std::int64_t total, std::int64_t own) = 0;
};

// Observes during its lifetime. leave() is also called for a call that is still running when the
// handle is destroyed.
class OPGEN_API ObserverHandle {
 public:
  explicit ObserverHandle(std::shared_ptr<CallObserver> observer);
  ~ObserverHandle();
  ObserverHandle(const ObserverHandle&) = delete;
  ObserverHandle& operator=(const ObserverHandle&) = delete;

 private:
  std::shared_ptr<CallObserver> observer_;
};

// Returns the calls that this thread is executing, the innermost first, of those that began while
// there was an observer.
[[nodiscard]] OPGEN_API std::vector<OperatorHandle> observed_calls();

}  // namespace opgen
