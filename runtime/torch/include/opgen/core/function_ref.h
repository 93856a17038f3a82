// function_ref.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/core/function_ref.h"
