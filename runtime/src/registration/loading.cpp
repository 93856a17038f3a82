// loading.cpp: counts the LoadingScopes of this thread.
#include "opgen/registration/loading.h"

namespace opgen {

namespace {
thread_local constinit int loading_scopes OPGEN_TLS = 0;
}

LoadingScope::LoadingScope() noexcept {
  ++loading_scopes;
}
LoadingScope::~LoadingScope() {
  --loading_scopes;
}
bool LoadingScope::is_alive() noexcept {
  return loading_scopes != 0;
}

}  // namespace opgen
