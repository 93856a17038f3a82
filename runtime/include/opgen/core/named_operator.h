// named_operator.h: whether the text of an error names its operator, so that no error does twice.
#pragma once

#include <cstddef>
#include <string_view>

#include "opgen/core/macros.h"

namespace opgen::detail {

// `place` is a line of an operator, such as "\n  in photo::blur.out(Tensor image, ...)".

// Returns how many characters of `text` are the operator's name and a colon, such as "blur.out: ",
// "blur: " or "photo::blur.out: "; 0 if it does not begin so.
OPGEN_API std::size_t length_of_operator_before_colon(std::string_view text,
                                                      std::string_view place) noexcept;

// Returns whether `text` is a sentence that begins with the full name, such as "photo::blur has no
// CPU kernel".
OPGEN_API bool begins_with_operator(std::string_view text, std::string_view place) noexcept;

}  // namespace opgen::detail
