// types.h: the types of signatures, besides lists and dictionaries that own their elements.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "opgen/core/array_ref.h"
#include "opgen/core/complex.h"
#include "opgen/core/dispatch_key.h"
#include "opgen/core/dispatch_key_set.h"
#include "opgen/core/enumerations.h"
#include "opgen/core/error.h"
#include "opgen/core/half.h"
#include "opgen/core/macros.h"
#include "opgen/core/scalar.h"
#include "opgen/core/scalar_type.h"
#include "opgen/core/small_vector.h"
#include "opgen/core/sym_int.h"
#include "opgen/device/device.h"
#include "opgen/device/generator.h"
#include "opgen/tensor/optional_ref.h"
#include "opgen/tensor/promotion.h"
#include "opgen/tensor/storage.h"
#include "opgen/tensor/tensor_options.h"

namespace opgen {

class TensorBase;
class Tensor;

using TensorList = ArrayRef<Tensor>;
using ITensorListRef = ArrayRef<Tensor>;
using IOptTensorListRef = ArrayRef<std::optional<Tensor>>;

}  // namespace opgen
