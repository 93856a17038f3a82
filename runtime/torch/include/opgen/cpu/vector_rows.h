// vector_rows.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/cpu/vector_rows.h"
