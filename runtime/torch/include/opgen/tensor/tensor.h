// tensor.h: ATen's types under the names that generated code and kernels use.
#pragma once

#include <ATen/TensorMeta.h>
#include <ATen/core/Generator.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/TensorAccessor.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/QScheme.h>
#include <c10/core/Scalar.h>
#include <c10/core/SymInt.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/OptionalArrayRef.h>

#include "opgen/core/error.h"
#include "opgen/core/macros.h"
#include "opgen/core/scalar_type.h"

namespace at {
struct TensorIteratorBase;
struct TensorIterator;
class TensorIteratorConfig;
}  // namespace at

namespace opgen {

// For `using namespace opgen::types;`. It contains only type names, so that operators may have any
// name.
namespace types {

using at::ArrayRef;
using at::BFloat16;
using at::Device;
using at::DeviceIndex;
using at::DeviceType;
using at::DimVector;
using at::Generator;
using at::Half;
using at::IntArrayRef;
using at::IOptTensorListRef;
using at::ITensorListRef;
using at::Layout;
using at::MemoryFormat;
using at::OptionalIntArrayRef;
using at::OptionalScalarRef;
using at::OptionalSymIntArrayRef;
using at::OptionalTensorRef;
using at::QScheme;
using at::Scalar;
using at::ScalarType;
using at::Storage;
using at::Tensor;
using at::TensorBase;
using at::TensorIterator;
using at::TensorIteratorBase;
using at::TensorIteratorConfig;
using at::TensorList;
using at::TensorOptions;
using at::impl::MetaBase;
// opgen's runtime uses this information about the kernel. Here, the kernel must check its outputs
// itself, as in PyTorch.
using InplaceMetaBase = MetaBase;
using c10::complex;
using c10::Dict;
using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::IValue;
using c10::List;
using c10::OptionalArrayRef;
using c10::SymBool;
using c10::SymInt;
using c10::SymIntArrayRef;

namespace Reduction = at::Reduction;

#define OPGEN_USING(type, name) using at::k##name;
AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(OPGEN_USING)
#undef OPGEN_USING
using at::kBFloat16;
using at::kBool;
using at::kCPU;
using at::kCUDA;
using at::kHalf;
using at::kMeta;
using at::kStrided;

}  // namespace types

using namespace types;

using at::TensorAccessor;
using c10::DeviceGuard;
using c10::OptionalDeviceGuard;

}  // namespace opgen
