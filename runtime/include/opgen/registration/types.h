// types.h: every type that a signature needs, and the namespace opgen::types, from which other
// namespaces import them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "opgen/core/array_ref.h"
#include "opgen/core/complex.h"
#include "opgen/core/dispatch_key_set.h"
#include "opgen/core/enumerations.h"
#include "opgen/core/half.h"
#include "opgen/core/scalar.h"
#include "opgen/core/small_vector.h"
#include "opgen/core/sym_int.h"
#include "opgen/device/device.h"
#include "opgen/device/generator.h"
#include "opgen/registration/dict.h"
#include "opgen/registration/list.h"
#include "opgen/registration/optional_ref.h"
#include "opgen/tensor/storage.h"
#include "opgen/tensor/tensor_options.h"

namespace opgen {

class IValue;
class TensorBase;
class Tensor;
struct InplaceMetaBase;
struct MetaBase;
struct TensorIteratorBase;
struct TensorIterator;
class TensorIteratorConfig;

using TensorList = ArrayRef<Tensor>;
using ITensorListRef = ArrayRef<Tensor>;
using IOptTensorListRef = ArrayRef<std::optional<Tensor>>;

// The mapping of quantized values to real ones. The runtime passes it on without interpreting it.
enum class QScheme : std::uint8_t {
  PerTensorAffine = 0,
  PerChannelAffine = 1,
  PerTensorSymmetric = 2,
  PerChannelSymmetric = 3,
  PerChannelAffineFloatQparams = 4,
};

// The values of `int reduction` arguments of losses.
namespace Reduction {
enum Reduction { None = 0, Mean = 1, Sum = 2 };
}

// The types of signatures, except Tensor and lists of it. A library that has a class Tensor of its
// own adds these.
namespace types_besides_tensor {

using opgen::ArrayRef;
using opgen::BFloat16;
using opgen::complex;
using opgen::Device;
using opgen::DeviceIndex;
using opgen::DeviceType;
using opgen::Dict;
using opgen::DimVector;
using opgen::DispatchKey;
using opgen::DispatchKeySet;
using opgen::Generator;
using opgen::Half;
using opgen::InplaceMetaBase;
using opgen::IntArrayRef;
using opgen::IOptTensorListRef;
using opgen::IValue;
using opgen::Layout;
using opgen::List;
using opgen::MemoryFormat;
using opgen::MetaBase;
using opgen::OptionalArrayRef;
using opgen::OptionalIntArrayRef;
using opgen::OptionalScalarRef;
using opgen::OptionalSymIntArrayRef;
using opgen::OptionalTensorRef;
using opgen::QScheme;
using opgen::Scalar;
using opgen::ScalarType;
using opgen::Storage;
using opgen::Stream;
using opgen::SymBool;
using opgen::SymInt;
using opgen::SymIntArrayRef;
using opgen::TensorBase;
using opgen::TensorIterator;
using opgen::TensorIteratorBase;
using opgen::TensorIteratorConfig;
using opgen::TensorOptions;

namespace Reduction = opgen::Reduction;

#define OPGEN_USING(type, name, number) using opgen::k##name;
OPGEN_FORALL_SCALAR_TYPES(OPGEN_USING)
#undef OPGEN_USING
#define OPGEN_USING(name, text, number) using opgen::k##name;
OPGEN_FORALL_DEVICE_TYPES(OPGEN_USING)
#undef OPGEN_USING
using opgen::kMkldnn;
using opgen::kSparse;
using opgen::kSparseCsr;
using opgen::kStrided;

}  // namespace types_besides_tensor

// For `using namespace opgen::types;`. Contains type names only, so that they do not collide with
// operators.
namespace types {
using namespace types_besides_tensor;  // NOLINT(google-build-using-namespace)
using opgen::ITensorListRef;
using opgen::Tensor;
using opgen::TensorList;
}  // namespace types
}  // namespace opgen
