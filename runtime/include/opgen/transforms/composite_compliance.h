// composite_compliance.h: CompositeComplianceGuard, for tests: in its scope, a composite kernel
// throws if it does something that not every backend can do.
//
// A CompositeImplicitAutograd kernel serves every backend, and its gradient follows from the
// operators that it calls. So it may only call operators, except `resize_`, `item`, and out=
// operators (unless it is one itself), and it must not read memory through `data_ptr`.
//
//     CompositeComplianceGuard guard;
//     at::my_composite(x);   // throws "my::composite is composite, but its kernel calls item …"
//
// While a guard exists, composite kernels that this thread calls receive stand-ins for their
// tensors, which have sizes, strides and options, but no bytes. The operators that such a kernel
// calls receive the tensors themselves. Results are the same as without the guard. Without a guard,
// calls cost nothing extra.
#pragma once

#include "opgen/core/local_keys.h"

namespace opgen {

class OPGEN_API CompositeComplianceGuard {
 public:
  CompositeComplianceGuard();
  ~CompositeComplianceGuard();
  CompositeComplianceGuard(const CompositeComplianceGuard&) = delete;
  CompositeComplianceGuard& operator=(const CompositeComplianceGuard&) = delete;

 private:
  IncludeDispatchKeyGuard keys_;
};

}  // namespace opgen
