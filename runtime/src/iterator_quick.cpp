// iterator_quick.cpp: iterations that need not be computed the general way: tensors that are alike,
// few tensors of few dimensions, and tensors with numbers.
#include "opgen/iterator.h"

#include <mutex>
#include <utility>

#include "opgen/copy.h"
#include "opgen/factories.h"
#include "opgen/memory_overlap.h"

namespace opgen {

using detail::IteratorSettings;

namespace {

// Also in dimensions of size one, which decide about the order of the general way's output.
bool is_row_major(const TensorImpl* t) noexcept {
  std::int64_t expected = 1;
  for (std::size_t d = t->sizes().size(); d-- > 0;) {
    if (t->strides()[d] != expected) return false;
    expected *= t->sizes()[d];
  }
  return true;
}

// One dtype, device and shape, and elements in the same order: nothing to promote, to broadcast or
// to sort.
bool is_like(const TensorImpl* t, const TensorImpl* model) noexcept {
  return t->dtype() == model->dtype() && t->device() == model->device() && t->is_contiguous() &&
         t->layout() == kStrided && t->dim() == model->dim() && t->sizes() == model->sizes();
}

// Writing element i after reading elements i is safe: no memory in common, or all of it.
bool is_apart_or_same(const TensorImpl* out, const TensorImpl* in) noexcept {
  return out->storage() != in->storage() ||
         (out->storage_offset() == in->storage_offset() && out->numel() == in->numel());
}

}  // namespace

// What most calls are: one output and inputs of one dtype and shape, contiguous, on the CPU or on
// Meta. Decided on the tensors alone, and nothing written down but the tensors: a tenth of the
// general way's instructions.
bool TensorIteratorBase::simple_set_up(const TensorBase* const* tensors, int n, unsigned owned,
                                       const IteratorSettings& settings) {
  const TensorImpl* model = tensors[1]->unsafeGetTensorImpl();
  Device device = model->device();
  ScalarType dtype = model->dtype();
  if (!tensors[1]->defined() || !(device.is_cpu() || device.is_meta()) || !model->is_contiguous() ||
      model->layout() != kStrided) {
    return false;
  }
  for (int k = 2; k < n; ++k) {
    const TensorImpl* t = tensors[k]->unsafeGetTensorImpl();
    if (t != model && (!tensors[k]->defined() || !is_like(t, model))) return false;
  }
  if (settings.promote_integer_inputs_to_float && isIntegralType(dtype, true)) return false;

  ScalarType out_dtype =
      settings.static_dtype != ScalarType::Undefined ? settings.static_dtype : dtype;
  const TensorBase* out = tensors[0];
  bool allocates = !out->defined();
  if (!allocates) {
    const TensorImpl* given = out->unsafeGetTensorImpl();
    if (out_dtype != dtype || (given != model && !is_like(given, model))) return false;
    for (int k = 1; k < n; ++k) {
      if (!is_apart_or_same(given, tensors[k]->unsafeGetTensorImpl())) return false;
    }
  } else {
    if (settings.has_static_device && settings.static_device != device) return false;
    if (opgen_sink_ != nullptr) {
      if (opgen_sink_->kind() != OutputSink::Kind::Fresh) return false;
      out = &opgen_sink_->set_contiguous(0, model->sizes(), out_dtype, device);
      owned &= ~1u;
      allocates = false;
    }
  }

  is_meta_ = device.is_meta();
  common_dtype_ = dtype;
  common_device_ = device;
  all_ops_same_shape_ = true;
  num_outputs_ = 1;
  simple_[0] = out;
  for (int k = 1; k < n; ++k) simple_[k] = tensors[k];
  simple_count_ = n;
  // What is owned has to be kept somewhere.
  if (OPGEN_UNLIKELY(owned != 0 || allocates)) {
    write_simple_operands(owned);
    if (allocates) {
      OperandInfo& op = operands_[0];
      op.borrowed = nullptr;
      op.owned = detail::empty_contiguous(model->sizes(), out_dtype, device);
      op.data = op.owned.data_ptr();
      op.target_dtype = op.current_dtype = out_dtype;
      if (!shape_.empty()) op.stride_bytes[0] = static_cast<std::int64_t>(op.owned.itemsize());
    }
    simple_count_ = 0;
  }
  return true;
}

void TensorIteratorBase::write_simple_operands(unsigned owned) {
  coalesced_ = true;
  const TensorImpl* model = simple_[1]->unsafeGetTensorImpl();
  bool has_dim = model->dim() != 0;
  if (has_dim) {
    shape_.push_back(model->numel());
    perm_.push_back(0);
  }
  for (int k = 0; k < simple_count_; ++k) {
    OperandInfo& op = operands_.emplace_back();
    if (((owned >> k) & 1) != 0) {
      op.owned = *simple_[k];
    } else {
      op.borrowed = simple_[k];
    }
    const TensorImpl* impl = simple_[k]->unsafeGetTensorImpl();
    op.is_output = k == 0;
    op.has_device = true;
    op.device = common_device_;
    op.target_dtype = impl->dtype();
    op.current_dtype = impl->dtype();
    op.data = impl->data();
    if (has_dim) op.stride_bytes.push_back(static_cast<std::int64_t>(impl->itemsize()));
  }
}

void TensorIteratorBase::settle_simple() {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (!is_simple()) return;
  write_simple_operands(0);
  __atomic_store_n(&simple_count_, 0, __ATOMIC_RELEASE);
}

namespace {

// Shape and strides of a few operands of few dimensions, on the stack: what strided_set_up computes
// with before it writes operands down.
struct SmallPlan {
  static constexpr std::size_t kDims = 5;
  static constexpr std::size_t kOperands = 4;

  std::size_t ndim = 0;
  std::size_t count;  // of operands
  std::size_t first;  // 1 while the output is not there yet, else 0
  std::int64_t shape[kDims];
  std::int64_t strides[kOperands][kDims];  // bytes
  std::uint8_t perm[kDims];

  // The inputs' common shape; false if they do not broadcast.
  bool broadcast(const TensorBase* const* tensors) noexcept {
    for (std::size_t k = 1; k < count; ++k) {
      std::size_t dims = static_cast<std::size_t>(tensors[k]->dim());
      if (dims > ndim) ndim = dims;
    }
    for (std::size_t d = 0; d < ndim; ++d) shape[d] = 1;
    for (std::size_t k = 1; k < count; ++k) {
      IntArrayRef sizes = tensors[k]->sizes();
      std::int64_t* at = shape + (ndim - sizes.size());
      for (std::size_t d = 0; d < sizes.size(); ++d) {
        if (sizes[d] == at[d] || sizes[d] == 1) continue;
        if (at[d] != 1) return false;
        at[d] = sizes[d];
      }
    }
    return true;
  }
  void set_strides(std::size_t k, const TensorImpl* t) noexcept {
    std::size_t added = ndim - t->sizes().size();
    std::int64_t item = static_cast<std::int64_t>(t->itemsize());
    for (std::size_t d = 0; d < added; ++d) strides[k][d] = 0;
    for (std::size_t d = added; d < ndim; ++d) {
      bool broadcasts = t->sizes()[d - added] == 1 && shape[d] != 1;
      strides[k][d] = broadcasts ? 0 : t->strides()[d - added] * item;
    }
  }
  // 1: dimension a is slower than b; -1: faster; 0: no operand can tell.
  [[nodiscard]] int compare(std::size_t a, std::size_t b) const noexcept {
    for (std::size_t k = first; k < count; ++k) {
      std::int64_t stride_a = strides[k][a];
      std::int64_t stride_b = strides[k][b];
      if (stride_a == 0 || stride_b == 0) continue;
      if (stride_a != stride_b) return stride_a < stride_b ? -1 : 1;
      if (shape[a] > shape[b]) return 1;
    }
    return 0;
  }
  // As reorder_dimensions does it. Returns whether the order is row-major.
  bool sort() noexcept {
    for (std::size_t i = 0; i < ndim; ++i) perm[i] = static_cast<std::uint8_t>(ndim - 1 - i);
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
  // Dimensions in their order, fastest first, neighbours that are one in memory joined.
  void coalesce_into(SmallPlan& to) const noexcept {
    to.count = count;
    to.ndim = ndim;
    if (ndim == 0) return;
    std::size_t last = 0;
    std::size_t from = perm[0];
    to.shape[0] = shape[from];
    for (std::size_t k = 0; k < count; ++k) to.strides[k][0] = strides[k][from];
    for (std::size_t d = 1; d < ndim; ++d) {
      from = perm[d];
      if (shape[from] == 1) continue;
      bool is_new = false;
      if (to.shape[last] != 1) {
        for (std::size_t k = 0; k < count; ++k) {
          is_new |= to.shape[last] * to.strides[k][last] != strides[k][from];
        }
      }
      if (!is_new && to.shape[last] != 1) {
        to.shape[last] *= shape[from];
        continue;
      }
      if (is_new) ++last;
      to.shape[last] = shape[from];
      for (std::size_t k = 0; k < count; ++k) to.strides[k][last] = strides[k][from];
    }
    to.ndim = last + 1;
  }
};

}  // namespace

// Broadcast and strided tensors of one dtype on the CPU, few and of few dimensions: the general way
// in a quarter of its instructions, since nothing is promoted, replaced or resized. Whatever is
// unusual, wrong shapes included, is left to the general way.
bool TensorIteratorBase::strided_set_up(ArrayRef<const TensorBase*> tensors,
                                        const IteratorSettings& settings) {
  SmallPlan plan;
  plan.count = tensors.size();
  if (plan.count < 2 || plan.count > SmallPlan::kOperands || opgen_sink_ == nullptr ||
      settings.is_reduction || !settings.resize_outputs || settings.enforce_linear_iteration ||
      settings.has_static_device) {
    return false;
  }
  const TensorImpl* model = tensors[1]->unsafeGetTensorImpl();
  ScalarType dtype = model->dtype();
  auto fits = [dtype](const TensorBase& t) {
    const TensorImpl* impl = t.unsafeGetTensorImpl();
    return t.defined() && impl->dtype() == dtype && impl->device().is_cpu() &&
           impl->layout() == kStrided && impl->numel() != 0 &&
           impl->sizes().size() <= SmallPlan::kDims;
  };
  bool same_shape = true;
  bool same_strides = true;
  for (std::size_t k = 1; k < plan.count; ++k) {
    if (!fits(*tensors[k])) return false;
    const TensorImpl* t = tensors[k]->unsafeGetTensorImpl();
    same_shape = same_shape && t->sizes() == model->sizes();
    same_strides = same_strides && same_shape && t->strides() == model->strides();
  }
  // Strides that the output takes over, and channels last: see fast_set_up.
  if (same_shape && (same_strides || model->dim() == 4)) return false;
  if (settings.promote_integer_inputs_to_float && isIntegralType(dtype, true)) return false;
  if (!plan.broadcast(tensors.data())) return false;

  ScalarType out_dtype =
      settings.static_dtype != ScalarType::Undefined ? settings.static_dtype : dtype;
  const TensorBase* out = tensors[0];
  IntArrayRef shape(plan.shape, plan.ndim);
  bool read_write = false;
  plan.first = out->defined() ? 0 : 1;
  if (out->defined()) {
    if (out_dtype != dtype || !fits(*out) || out->sizes() != shape) return false;
    if (settings.check_mem_overlap && !out->is_contiguous()) {
      detail::assert_no_internal_overlap(*out);
    }
    for (std::size_t k = 1; k < plan.count; ++k) {
      if (out->is_same(*tensors[k])) {
        read_write = true;
      } else if (settings.check_mem_overlap && out->is_alias_of(*tensors[k])) {
        detail::assert_no_partial_overlap(*out, *tensors[k]);
      }
    }
    plan.set_strides(0, out->unsafeGetTensorImpl());
  } else if (opgen_sink_->kind() != OutputSink::Kind::Fresh) {
    return false;
  }
  for (std::size_t k = 1; k < plan.count; ++k) {
    plan.set_strides(k, tensors[k]->unsafeGetTensorImpl());
  }
  bool row_major = plan.sort();
  if (!out->defined()) {
    if (row_major) {
      out = &opgen_sink_->set_contiguous(0, shape, out_dtype, Device(kCPU));
    } else {
      std::int64_t strides[SmallPlan::kDims];
      std::int64_t stride = 1;
      for (std::size_t d = 0; d < plan.ndim; ++d) {
        strides[plan.perm[d]] = stride;
        stride *= plan.shape[plan.perm[d]];
      }
      opgen_sink_->set_output(0, shape, {strides, plan.ndim},
                              TensorOptions().dtype(out_dtype).device(kCPU), false);
      out = &opgen_sink_->output(0);
    }
    plan.set_strides(0, out->unsafeGetTensorImpl());
  }
  for (std::size_t d = 0; d < plan.ndim; ++d) perm_.push_back(plan.perm[d]);
  SmallPlan few;
  plan.coalesce_into(few);

  common_dtype_ = dtype;
  common_device_ = Device(kCPU);
  all_ops_same_shape_ = same_shape;
  coalesced_ = true;
  num_outputs_ = 1;
  shape_.append(few.shape, few.shape + few.ndim);
  for (std::size_t k = 0; k < plan.count; ++k) {
    OperandInfo& op = operands_.emplace_back();
    op.borrowed = k == 0 ? out : tensors[k];
    const TensorImpl* impl = op.borrowed->unsafeGetTensorImpl();
    op.is_output = k == 0;
    op.is_read_write = k == 0 && read_write;
    op.has_device = true;
    op.device = common_device_;
    op.target_dtype = impl->dtype();
    op.current_dtype = impl->dtype();
    op.data = impl->data();
    op.stride_bytes.append(few.strides[k], few.strides[k] + few.ndim);
  }
  return true;
}

// The same with numbers, tensors without dimensions, among the inputs, which do not change the
// dtype: on the CPU.
bool TensorIteratorBase::number_set_up(const IteratorSettings& settings) {
  const TensorImpl* model = nullptr;  // the first input with dimensions
  bool has_numbers = false;
  for (std::size_t k = 1; k < operands_.size(); ++k) {
    const TensorImpl* t = operands_[k].tensor().unsafeGetTensorImpl();
    if (!operands_[k].has_device || !t->device().is_cpu()) return false;
    if (model == nullptr && t->dim() != 0) model = t;
    has_numbers |= t->dim() == 0;
  }
  if (!has_numbers || model == nullptr) return false;
  ScalarType dtype = model->dtype();
  if (settings.promote_integer_inputs_to_float && isIntegralType(dtype, true)) return false;
  if (model->numel() == 0 || !is_row_major(model)) return false;
  bool numbers_differ = false;
  for (std::size_t k = 1; k < operands_.size(); ++k) {
    const TensorImpl* t = operands_[k].tensor().unsafeGetTensorImpl();
    if (t->dim() == 0) {
      numbers_differ |= t->dtype() != dtype;
    } else if (!is_like(t, model)) {
      return false;
    }
  }
  if (numbers_differ) {
    if (!settings.promote_inputs_to_common_dtype) return false;
    detail::ResultTypeState state;
    for (std::size_t k = 1; k < operands_.size(); ++k) {
      state = detail::update_result_type(operands_[k].tensor(), state);
    }
    if (detail::result_type(state) != dtype) return false;
  }

  OperandInfo& out = operands_[0];
  ScalarType out_dtype =
      settings.static_dtype != ScalarType::Undefined ? settings.static_dtype : dtype;
  if (out.has_device) {
    const TensorImpl* given = out.tensor().unsafeGetTensorImpl();
    if (out_dtype != dtype || !is_like(given, model)) return false;
    for (std::size_t k = 1; k < operands_.size(); ++k) {
      if (!is_apart_or_same(given, operands_[k].tensor().unsafeGetTensorImpl())) return false;
    }
  } else {
    if (settings.has_static_device && !settings.static_device.is_cpu()) return false;
    out.will_resize = true;
    out.target_dtype = out_dtype;
    set_iterator_output(0, model->sizes(), {},
                        TensorOptions().dtype(out_dtype).device(kCPU).layout(kStrided));
  }

  common_dtype_ = dtype;
  coalesced_ = true;
  shape_.push_back(model->numel());
  perm_.push_back(0);
  for (OperandInfo& op : operands_) {
    bool is_number = op.tensor().dim() == 0;
    if (is_number && op.current_dtype != dtype) replace_by_temporary(op, dtype);
    const TensorImpl* t = op.tensor().unsafeGetTensorImpl();
    op.data = t->data();
    op.stride_bytes.push_back(is_number ? 0 : static_cast<std::int64_t>(t->itemsize()));
  }
  return true;
}

}  // namespace opgen
