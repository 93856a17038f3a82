// served_kernels.h: the class templates of structured.h without the operator as a parameter, as in
// the runtime.
#pragma once

#include "../../../../include/opgen/registration/served_kernels.h"
