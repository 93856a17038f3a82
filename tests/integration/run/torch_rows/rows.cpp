// The kernels of rows.yaml.
#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <opgen/kernel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <rows/Functions.h>
#include <rows/NativeFunctions.h>

#include "boxes.h"

namespace vision::native {

// The boxes in the order of their scores.
OPGEN_KERNEL(nms_cpu)(const at::Tensor& dets, const at::Tensor& scores, double) {
  TORCH_CHECK(dets.scalar_type() == at::kFloat, "nms: boxes of Float, not ", dets.scalar_type());
  return std::get<1>(scores.sort(0, /*descending=*/true));
}

OPGEN_KERNEL(nms_cuda)(const at::Tensor& dets, const at::Tensor& scores, double threshold) {
  return vision::nms(dets.cpu(), scores.cpu(), threshold).to(dets.device());
}

OPGEN_KERNEL(nms_quantized)(const at::Tensor& dets, const at::Tensor& scores, double threshold) {
  return vision::nms(dets.dequantize(), scores.dequantize(), threshold);
}

OPGEN_KERNEL(nms_autocast)(const at::Tensor& dets, const at::Tensor& scores, double threshold) {
  const c10::DispatchKeySet keys({c10::DispatchKey::AutocastCPU, c10::DispatchKey::AutocastCUDA});
  const c10::impl::ExcludeDispatchKeyGuard guard(keys);
  return vision::nms(dets.to(at::kFloat), scores.to(at::kFloat), threshold);
}

OPGEN_KERNEL(nms_meta)(const at::Tensor& dets, const at::Tensor&, double) {
  return at::empty_symint({dets.sym_size(0)}, dets.options().dtype(at::kLong));
}

OPGEN_KERNEL(square_cpu)(const at::Tensor& x) {
  return x * x;
}

OPGEN_KERNEL(square_meta)(const at::Tensor& x) {
  return at::empty_like(x);
}

struct Square : torch::autograd::Function<Square> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    context->save_for_backward({x});
    return vision::square(x);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    return {2 * context->get_saved_variables()[0] * gradients[0]};
  }
};

OPGEN_KERNEL(square_autograd)(const at::Tensor& x) {
  return Square::apply(x);
}

OPGEN_KERNEL(offset_cpu)(const at::Tensor& x, int64_t by) {
  return x + by;
}

OPGEN_KERNEL(scale_cpu)(const at::Tensor& x, double by) {
  return x * by;
}

OPGEN_KERNEL(area)(const c10::intrusive_ptr<boxes::Box>& box) {
  return static_cast<double>(box->width * box->height);
}

OPGEN_KERNEL(boxed_cpu)
(const at::Tensor& x, int64_t width, std::optional<c10::intrusive_ptr<boxes::Box>> base) {
  const int64_t more = base.has_value() ? (*base)->height : 0;
  return c10::make_intrusive<boxes::Box>(width, x.size(0) + more);
}

OPGEN_KERNEL(areas_cpu)
(const at::Tensor& x, const c10::List<c10::intrusive_ptr<boxes::Box>>& boxes) {
  at::Tensor found = at::zeros({static_cast<int64_t>(boxes.size())}, x.options());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    found[static_cast<int64_t>(i)] = boxes.get(i)->width * boxes.get(i)->height;
  }
  return found;
}

OPGEN_KERNEL(grid_cpu)(int64_t n, std::optional<at::Device>) {
  return at::arange(n);
}

OPGEN_KERNEL(grid_npu)(int64_t, std::optional<at::Device> device) {
  TORCH_CHECK(false, "no grid on ", *device);
}

}  // namespace vision::native

namespace npu::native {

OPGEN_KERNEL(scale_cpu)(const at::Tensor& x, double by) {
  return x * by + 1;
}

OPGEN_KERNEL(scale_npu)(const at::Tensor& x, double by) {
  return x * by + 2;
}

OPGEN_KERNEL(offset_cpu)(at::Tensor& x, int64_t by) {
  x.add_(by);
}

}  // namespace npu::native
