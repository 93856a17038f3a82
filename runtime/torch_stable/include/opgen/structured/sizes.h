// sizes.h: the two kinds of sizes for which the body of a meta function is compiled, and the names
// that it uses, which stand for different types in each.
#pragma once

#include "opgen/iterator/iterator_config.h"
#include "opgen/iterator/tensor_iterator.h"
#include "opgen/structured/meta_base.h"
#include "opgen/symbolic/symbolic_meta.h"

namespace opgen {

namespace detail {

// As in PyTorch, kernels check themselves whether their outputs share memory with inputs.
struct PlainMetaBase : MetaBase {
  static constexpr Aliasing opgen_aliasing = Aliasing::Checked;
};

}  // namespace detail

// Known sizes, with the runtime's classes.
struct ConcreteSizes {
  using Tensor = opgen::Tensor;
  using Int = std::int64_t;
  using IntArrayRef = opgen::IntArrayRef;
  using DimVector = opgen::DimVector;
  using ITensorListRef = opgen::ITensorListRef;
  using IOptTensorListRef = opgen::IOptTensorListRef;
  using OptionalTensorRef = opgen::OptionalTensorRef;
  using TensorIteratorConfig = opgen::TensorIteratorConfig;
  using MetaBase = detail::PlainMetaBase;
  using TensorIteratorBase = opgen::TensorIteratorBase;
};

// Sizes that are symbols while torch.compile and torch.export trace. If a compiler error names
// this struct: declare a size as `auto` or `Int`, and a list of sizes as `IntArrayRef` or
// `DimVector`.
struct SymbolicSizes {
  using Tensor = SymbolicTensor;
  using Int = SymInt;
  using IntArrayRef = SymIntArrayRef;
  using DimVector = SymDimVector;
  using ITensorListRef = SymbolicTensorList;
  using IOptTensorListRef = OptionalSymbolicTensorList;
  using OptionalTensorRef = OptionalSymbolicTensor;
  using TensorIteratorConfig = SymbolicIteratorConfig;
  using MetaBase = SymbolicMetaBase;
  using TensorIteratorBase = SymbolicIteratorBase;
};

}  // namespace opgen

#include "opgen/structured/meta_names.h"
