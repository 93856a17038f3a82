// iterator.h: the entrance to iterator/iterator.h.
#pragma once

#include "opgen/iterator/iterator.h"
