// iterator.h: iterators are ATen's own.
#pragma once

#include <ATen/TensorIterator.h>
