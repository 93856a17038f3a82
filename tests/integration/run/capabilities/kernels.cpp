// kernels.cpp: the operators, which call the function chosen for this processor.
#include <wide/ops/compiled_for_native.h>
#include <wide/ops/dot_native.h>

#include "dot.h"

OPGEN_DEFINE_DISPATCH(dot_stub);
OPGEN_DEFINE_DISPATCH(name_stub);

OPGEN_KERNEL(dot_cpu)(const Tensor& self, const Tensor& other) {
  float sum = dot_stub(opgen::kCPU, self.data_ptr<float>(), other.data_ptr<float>(), self.numel());
  return opgen::full({}, sum, opgen::kFloat);
}
OPGEN_KERNEL(compiled_for)(const Tensor&) {
  return name_stub(opgen::kCPU);
}
