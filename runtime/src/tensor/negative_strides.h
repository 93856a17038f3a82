// negative_strides.h: why no tensor has a stride below zero, for messages. Internal.
#pragma once

namespace opgen::detail {

// Iterators and copies go forward from the first byte of a tensor. The strides follow this text.
inline constexpr const char* kNoNegativeStrides =
    "a tensor cannot have strides below zero, so no view runs backwards (write the reversed "
    "elements into a new tensor): ";

}  // namespace opgen::detail
