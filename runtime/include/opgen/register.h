// register.h: entrance to the parts of generated registrations.
#pragma once

#include "opgen/registration/apart_out.h"
#include "opgen/registration/backend_select.h"
#include "opgen/registration/kernel_adapters.h"
#include "opgen/registration/kernel_stubs.h"
#include "opgen/registration/meta_kernel.h"
#include "opgen/registration/registration_tables.h"
#include "opgen/registration/served_kernels.h"
#include "opgen/registration/structured_view.h"
#include "opgen/registration/types.h"
