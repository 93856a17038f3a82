// Scaling.h: values that the meta functions of operators that scale pass to their kernels.
#pragma once

#include <opgen/meta_base.h>

struct Scaling : opgen::MetaBase {
  double factor = 0;
  bool given = false;

 protected:
  void scale(const opgen::Tensor& self, const opgen::Scalar& by) {
    factor = by.to<double>();
    given = maybe_get_output().defined();
    // The strides are not prescribed: a transposed out= tensor keeps its own.
    set_output_raw_strided(0, self.sizes(), {}, self.options());
  }
};
