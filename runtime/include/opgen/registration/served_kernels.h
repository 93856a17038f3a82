// served_kernels.h: class templates of structured operators without the operator. Registrations use
// them to name kernels: `kernel<Op>(OutKernel<K, Impl>())`.
#pragma once

#include <cstddef>

#include "opgen/registration/structured_composite.h"

namespace opgen {

template <DispatchKey K, class Impl>
struct FunctionalKernel {
  template <class Op>
  using Of = Functional<K, Impl, Op>;
};
template <DispatchKey K, class Impl>
struct OutKernel {
  template <class Op>
  using Of = Out<K, Impl, Op>;
};
template <DispatchKey K, class Impl, std::size_t SelfPos = 0>
struct InplaceKernel {
  template <class Op>
  using Of = Inplace<K, Impl, Op, SelfPos>;
};
template <class Meta, class OutOp>
struct CompositeFunctionalKernel {
  template <class Op>
  using Of = CompositeFunctional<Meta, Op, OutOp>;
};
template <class Meta, class OutOp, std::size_t SelfPos = 0>
struct CompositeInplaceKernel {
  template <class Op>
  using Of = CompositeInplace<Meta, Op, OutOp, SelfPos>;
};

}  // namespace opgen
