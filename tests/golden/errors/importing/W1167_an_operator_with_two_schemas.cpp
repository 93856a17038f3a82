#include <torch/library.h>

TORCH_LIBRARY(demo, m) {
#ifdef WITH_BIAS
  m.def("scale(Tensor x, float by, float bias) -> Tensor");
#else
  m.def("scale(Tensor x, float by) -> Tensor");
#endif
}
