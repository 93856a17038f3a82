// iterator.h: entrance to iterator/tensor_iterator.h and iterator/iterator_config.h.
#pragma once

#include "opgen/iterator/iterator_config.h"
#include "opgen/iterator/tensor_iterator.h"
#include "opgen/registration/types.h"
