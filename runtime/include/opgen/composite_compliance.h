// composite_compliance.h: CompositeComplianceGuard, which makes composite kernels that do what only
// some backends can do throw: for tests.
//
// A CompositeImplicitAutograd kernel serves every backend, and its gradient follows from the
// operators that it calls. So it may only call operators, and of those none that wraps no value: it
// must not call `resize_`, an out= operator (unless it is one itself) or `item`, nor read memory by
// `data_ptr`.
//
//     CompositeComplianceGuard guard;
//     at::my_composite(x);   // throws "my::composite is composite, but its kernel calls item …"
//
// While a guard lives, calls of this thread reach composite kernels with stand-ins for their
// tensors, which have sizes, strides and options, but no bytes. What such a kernel calls gets the
// tensors themselves. Results are the same as without the guard. Without one, calls cost nothing
// more.
#pragma once

#include "opgen/local_keys.h"

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
