// types.h: every type that a signature needs, and opgen::types, through which other namespaces
// import them.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "opgen/array_ref.h"
#include "opgen/bfloat16.h"
#include "opgen/complex.h"
#include "opgen/device.h"
#include "opgen/dict.h"
#include "opgen/dispatch_key.h"
#include "opgen/dispatch_key_set.h"
#include "opgen/error.h"
#include "opgen/generator.h"
#include "opgen/half.h"
#include "opgen/layout.h"
#include "opgen/list.h"
#include "opgen/macros.h"
#include "opgen/memory_format.h"
#include "opgen/optional_ref.h"
#include "opgen/promotion.h"
#include "opgen/qscheme.h"
#include "opgen/reduction.h"
#include "opgen/scalar.h"
#include "opgen/scalar_type.h"
#include "opgen/small_vector.h"
#include "opgen/storage.h"
#include "opgen/stream.h"
#include "opgen/sym_int.h"
#include "opgen/tensor_options.h"

namespace opgen {

class IValue;
class TensorBase;
class Tensor;  // its body is generated
struct InplaceMetaBase;
struct MetaBase;
struct TensorIteratorBase;
struct TensorIterator;

using TensorList = ArrayRef<Tensor>;
using ITensorListRef = ArrayRef<Tensor>;
using IOptTensorListRef = ArrayRef<std::optional<Tensor>>;

// For `using namespace opgen::types;`: names only, so that an operator may be called anything.
namespace types {

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
using opgen::ITensorListRef;
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
using opgen::Tensor;
using opgen::TensorBase;
using opgen::TensorIterator;
using opgen::TensorIteratorBase;
using opgen::TensorList;
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

}  // namespace types
}  // namespace opgen
