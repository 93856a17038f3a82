// blocking.h: BlockingScope runs hooks before and after a thread waits for another one. The Python
// module releases the GIL there, since the other thread may wait for it. Lock holds a mutex, and
// waits for it in such a scope.
//
// These rules keep locks and the GIL from deadlocks:
//  - While a lock is held, nothing of Python's is called or destroyed, and nothing waits for the
//    GIL. Gradients, nodes, hooks and storages may own Python objects, whose __del__ may call
//    anything: a value that is replaced under a lock is moved to a variable that was declared
//    before the lock.
//  - A thread that waits for a lock does not hold the GIL: use Lock, which takes the GIL back
//  before
//    it takes the mutex. The exceptions are mutexes whose owner calls nothing that takes a Lock;
//    tests/unit/test_locks.py lists them.
//  - The initialisation of a static variable is a lock, too, and an exception of this kind.
#pragma once

#include "opgen/core/macros.h"

namespace opgen {

// The result of `before` is passed to `after`, unless it is null.
OPGEN_API void set_blocking_hooks(void* (*before)() noexcept,
                                  void (*after)(void*) noexcept) noexcept;

// Create one around the code that waits.
class OPGEN_API BlockingScope {
 public:
  BlockingScope() noexcept;
  ~BlockingScope();
  BlockingScope(const BlockingScope&) = delete;
  BlockingScope& operator=(const BlockingScope&) = delete;

 private:
  void* held_;
};

namespace detail {

template <class Mutex>
class Lock {
 public:
  explicit Lock(Mutex& mutex) : mutex_(mutex) {
    while (!mutex.try_lock()) {
      const BlockingScope blocking;
      mutex.lock();
      mutex.unlock();
    }
  }
  ~Lock() { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace detail

}  // namespace opgen
