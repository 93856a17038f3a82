// stub.h: the report of kernels that nobody has written yet.
#pragma once

#include <string>
#include <vector>

#include "opgen/macros.h"

namespace opgen {

struct StubReport {
  std::string library;
  std::string op;
  std::string key;
  std::string signature;
};
// Every kernel that is still on its stub, sorted by library, operator and key.
[[nodiscard]] OPGEN_API std::vector<StubReport> opgen_stub_report();

}  // namespace opgen
