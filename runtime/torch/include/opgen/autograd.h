// autograd.h: the entrance to autograd/autograd.h.
#pragma once

#include "opgen/autograd/autograd.h"
