// thread_value.h: a value for each thread, for values that are seldom used. They take no memory of
// the thread-local block (OPGEN_TLS), of which the loader has little for libraries that it loads
// later.
// Internal.
#pragma once

#include <pthread.h>

#include "opgen/core/error.h"

namespace opgen {

// Make one that is never destroyed: threads may outlive static variables.
template <class T>
class ThreadValue {
 public:
  ThreadValue() noexcept
      : exists_(pthread_key_create(&key_, [](void* p) { delete static_cast<T*>(p); }) == 0) {}
  // Returns this thread's value, which is made at the first call.
  T& get() {
    if (T* value = find()) return *value;
    T* value = new T();
    if (!exists_ || pthread_setspecific(key_, value) != 0) {
      delete value;
      OPGEN_CHECK_KIND(OutOfMemory, false, "the process has too many thread-specific values");
    }
    return *value;
  }
  // Returns null before the first get().
  [[nodiscard]] T* find() const noexcept {
    return exists_ ? static_cast<T*>(pthread_getspecific(key_)) : nullptr;
  }

 private:
  pthread_key_t key_ = 0;
  const bool exists_;
};

}  // namespace opgen
