// autograd.cpp: operators that change what a tensor is, which no formula describes.
#include <opgen/kernel.h>

#include <aten/ops/resize.h>
#include <aten/ops/resize_as.h>

#include <opgen/autograd.h>
#include <opgen/autograd/forward.h>
#include <opgen/library.h>

using namespace opgen::types;

namespace {

// A tensor with a history has the sizes that its gradient must have.
void check_resizable(const Tensor& self) {
  OPGEN_CHECK(!opgen::GradMode::is_enabled() || !opgen::autograd::requires_grad(self),
              "cannot resize variables that require grad");
  OPGEN_CHECK(!opgen::autograd::has_tangent(self),
              "cannot resize variables that has a forward grad");
}
const Tensor& resize_(const Tensor& self, SymIntArrayRef size,
                      std::optional<MemoryFormat> memory_format) {
  check_resizable(self);
  opgen::AutoDispatchBelowAutograd below;
  return at::_ops::resize_::call(self, size, memory_format);
}
const Tensor& resize_as_(const Tensor& self, const Tensor& the_template,
                         std::optional<MemoryFormat> memory_format) {
  check_resizable(self);
  opgen::AutoDispatchBelowAutograd below;
  return at::_ops::resize_as_::call(self, the_template, memory_format);
}

}  // namespace

OPGEN_LIBRARY_IMPL(aten, Autograd, m) {
  // The result of detach() has no history, and it is no view that would get its base's.
  m.impl("detach", opgen::CppFunction::makeFallthrough());
  m.impl("detach_", opgen::CppFunction::makeFallthrough());
  m.impl("resize_", opgen::CppFunction(&resize_).only_for_tracked());
  m.impl("resize_as_", opgen::CppFunction(&resize_as_).only_for_tracked());
}
OPGEN_LIBRARY_IMPL(aten, ADInplaceOrView, m) {
  m.impl("detach", opgen::CppFunction::makeFallthrough());
}
