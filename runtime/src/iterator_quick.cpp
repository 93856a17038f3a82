// iterator_quick.cpp: iterations that need not be computed the general way: tensors that are alike,
// few tensors of few dimensions, and tensors with numbers.
#include "opgen/iterator.h"

#include <mutex>
#include <type_traits>
#include <utility>

#include "iterator_alike.h"
#include "opgen/copy.h"
#include "opgen/factories.h"
#include "opgen/memory_overlap.h"
#include "row_major.h"

namespace opgen {

using detail::has_row_major_strides;
using detail::IteratorSettings;

void TensorIteratorBase::make_general() {
  if (general_ == nullptr) general_ = ::new (general_bytes_) General;
}

void TensorIteratorBase::destroy_general() noexcept {
  general_->~General();
}

void TensorIteratorBase::write_few_operands(unsigned owned) {
  make_general();
  coalesced_ = true;
  const bool alike = form_ == Form::Alike;
  const TensorImpl* model = few_[1]->unsafeGetTensorImpl();
  std::size_t ndim = alike ? (model->dim() != 0 ? 1 : 0) : strides_.ndim;
  if (alike) {
    if (ndim != 0) {
      general_->shape.push_back(model->numel());
      general_->perm.push_back(0);
    }
  } else {
    general_->shape.append(strides_.shape, strides_.shape + ndim);
    for (std::size_t d = 0; d < strides_.result_ndim; ++d) {
      general_->perm.push_back(strides_.perm[d]);
    }
  }
  for (int k = 0; k < few_count_; ++k) {
    OperandInfo& op = general_->operands.emplace_back();
    if (((owned >> k) & 1) != 0) {
      op.owned = *few_[k];
    } else {
      op.borrowed = few_[k];
    }
    const TensorImpl* impl = few_[k]->unsafeGetTensorImpl();
    op.is_output = k == 0;
    op.is_read_write = k == 0 && !alike && strides_.is_read_write;
    op.has_device = true;
    op.device = common_device_;
    op.target_dtype = impl->dtype();
    op.current_dtype = impl->dtype();
    op.data = impl->data();
    for (std::size_t d = 0; d < ndim; ++d) {
      op.stride_bytes.push_back(alike ? static_cast<std::int64_t>(impl->itemsize())
                                      : strides_.strides[d][k]);
    }
  }
}

void TensorIteratorBase::settle_few() {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (form_ == Form::General) return;
  if (is_few()) {
    if (opgen_sink_ != nullptr) opgen_sink_->note_set(0);
    write_few_operands(0);
  } else {
    make_general();
  }
  Form general = Form::General;
  __atomic_store(&form_, &general, __ATOMIC_RELEASE);
}

namespace {

using detail::FewOperands;

// What strided_set_up computes with: dimensions as in the result, slowest first. The number of
// operands is known when this is compiled: loops over them are unrolled.
template <std::size_t count>
struct FewStrides {
  std::size_t ndim = 0;
  std::size_t first;  // 1 while the output is not there yet, else 0
  std::int64_t shape[FewOperands::kDims];
  std::int64_t strides[FewOperands::kDims][FewOperands::kOperands];  // bytes

  // Takes one more input's sizes into the common shape; false if they do not broadcast. `same` is
  // no longer true if they are others.
  bool broadcast(IntArrayRef sizes, bool& same) noexcept {
    std::int64_t* at = shape + (ndim - sizes.size());
    same = same && sizes.size() == ndim;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] == at[d]) continue;
      same = false;
      if (sizes[d] == 1) continue;
      if (at[d] != 1) return false;
      at[d] = sizes[d];
    }
    return true;
  }
  void set_strides(std::size_t k, const TensorImpl* t) noexcept {
    const std::int64_t* sizes = t->sizes().data();
    const std::int64_t* steps = t->strides().data();
    std::size_t added = ndim - t->sizes().size();
    std::int64_t item = static_cast<std::int64_t>(t->itemsize());
    for (std::size_t d = 0; d < added; ++d) strides[d][k] = 0;
    for (std::size_t d = added; d < ndim; ++d, ++sizes, ++steps) {
      strides[d][k] = *sizes == shape[d] ? *steps * item : 0;
    }
  }
  // 1: dimension a is slower than b; -1: faster; 0: no operand can tell.
  [[nodiscard]] int compare(std::size_t a, std::size_t b) const noexcept {
    for (std::size_t k = first; k < count; ++k) {
      std::int64_t stride_a = strides[a][k];
      std::int64_t stride_b = strides[b][k];
      if (stride_a == 0 || stride_b == 0) continue;
      if (stride_a != stride_b) return stride_a < stride_b ? -1 : 1;
      if (shape[a] > shape[b]) return 1;
    }
    return 0;
  }
  // As reorder_dimensions does it. Returns whether the order is row-major.
  bool sort(std::uint8_t* perm) const noexcept {
    // The second bound says to g++ what the callers have checked.
    for (std::size_t i = 0; i < ndim && i < FewOperands::kDims; ++i) {
      perm[i] = static_cast<std::uint8_t>(ndim - 1 - i);
    }
    bool row_major = true;
    for (std::size_t i = 1; i < ndim; ++i) {
      std::size_t at = i;
      for (std::size_t j = i; j-- > 0;) {
        int order = compare(perm[j], perm[at]);
        if (order > 0) {
          std::swap(perm[j], perm[at]);
          at = j;
          row_major = false;
        } else if (order < 0) {
          break;
        }
      }
    }
    return row_major;
  }
  void take_row(FewOperands& to, std::size_t row, std::size_t from) const noexcept {
    to.shape[row] = shape[from];
    for (std::size_t k = 0; k < count; ++k) to.strides[row][k] = strides[from][k];
  }
  // Dimensions in their order, fastest first, neighbours that are one in memory joined.
  void coalesce_into(FewOperands& to) const noexcept {
    to.ndim = to.result_ndim = static_cast<std::uint8_t>(ndim);
    if (ndim == 0) return;
    std::size_t last = 0;
    take_row(to, 0, to.perm[0]);
    for (std::size_t d = 1; d < ndim; ++d) {
      std::size_t from = to.perm[d];
      if (shape[from] == 1) continue;
      if (to.shape[last] == 1) {
        take_row(to, last, from);
        continue;
      }
      bool is_new = false;
      for (std::size_t k = 0; k < count; ++k) {
        is_new |= to.shape[last] * to.strides[last][k] != strides[from][k];
      }
      if (is_new) {
        take_row(to, ++last, from);
      } else {
        to.shape[last] *= shape[from];
      }
    }
    to.ndim = last + 1;
  }
};

struct FewResult {
  ScalarType dtype;
  Device device;
  bool same_shape;  // all inputs
  const TensorBase* out;
};

// What strided_set_up does for `count` operands: `to` and `result` are its answer if it is true.
template <std::size_t count>
bool set_up_few(const TensorBase* const* tensors, const IteratorSettings& settings,
                OutputSink& sink, FewOperands& to, FewResult& result) {
  FewStrides<count> plan;
  const TensorImpl* impls[FewOperands::kOperands];
  for (std::size_t k = 0; k < count; ++k) impls[k] = tensors[k]->unsafeGetTensorImpl();
  const TensorImpl* model = impls[1];
  ScalarType dtype = model->dtype();
  // An undefined tensor has no dtype that fits.
  const Device device = model->device();
  auto fits = [dtype, device](const TensorImpl* t) {
    return t->dtype() == dtype && t->device() == device && t->layout() == kStrided &&
           t->numel() != 0 && t->sizes().size() <= FewOperands::kDims;
  };
  if (dtype == ScalarType::Undefined || !(device.is_cpu() || device.is_meta())) return false;
  std::size_t first_of_most = 1;
  for (std::size_t k = 1; k < count; ++k) {
    if (!fits(impls[k])) return false;
    if (impls[k]->sizes().size() > plan.ndim) {
      plan.ndim = impls[k]->sizes().size();
      first_of_most = k;
    }
  }
  if (settings.promote_integer_inputs_to_float && isIntegralType(dtype, true)) return false;
  if (plan.ndim == 0 && model->is_wrapped_number()) return false;  // numbers alone, perhaps
  const std::int64_t* largest = impls[first_of_most]->sizes().data();
  for (std::size_t d = 0; d < plan.ndim; ++d) plan.shape[d] = largest[d];
  bool same_shape = true;
  for (std::size_t k = 1; k < count; ++k) {
    if (k != first_of_most && !plan.broadcast(impls[k]->sizes(), same_shape)) return false;
  }
  IntArrayRef shape(plan.shape, plan.ndim);
  // Strides that the output takes over, and channels last: see fast_set_up.
  if (same_shape) {
    bool same_strides = true;
    for (std::size_t k = 2; k < count; ++k) {
      same_strides = same_strides && impls[k]->strides() == model->strides();
    }
    if (same_strides || plan.ndim == 4) return false;
  }

  ScalarType out_dtype =
      settings.static_dtype != ScalarType::Undefined ? settings.static_dtype : dtype;
  const TensorBase* out = tensors[0];
  bool allocates = !out->defined();
  to.is_read_write = false;
  plan.first = allocates ? 1 : 0;
  if (!allocates) {
    if (out_dtype != dtype || !fits(impls[0]) || impls[0]->sizes() != shape) return false;
    if (settings.check_mem_overlap && !impls[0]->is_contiguous()) {
      detail::assert_no_internal_overlap(*out);
    }
    for (std::size_t k = 1; k < count; ++k) {
      if (impls[0] == impls[k]) {
        to.is_read_write = true;
      } else if (settings.check_mem_overlap && impls[0]->storage() == impls[k]->storage()) {
        detail::assert_no_partial_overlap(*out, *tensors[k]);
      }
    }
    plan.set_strides(0, impls[0]);
  } else if (sink.kind() != OutputSink::Kind::Fresh) {
    return false;
  }
  for (std::size_t k = 1; k < count; ++k) plan.set_strides(k, impls[k]);
  bool row_major = plan.sort(to.perm);
  if (allocates) {
    if (row_major) {
      out = &sink.set_contiguous(0, shape, out_dtype, device);
    } else {
      std::int64_t steps[FewOperands::kDims];
      std::int64_t step = 1;
      for (std::size_t d = 0; d < plan.ndim; ++d) {
        steps[to.perm[d]] = step;
        step *= plan.shape[to.perm[d]];
      }
      sink.set_output(0, shape, {steps, plan.ndim}, TensorOptions().dtype(out_dtype).device(device),
                      false);
      out = &sink.output(0);
    }
    plan.set_strides(0, out->unsafeGetTensorImpl());
  }
  plan.coalesce_into(to);
  result = {dtype, device, same_shape, out};
  return true;
}

}  // namespace

// Broadcast and strided tensors of one dtype on the CPU or on Meta, few and of few dimensions: the
// general way in a quarter of its instructions, since nothing is promoted, replaced or resized.
// Whatever is unusual, wrong shapes included, is left to the general way.
bool TensorIteratorBase::strided_set_up(ArrayRef<const TensorBase*> tensors,
                                        const IteratorSettings& settings) {
  if (opgen_sink_ == nullptr || settings.is_reduction || !settings.resize_outputs ||
      settings.enforce_linear_iteration || settings.has_static_device) {
    return false;
  }
  FewResult result;
  auto set_up = [&](auto count) {
    return set_up_few<decltype(count)::value>(tensors.data(), settings, *opgen_sink_, strides_,
                                              result);
  };
  bool done = tensors.size() == 3   ? set_up(std::integral_constant<std::size_t, 3>{})
              : tensors.size() == 2 ? set_up(std::integral_constant<std::size_t, 2>{})
              : tensors.size() == 4 ? set_up(std::integral_constant<std::size_t, 4>{})
                                    : false;
  if (!done) return false;

  common_dtype_ = result.dtype;
  common_device_ = result.device;
  is_meta_ = result.device.is_meta();
  all_ops_same_shape_ = result.same_shape;
  coalesced_ = true;
  num_outputs_ = 1;
  few_[0] = result.out;
  for (std::size_t k = 1; k < tensors.size(); ++k) few_[k] = tensors[k];
  few_count_ = static_cast<std::int32_t>(tensors.size());
  form_ = Form::Few;
  return true;
}

// The same with numbers, tensors without dimensions, among the inputs, which do not change the
// dtype: on the CPU.
bool TensorIteratorBase::number_set_up(const IteratorSettings& settings) {
  const TensorImpl* model = nullptr;  // the first input with dimensions
  bool has_numbers = false;
  for (std::size_t k = 1; k < general_->operands.size(); ++k) {
    const TensorImpl* t = general_->operands[k].tensor().unsafeGetTensorImpl();
    if (!general_->operands[k].has_device || !t->device().is_cpu()) return false;
    if (model == nullptr && t->dim() != 0) model = t;
    has_numbers |= t->dim() == 0;
  }
  if (!has_numbers || model == nullptr) return false;
  ScalarType dtype = model->dtype();
  if (settings.promote_integer_inputs_to_float && isIntegralType(dtype, true)) return false;
  if (model->numel() == 0 || !has_row_major_strides(model)) return false;
  bool numbers_differ = false;
  for (std::size_t k = 1; k < general_->operands.size(); ++k) {
    const TensorImpl* t = general_->operands[k].tensor().unsafeGetTensorImpl();
    if (t->dim() == 0) {
      numbers_differ |= t->dtype() != dtype;
    } else if (!detail::is_like(t, model)) {
      return false;
    }
  }
  if (numbers_differ) {
    if (!settings.promote_inputs_to_common_dtype) return false;
    detail::ResultTypeState state;
    for (std::size_t k = 1; k < general_->operands.size(); ++k) {
      state = detail::update_result_type(general_->operands[k].tensor(), state);
    }
    if (detail::result_type(state) != dtype) return false;
  }

  OperandInfo& out = general_->operands[0];
  ScalarType out_dtype =
      settings.static_dtype != ScalarType::Undefined ? settings.static_dtype : dtype;
  if (out.has_device) {
    const TensorImpl* given = out.tensor().unsafeGetTensorImpl();
    if (out_dtype != dtype || !detail::is_like(given, model)) return false;
    for (std::size_t k = 1; k < general_->operands.size(); ++k) {
      if (!detail::is_apart_or_same(given, general_->operands[k].tensor().unsafeGetTensorImpl()))
        return false;
    }
    if (opgen_sink_ != nullptr) opgen_sink_->note_set(0);
  } else {
    if (settings.has_static_device && !settings.static_device.is_cpu()) return false;
    out.will_resize = true;
    out.target_dtype = out_dtype;
    set_iterator_output(0, model->sizes(), {},
                        TensorOptions().dtype(out_dtype).device(kCPU).layout(kStrided));
  }

  common_dtype_ = dtype;
  coalesced_ = true;
  general_->shape.push_back(model->numel());
  general_->perm.push_back(0);
  for (OperandInfo& op : general_->operands) {
    bool is_number = op.tensor().dim() == 0;
    if (is_number && op.current_dtype != dtype) replace_by_temporary(op, dtype);
    const TensorImpl* t = op.tensor().unsafeGetTensorImpl();
    op.data = t->data();
    op.stride_bytes.push_back(is_number ? 0 : static_cast<std::int64_t>(t->itemsize()));
  }
  return true;
}

}  // namespace opgen
