// negative_strides.h: the message about negative strides. Internal.
#pragma once

namespace opgen::detail {

// Iterators and copies go forward from the first byte of a tensor, so strides cannot be negative.
// The strides follow this text.
inline constexpr const char* kNoNegativeStrides =
    "a tensor cannot have negative strides, so a view cannot reverse elements (write the reversed "
    "elements into a new tensor): ";

}  // namespace opgen::detail
