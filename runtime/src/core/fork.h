// fork.h: mutexes that the child process of fork() can lock, whichever thread held them. Internal.
#pragma once

#include <pthread.h>

#include <mutex>

namespace opgen {

// Holds the mutex while the process is copied. A mutex that is locked while another is held must be
// registered before that one. Call it once or often.
template <std::mutex& (*mutex)()>
void hold_during_fork() {
  static const int registered =
      pthread_atfork([] { mutex().lock(); }, [] { mutex().unlock(); }, [] { mutex().unlock(); });
  static_cast<void>(registered);
}

}  // namespace opgen
