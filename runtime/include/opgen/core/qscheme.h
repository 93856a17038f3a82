// qscheme.h: QScheme, the mapping of quantized values to real ones. The runtime passes it on
// without interpreting it.
#pragma once

#include <cstdint>

namespace opgen {

// The numbers are PyTorch's.
enum class QScheme : std::uint8_t {
  PerTensorAffine = 0,
  PerChannelAffine = 1,
  PerTensorSymmetric = 2,
  PerChannelSymmetric = 3,
  PerChannelAffineFloatQparams = 4,
};

}  // namespace opgen
