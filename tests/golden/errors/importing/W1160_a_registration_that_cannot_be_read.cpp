#include <torch/library.h>

#define SCALE(m, name) m.def(name)

TORCH_LIBRARY(demo, m) {
  SCALE(m, "scale(Tensor x, float by) -> Tensor");
  m.def("mul(Tensor x, Tensor y) -> Tensor");
}
