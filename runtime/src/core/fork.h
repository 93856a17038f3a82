// fork.h: hold_during_fork(), so that the child of a fork can lock a mutex that another thread of
// its parent held. Internal.
#pragma once

#include <pthread.h>

#include <mutex>

namespace opgen {

// Holds the mutex while the process is copied. A mutex that is locked while another is held must be
// registered before that one. Call it before another thread can lock the mutex: a fork that has
// begun calls no new handlers.
template <std::mutex& (*mutex)()>
bool hold_during_fork() {
  static const int registered =
      pthread_atfork([] { mutex().lock(); }, [] { mutex().unlock(); }, [] { mutex().unlock(); });
  return registered == 0;
}

}  // namespace opgen
