// qscheme.h: QScheme, how quantized values map to real ones. The runtime passes it on and does not
// interpret it.
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
