// iterator.h: TensorIterator is ATen's own.
#pragma once

#include <ATen/TensorIterator.h>
