// storage_bytes.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/tensor/storage_bytes.h"
