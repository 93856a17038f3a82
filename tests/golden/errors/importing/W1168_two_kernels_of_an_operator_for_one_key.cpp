#include <torch/library.h>

TORCH_LIBRARY(demo, m) {
  m.def("scale(Tensor x, float by) -> Tensor");
}
TORCH_LIBRARY_IMPL(demo, CPU, m) {
#ifdef FAST
  m.impl("scale", &scale_fast);
#else
  m.impl("scale", &scale_slow);
#endif
}
