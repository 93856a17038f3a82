// stub_report.h: lists the kernels that are not written yet.
#pragma once

#include <string>
#include <vector>

#include "opgen/core/macros.h"

namespace opgen {

struct StubReport {
  std::string library;
  std::string op;
  std::string key;
  std::string signature;
};
// Returns every kernel that is still a stub, sorted by library, operator and key.
[[nodiscard]] OPGEN_API std::vector<StubReport> opgen_stub_report();

}  // namespace opgen
