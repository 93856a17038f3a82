// storage_bytes.h: as for the runtime.
#pragma once

#include "../../../include/opgen/storage_bytes.h"
