// reduction.h: the values of `int reduction` arguments of losses.
#pragma once

namespace opgen::Reduction {

enum Reduction { None = 0, Mean = 1, Sum = 2 };

}  // namespace opgen::Reduction
