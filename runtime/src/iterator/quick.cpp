// quick.cpp: set-ups that avoid the general one, for few tensors with few dimensions, and for
// tensors with numbers. set_up_contiguous, the quickest, is in builders.cpp.
#include <type_traits>
#include <utility>

#include "iterator/alike.h"
#include "iterator/builder.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/factories.h"
#include "opgen/tensor/memory_overlap.h"
#include "tensor/row_major.h"

namespace opgen::detail {

namespace {

// The state of set_up_small_strided. Dimensions are in the order of the result, slowest first. The
// number of operands is a template parameter, so that loops over them are unrolled.
template <std::size_t count>
struct SmallStridesPlan {
  std::size_t ndim = 0;
  std::size_t first;  // 1 until the output is allocated, then 0
  std::int64_t shape[SmallStrides::kDims];
  std::int64_t strides[SmallStrides::kDims][SmallStrides::kOperands];  // bytes

  // Broadcasts the common shape with the sizes of another input. Returns false if they do not
  // broadcast. Sets `same` to false if the sizes differ.
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
  // Returns 1 if dimension a is slower than b, -1 if it is faster, and 0 if the operands do not
  // decide.
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
  // Sorts in the same way as reorder_dimensions. Returns whether the order is row-major.
  bool sort(std::uint8_t* perm) const noexcept {
    // The second bound is for g++: the callers have checked it.
    for (std::size_t i = 0; i < ndim && i < SmallStrides::kDims; ++i) {
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
  void take_row(SmallStrides& to, std::size_t row, std::size_t from) const noexcept {
    to.shape[row] = shape[from];
    for (std::size_t k = 0; k < count; ++k) to.strides[row][k] = strides[from][k];
  }
  // Writes the sorted dimensions, fastest first, and coalesces adjacent ones.
  void coalesce_into(SmallStrides& to) const noexcept {
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

struct SmallStridedResult {
  ScalarType dtype;
  Device device;
  bool same_shape;  // whether all inputs have the same shape
  const TensorBase* out;
};

// Does set_up_small_strided for `count` operands. Sets `to` and `result` if it returns true.
template <std::size_t count>
bool set_up_operands(const TensorBase* const* tensors, const IteratorSettings& settings,
                     OutputSink& sink, SmallStrides& to, SmallStridedResult& result) {
  SmallStridesPlan<count> plan;
  const TensorImpl* impls[SmallStrides::kOperands];
  for (std::size_t k = 0; k < count; ++k) impls[k] = tensors[k]->unsafeGetTensorImpl();
  const TensorImpl* model = impls[1];
  ScalarType dtype = model->dtype();
  // This check also rejects undefined tensors, whose dtype never matches.
  const Device device = model->device();
  auto fits = [dtype, device](const TensorImpl* t) {
    return t->dtype() == dtype && t->device() == device && t->layout() == kStrided &&
           t->numel() != 0 && t->sizes().size() <= SmallStrides::kDims;
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
  if (plan.ndim == 0 && model->is_wrapped_number()) return false;  // all operands may be numbers
  const std::int64_t* largest = impls[first_of_most]->sizes().data();
  for (std::size_t d = 0; d < plan.ndim; ++d) plan.shape[d] = largest[d];
  bool same_shape = true;
  for (std::size_t k = 1; k < count; ++k) {
    if (k != first_of_most && !plan.broadcast(impls[k]->sizes(), same_shape)) return false;
  }
  IntArrayRef shape(plan.shape, plan.ndim);
  // set_up_one_dimension handles channels last and other strides that the output inherits.
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
      assert_no_internal_overlap(*out);
    }
    for (std::size_t k = 1; k < count; ++k) {
      if (impls[0] == impls[k]) {
        to.is_read_write = true;
      } else if (settings.check_mem_overlap && impls[0]->storage() == impls[k]->storage()) {
        assert_no_partial_overlap(*out, *tensors[k]);
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
      std::int64_t steps[SmallStrides::kDims];
      std::int64_t step = 1;
      for (std::size_t d = 0; d < plan.ndim; ++d) {
        steps[to.perm[d]] = step;
        step *= plan.shape[to.perm[d]];
      }
      sink.set_output(0, shape, {steps, plan.ndim}, TensorOptions(device).dtype(out_dtype), false);
      out = &sink.output(0);
    }
    plan.set_strides(0, out->unsafeGetTensorImpl());
  }
  plan.coalesce_into(to);
  result = {dtype, device, same_shape, out};
  return true;
}

}  // namespace

// Handles a few broadcast or strided tensors with the same dtype and few dimensions, on the CPU or
// on Meta, if nothing must be promoted, replaced or resized. Takes a quarter of the general
// set-up's instructions. Returns false in all other cases, including invalid shapes.
bool IteratorBuilder::set_up_small_strided(TensorIteratorBase& iter,
                                           ArrayRef<const TensorBase*> tensors,
                                           const IteratorSettings& settings) {
  IteratorState& state = iter.state_;
  OutputSink* sink = iter.opgen_sink_;
  if (sink == nullptr || settings.is_reduction || !settings.resize_outputs ||
      settings.enforce_linear_iteration || settings.has_static_device) {
    return false;
  }
  SmallStridedResult result;
  auto set_up = [&](auto count) {
    return set_up_operands<decltype(count)::value>(tensors.data(), settings, *sink, state.small,
                                                   result);
  };
  bool done = tensors.size() == 3   ? set_up(std::integral_constant<std::size_t, 3>{})
              : tensors.size() == 2 ? set_up(std::integral_constant<std::size_t, 2>{})
              : tensors.size() == 4 ? set_up(std::integral_constant<std::size_t, 4>{})
                                    : false;
  if (!done) return false;

  state.common_dtype = result.dtype;
  state.common_device = result.device;
  state.is_meta = result.device.is_meta();
  state.all_ops_same_shape = result.same_shape;
  state.num_outputs = 1;
  state.quick[0] = result.out;
  for (std::size_t k = 1; k < tensors.size(); ++k) state.quick[k] = tensors[k];
  state.quick_count = static_cast<std::int32_t>(tensors.size());
  state.form.store_release(IteratorState::Form::SmallStrided);
  return true;
}

// Handles inputs on the CPU that include zero-dim tensors (numbers) which do not change the dtype.
bool IteratorBuilder::set_up_with_numbers() {
  const TensorImpl* model = nullptr;  // the first input with dimensions
  bool has_numbers = false;
  for (std::size_t k = 1; k < state_.general->operands.size(); ++k) {
    const TensorImpl* t = state_.general->operands[k].tensor().unsafeGetTensorImpl();
    if (!state_.general->operands[k].has_device || !t->device().is_cpu()) return false;
    if (model == nullptr && t->dim() != 0) model = t;
    has_numbers |= t->dim() == 0;
  }
  if (!has_numbers || model == nullptr) return false;
  ScalarType dtype = model->dtype();
  if (settings_.promote_integer_inputs_to_float && isIntegralType(dtype, true)) return false;
  if (model->numel() == 0 || !has_row_major_strides(model)) return false;
  bool numbers_differ = false;
  for (std::size_t k = 1; k < state_.general->operands.size(); ++k) {
    const TensorImpl* t = state_.general->operands[k].tensor().unsafeGetTensorImpl();
    if (t->dim() == 0) {
      numbers_differ |= t->dtype() != dtype;
    } else if (!is_like(t, model)) {
      return false;
    }
  }
  if (numbers_differ) {
    if (!settings_.promote_inputs_to_common_dtype) return false;
    ResultTypeState state;
    for (std::size_t k = 1; k < state_.general->operands.size(); ++k) {
      state = update_result_type(state_.general->operands[k].tensor(), state);
    }
    if (result_type(state) != dtype) return false;
  }

  OperandInfo& out = state_.general->operands[0];
  ScalarType out_dtype =
      settings_.static_dtype != ScalarType::Undefined ? settings_.static_dtype : dtype;
  if (out.has_device) {
    const TensorImpl* given = out.tensor().unsafeGetTensorImpl();
    if (out_dtype != dtype || !is_like(given, model)) return false;
    for (std::size_t k = 1; k < state_.general->operands.size(); ++k) {
      if (!is_apart_or_same(given, state_.general->operands[k].tensor().unsafeGetTensorImpl()))
        return false;
    }
    if (sink_ != nullptr) sink_->note_set(0);
  } else {
    if (settings_.has_static_device && !settings_.static_device.is_cpu()) return false;
    out.will_resize = true;
    out.target_dtype = out_dtype;
    set_output(0, model->sizes(), {}, TensorOptions(kCPU).dtype(out_dtype).layout(kStrided));
  }

  state_.common_dtype = dtype;
  state_.general->shape.push_back(model->numel());
  state_.general->perm.push_back(0);
  for (OperandInfo& op : state_.general->operands) {
    bool is_number = op.tensor().dim() == 0;
    if (is_number && op.current_dtype != dtype) replace_by_temporary(op, dtype);
    const TensorImpl* t = op.tensor().unsafeGetTensorImpl();
    op.data = t->data();
    op.stride_bytes.push_back(is_number ? 0 : static_cast<std::int64_t>(t->itemsize()));
  }
  return true;
}

}  // namespace opgen::detail
