// sizes.h: the two kinds of sizes for which the body of a meta function is compiled. The names that
// the body uses stand for different types in each.
#pragma once

#include <ATen/core/ATen_fwd.h>

#include "opgen/core/release.h"
#include "opgen/symbolic/symbolic_meta.h"

namespace opgen {

// Known sizes, with ATen's own classes.
struct ConcreteSizes {
  using Tensor = at::Tensor;
  using Int = std::int64_t;
  using IntArrayRef = at::IntArrayRef;
  using DimVector = at::DimVector;
  using ITensorListRef = at::ITensorListRef;
  using IOptTensorListRef = at::IOptTensorListRef;
  using OptionalTensorRef = at::OptionalTensorRef;
  using TensorIteratorConfig = at::TensorIteratorConfig;
  using MetaBase = at::impl::MetaBase;
  using TensorIteratorBase = detail::IteratorBase;
};

// Sizes that are symbols while torch.compile and torch.export trace. If a compiler error names
// this struct: declare a size as `auto` or `Int`, and a list of sizes as `IntArrayRef` or
// `DimVector`.
struct SymbolicSizes {
  using Tensor = SymbolicTensor;
  using Int = SymInt;
  using IntArrayRef = SymIntArrayRef;
  using DimVector = at::SymDimVector;
  using ITensorListRef = SymbolicTensorList;
  using IOptTensorListRef = OptionalSymbolicTensorList;
  using OptionalTensorRef = OptionalSymbolicTensor;
  using TensorIteratorConfig = SymbolicIteratorConfig;
  using MetaBase = SymbolicMetaBase;
  using TensorIteratorBase = SymbolicIteratorBase;
};

}  // namespace opgen

#include "opgen/structured/meta_names.h"
