// iterator.cpp: building an iteration: shape, types, outputs, few dimensions; and walking it.
#include "opgen/iterator.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "opgen/copy.h"
#include "opgen/factories.h"
#include "opgen/memory_overlap.h"
#include "opgen/resize.h"
#include "opgen/shape_utils.h"

namespace opgen {

namespace {

using detail::IteratorSettings;

constexpr IteratorSettings kBinary = {
    .allow_cpu_scalars = true,
    .check_all_same_dtype = false,
    .enforce_safe_casting_to_output = true,
    .promote_inputs_to_common_dtype = true,
    .cast_common_dtype_to_outputs = true,
};
constexpr IteratorSettings kBinaryFloat = {
    .allow_cpu_scalars = true,
    .check_all_same_dtype = false,
    .enforce_safe_casting_to_output = true,
    .promote_inputs_to_common_dtype = true,
    .promote_integer_inputs_to_float = true,
    .cast_common_dtype_to_outputs = true,
};
constexpr IteratorSettings kComparison = {
    .allow_cpu_scalars = true,
    .check_all_same_dtype = false,
    .promote_inputs_to_common_dtype = true,
    .compute_outputs_as_static_dtype = true,
    .static_dtype = kBool,
};
constexpr IteratorSettings kUnary = {};
constexpr IteratorSettings kUnaryFloat = {
    .check_all_same_dtype = false,
    .enforce_safe_casting_to_output = true,
    .promote_inputs_to_common_dtype = true,
    .promote_integer_inputs_to_float = true,
    .cast_common_dtype_to_outputs = true,
};
constexpr IteratorSettings kUnaryBoolean = {
    .check_all_same_dtype = false,
    .compute_outputs_as_static_dtype = true,
    .static_dtype = kBool,
};
constexpr IteratorSettings kTernary = {
    .check_all_same_dtype = false,
    .enforce_safe_casting_to_output = true,
    .promote_inputs_to_common_dtype = true,
    .cast_common_dtype_to_outputs = true,
};
constexpr IteratorSettings kNullary = {
    .resize_outputs = false,
    .check_all_same_dtype = false,
};
constexpr IteratorSettings kReduction = {
    .check_mem_overlap = false,
    .is_reduction = true,
    .resize_outputs = false,
    .check_all_same_dtype = false,
    .promote_inputs_to_common_dtype = true,
};

constexpr unsigned kAllOwned = ~0u;
constexpr unsigned kAllBorrowed = 0;

std::int64_t product(IntArrayRef sizes) noexcept {
  std::int64_t n = 1;
  for (std::int64_t size : sizes) n *= size;
  return n;
}

}  // namespace

// -- operands

OperandInfo& TensorIteratorBase::add_operand(const TensorBase& tensor, bool owned, bool output) {
  OperandInfo& op = operands_.emplace_back();
  if (owned) {
    op.owned = tensor;
  } else {
    op.borrowed = &tensor;
  }
  op.is_output = output;
  if (output) ++num_outputs_;
  if (tensor.defined()) {
    const TensorImpl* impl = tensor.unsafeGetTensorImpl();
    op.device = impl->device();
    op.has_device = true;
    op.target_dtype = impl->dtype();
    op.current_dtype = op.target_dtype;
    is_meta_ |= op.device.is_meta();
  }
  return op;
}

void TensorIteratorBase::build(TensorIteratorConfig& config) {
  SmallVector<const TensorBase*, 8> tensors;
  unsigned owned = 0;
  for (std::size_t i = 0; i < config.operands_.size(); ++i) {
    const TensorIteratorConfig::Operand& op = config.operands_[i];
    bool is_owned = op.borrowed == nullptr;
    tensors.push_back(is_owned ? &op.owned : op.borrowed);
    if (is_owned) owned |= 1u << i;
  }
  int n = static_cast<int>(tensors.size());
  bool may_be_simple = config.num_outputs_ == 1 && n > 1 && n <= 4 &&
                       !config.static_shape_.has_value() && !config.settings_.is_reduction;
  if (may_be_simple && simple_set_up(tensors.data(), n, owned, config.settings_)) return;
  build_operands(tensors, config.num_outputs_, owned, config.settings_,
                 config.static_shape_.has_value() ? &*config.static_shape_ : nullptr);
}

#define OPGEN_BUILD_2(name, settings, owned)                                  \
  void TensorIteratorBase::name(const TensorBase& out, const TensorBase& a) { \
    const TensorBase* tensors[] = {&out, &a};                                 \
    if (simple_set_up(tensors, 2, owned, settings)) return;                   \
    build_operands(tensors, 1, owned, settings, nullptr);                     \
  }
#define OPGEN_BUILD_3(name, settings, owned)                                                       \
  void TensorIteratorBase::name(const TensorBase& out, const TensorBase& a, const TensorBase& b) { \
    const TensorBase* tensors[] = {&out, &a, &b};                                                  \
    if (simple_set_up(tensors, 3, owned, settings)) return;                                        \
    build_operands(tensors, 1, owned, settings, nullptr);                                          \
  }
OPGEN_BUILD_3(build_binary_op, kBinary, kAllOwned)
OPGEN_BUILD_3(build_borrowing_binary_op, kBinary, kAllBorrowed)
OPGEN_BUILD_3(build_borrowing_except_last_argument_binary_op, kBinary, 1 << 2)
OPGEN_BUILD_3(build_binary_float_op, kBinaryFloat, kAllOwned)
OPGEN_BUILD_3(build_borrowing_binary_float_op, kBinaryFloat, kAllBorrowed)
OPGEN_BUILD_3(build_comparison_op, kComparison, kAllOwned)
OPGEN_BUILD_3(build_borrowing_comparison_op, kComparison, kAllBorrowed)
OPGEN_BUILD_3(build_borrowing_except_last_argument_comparison_op, kComparison, 1 << 2)
OPGEN_BUILD_2(build_unary_op, kUnary, kAllOwned)
OPGEN_BUILD_2(build_borrowing_unary_op, kUnary, kAllBorrowed)
OPGEN_BUILD_2(build_unary_float_op, kUnaryFloat, kAllOwned)
OPGEN_BUILD_2(build_borrowing_unary_float_op, kUnaryFloat, kAllBorrowed)
OPGEN_BUILD_2(build_unary_force_boolean_op, kUnaryBoolean, kAllOwned)
OPGEN_BUILD_2(build_borrowing_unary_force_boolean_op, kUnaryBoolean, kAllBorrowed)
#undef OPGEN_BUILD_2
#undef OPGEN_BUILD_3

void TensorIteratorBase::build_ternary_op(const TensorBase& out, const TensorBase& a,
                                          const TensorBase& b, const TensorBase& c) {
  const TensorBase* tensors[] = {&out, &a, &b, &c};
  if (simple_set_up(tensors, 4, kAllOwned, kTernary)) return;
  build_operands(tensors, 1, kAllOwned, kTernary, nullptr);
}

// -- building, one step after the other

void TensorIteratorBase::build_operands(ArrayRef<const TensorBase*> tensors, int noutputs,
                                        unsigned owned, const IteratorSettings& settings,
                                        const DimVector* static_shape) {
  if (noutputs == 1 && owned == 0 && static_shape == nullptr && strided_set_up(tensors, settings)) {
    return;
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    add_operand(*tensors[i], ((owned >> (i < 31 ? i : 31)) & 1) != 0,
                static_cast<int>(i) < noutputs);
  }
  is_reduction_ = settings.is_reduction;
  if (noutputs == 1 && static_shape == nullptr && !is_reduction_ && number_set_up(settings)) return;
  mark_outputs();
  if (settings.check_mem_overlap) check_mem_overlaps();
  compute_shape(settings, static_shape);
  mark_resize_outputs(settings, static_shape);
  compute_types(settings);
  if (!fast_set_up(settings)) {
    compute_strides(static_shape);
    reorder_dimensions(settings.enforce_linear_iteration);
    allocate_or_resize_outputs();
    if (!is_meta_) coalesce_dimensions();
  }
  if (is_meta_) return;
  for (OperandInfo& op : operands_) op.data = op.tensor().unsafeGetTensorImpl()->data();
}

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

void TensorIteratorBase::mark_outputs() {
  for (int i = 0; i < num_outputs_; ++i) {
    const TensorBase& out = tensor(i);
    if (!out.defined()) continue;
    for (int j = num_outputs_; j < ntensors(); ++j) {
      if (out.is_same(tensor(j))) operands_[std::size_t(i)].is_read_write = true;
    }
  }
}

void TensorIteratorBase::check_mem_overlaps() const {
  for (int i = 0; i < num_outputs_; ++i) {
    const TensorBase& out = tensor(i);
    if (!out.defined()) continue;
    detail::assert_no_internal_overlap(out);
    for (int j = num_outputs_; j < ntensors(); ++j) {
      if (!out.is_same(tensor(j))) detail::assert_no_partial_overlap(out, tensor(j));
    }
  }
}

void TensorIteratorBase::compute_shape(const IteratorSettings& settings,
                                       const DimVector* static_shape) {
  if (static_shape != nullptr) {
    shape_ = *static_shape;
    return;
  }
  all_ops_same_shape_ = true;
  bool first = true;
  for (const OperandInfo& op : operands_) {
    const TensorBase& t = op.tensor();
    if (!t.defined()) continue;
    // An output that may be resized has no say, unless it is also an input.
    if (op.is_output && settings.resize_outputs) continue;
    IntArrayRef sizes = t.sizes();
    if (first) {
      shape_ = sizes;
      first = false;
    } else if (sizes != IntArrayRef(shape_)) {
      all_ops_same_shape_ = false;
      shape_ = detail::infer_size(shape_, sizes);
    }
  }
}

void TensorIteratorBase::mark_resize_outputs(const IteratorSettings& settings,
                                             const DimVector* static_shape) {
  if (static_shape != nullptr) return;
  for (int i = 0; i < num_outputs_; ++i) {
    OperandInfo& op = operands_[std::size_t(i)];
    const TensorBase& out = op.tensor();
    if (!out.defined()) {
      op.will_resize = true;
    } else if (out.sizes() != IntArrayRef(shape_)) {
      if (settings.resize_outputs && !op.is_read_write) {
        op.will_resize = true;
        continue;
      }
      OPGEN_CHECK(is_reduction_, "the output has sizes ", out.sizes(),
                  ", but the operands broadcast to ", shape_);
    }
  }
}

void TensorIteratorBase::compute_types(const IteratorSettings& settings) {
  common_dtype_ = ScalarType::Undefined;
  common_device_ = Device(kCPU);
  ScalarType output_dtype = ScalarType::Undefined;
  bool inputs_differ = false;
  bool outputs_differ = false;
  bool has_undefined_outputs = false;

  for (OperandInfo& op : operands_) {
    if (!op.is_type_defined()) {
      OPGEN_CHECK(op.is_output, "an input tensor is undefined");
      op.target_dtype = settings.static_dtype;
      if (settings.has_static_device) {
        op.device = settings.static_device;
        op.has_device = true;
      }
      has_undefined_outputs |= !op.is_type_defined() || !op.has_device;
    }
    if (!op.tensor().defined()) continue;
    if (common_device_.is_cpu() && !op.device.is_cpu()) common_device_ = op.device;
    ScalarType& dtype = op.is_output ? output_dtype : common_dtype_;
    if (dtype == ScalarType::Undefined) {
      dtype = op.target_dtype;
    } else if (dtype != op.target_dtype) {
      (op.is_output ? outputs_differ : inputs_differ) = true;
    }
  }
  if (settings.has_static_device && common_device_.is_cpu())
    common_device_ = settings.static_device;

  if (settings.check_all_same_dtype &&
      (inputs_differ || outputs_differ ||
       (common_dtype_ != output_dtype && output_dtype != ScalarType::Undefined))) {
    for (const OperandInfo& op : operands_) {
      OPGEN_CHECK(!op.tensor().defined() || op.target_dtype == common_dtype_,
                  "expected tensors of one dtype, ", common_dtype_, ", but ",
                  op.is_output ? "the output" : "an input", " has ", op.target_dtype);
    }
  }

  bool nothing_to_do =
      !has_undefined_outputs && !settings.check_all_same_device &&
      !settings.promote_inputs_to_common_dtype && !settings.cast_common_dtype_to_outputs &&
      !settings.compute_outputs_as_static_dtype && !settings.enforce_safe_casting_to_output;
  if (nothing_to_do) {
    if (inputs_differ) common_dtype_ = ScalarType::Undefined;
    return;
  }
  if (inputs_differ && settings.promote_inputs_to_common_dtype) {
    detail::ResultTypeState state;
    for (const OperandInfo& op : operands_) {
      if (!op.is_output) state = detail::update_result_type(op.tensor(), state);
    }
    common_dtype_ = detail::result_type(state);
    OPGEN_INTERNAL_ASSERT(common_dtype_ != ScalarType::Undefined);
  }
  if (settings.promote_integer_inputs_to_float && isIntegralType(common_dtype_, true)) {
    common_dtype_ = get_default_dtype();
  }

  int cpu_scalars = 0;
  for (OperandInfo& op : operands_) {
    if (!op.is_type_defined()) op.target_dtype = common_dtype_;
    if (!op.has_device) op.device = common_device_;
    if (!op.tensor().defined()) continue;

    if (settings.check_all_same_device && op.device != common_device_) {
      bool is_cpu_number = settings.allow_cpu_scalars && !op.is_output && op.device.is_cpu() &&
                           op.tensor().dim() == 0;
      OPGEN_CHECK(is_cpu_number && cpu_scalars == 0,
                  "expected all tensors on one device, but found some on ", common_device_,
                  " and on ", op.device);
      ++cpu_scalars;
    }
    if (settings.enforce_safe_casting_to_output && op.is_output &&
        op.current_dtype != common_dtype_) {
      OPGEN_CHECK(canCast(common_dtype_, op.current_dtype), "a result of dtype ", common_dtype_,
                  " cannot be stored in an output of dtype ", op.current_dtype);
    }
    // On other devices kernels load and store by each operand's dtype. Meta tensors are replaced
    // as those of the CPU are: the strides of a fresh output follow those of the operands.
    if (!common_device_.is_cpu() && !is_meta_) continue;
    if (op.is_output) {
      ScalarType computed = settings.compute_outputs_as_static_dtype ? settings.static_dtype
                            : settings.cast_common_dtype_to_outputs  ? common_dtype_
                                                                     : op.current_dtype;
      if (op.current_dtype != computed) replace_by_temporary(op, computed);
    } else if (settings.promote_inputs_to_common_dtype && op.current_dtype != common_dtype_) {
      replace_by_temporary(op, common_dtype_);
    }
  }
}

void TensorIteratorBase::replace_by_temporary(OperandInfo& op, ScalarType dtype) {
  const TensorBase& original = op.tensor();
  TensorBase temporary = op.is_output ? detail::empty_like(original, TensorOptions().dtype(dtype))
                                      : detail::to_dtype(original, dtype);
  // An output that is also an input is read through the input's own temporary: nothing to copy
  // here.
  op.original_borrowed = op.borrowed;
  op.original_owned = std::move(op.owned);
  op.borrowed = nullptr;
  op.owned = std::move(temporary);
  op.replaced = true;
  has_temporaries_ |= op.is_output;
  op.current_dtype = dtype;
  op.target_dtype = dtype;
}

TensorOptions TensorIteratorBase::output_options(const OperandInfo& op) const {
  if (op.replaced) return op.original_tensor().options();
  return TensorOptions().dtype(op.target_dtype).device(op.device).layout(kStrided);
}

// Same shape, and all contiguous or all with the same dense strides: one dimension, no sorting.
bool TensorIteratorBase::fast_set_up(const IteratorSettings& settings) {
  if (is_reduction_ || !all_ops_same_shape_) return false;
  bool contiguous = true;
  for (const OperandInfo& op : operands_) {
    if (op.will_resize) continue;
    contiguous = contiguous && op.tensor().is_contiguous();
  }
  if (contiguous) {
    for (int i = 0; i < num_outputs_; ++i) {
      set_iterator_output(i, shape_, {}, output_options(operands_[std::size_t(i)]));
    }
  } else {
    if (settings.enforce_linear_iteration) return false;
    bool channels_last = true;
    bool same_strides = true;
    const TensorBase* model = nullptr;
    for (int i = ntensors(); i-- > 0;) {
      const OperandInfo& op = operand(i);
      if (op.will_resize) continue;
      const TensorBase& t = op.tensor();
      channels_last = channels_last && t.is_contiguous(MemoryFormat::ChannelsLast);
      if (model == nullptr) {
        model = &t;
        same_strides = t.is_non_overlapping_and_dense();
      } else {
        same_strides = same_strides && t.strides() == model->strides();
      }
    }
    if (channels_last) {
      for (int i = 0; i < num_outputs_; ++i) {
        set_iterator_output(
            i, shape_, {},
            output_options(operands_[std::size_t(i)]).memory_format(MemoryFormat::ChannelsLast));
      }
    } else if (same_strides && model != nullptr) {
      DimVector strides(model->strides());
      for (int i = 0; i < num_outputs_; ++i) {
        set_iterator_output(i, shape_, strides, output_options(operands_[std::size_t(i)]));
      }
    } else {
      return false;
    }
  }
  if (shape_.size() > 1) {
    std::int64_t n = product(shape_);
    shape_.resize(1);
    shape_[0] = n;
    coalesced_ = true;
  }
  for (OperandInfo& op : operands_) {
    if (!shape_.empty()) {
      op.stride_bytes.assign(1, static_cast<std::int64_t>(op.tensor().itemsize()));
    }
  }
  for (std::size_t i = 0; i < shape_.size(); ++i) perm_.push_back(static_cast<std::int64_t>(i));
  return true;
}

void TensorIteratorBase::compute_strides(const DimVector* static_shape) {
  for (OperandInfo& op : operands_) {
    const TensorBase& t = op.tensor();
    if (!t.defined() || op.will_resize) continue;
    IntArrayRef strides = t.strides();
    IntArrayRef sizes = static_shape != nullptr ? IntArrayRef(shape_) : t.sizes();
    OPGEN_INTERNAL_ASSERT(sizes.size() == strides.size() && sizes.size() <= shape_.size());
    std::size_t offset = shape_.size() - sizes.size();
    op.stride_bytes.assign(shape_.size(), 0);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      bool broadcast = sizes[d] == 1 && shape_[offset + d] != 1;
      if (!broadcast) op.stride_bytes[offset + d] = strides[d] * t.element_size();
    }
  }
}

void TensorIteratorBase::reorder_dimensions(bool linear) {
  std::size_t n = shape_.size();
  perm_.resize(n);
  for (std::size_t i = 0; i < n; ++i) perm_[i] = static_cast<std::int64_t>(n - 1 - i);
  if (n > 1 && !linear) {
    // 1: dimension a is slower than b; -1: faster; 0: no operand can tell.
    auto compare = [this](std::size_t a, std::size_t b) {
      for (const OperandInfo& op : operands_) {
        if (op.stride_bytes.empty() || op.will_resize) continue;
        std::int64_t stride_a = op.stride_bytes[a];
        std::int64_t stride_b = op.stride_bytes[b];
        // Reduced dimensions come first.
        if (is_reduction_ && op.is_output && (stride_a == 0) != (stride_b == 0)) {
          return stride_b == 0 ? 1 : -1;
        }
        if (stride_a == 0 || stride_b == 0) continue;
        if (stride_a != stride_b) return stride_a < stride_b ? -1 : 1;
        if (shape_[a] > shape_[b]) return 1;
      }
      return 0;
    };
    // Insertion sort: comparisons are no order, so the steps decide, and ATen's are these.
    for (std::size_t i = 1; i < n; ++i) {
      std::size_t at = i;
      for (std::size_t j = i; j-- > 0;) {
        int order =
            compare(static_cast<std::size_t>(perm_[j]), static_cast<std::size_t>(perm_[at]));
        if (order > 0) {
          std::swap(perm_[j], perm_[at]);
          at = j;
        } else if (order < 0) {
          break;
        }
      }
    }
  }
  permute_dimensions();
}

void TensorIteratorBase::permute_dimensions() {
  auto permute = [this](SmallVector<std::int64_t, 5>& values) {
    SmallVector<std::int64_t, 5> old(values);
    for (std::size_t i = 0; i < old.size(); ++i)
      values[i] = old[static_cast<std::size_t>(perm_[i])];
  };
  permute(shape_);
  for (OperandInfo& op : operands_) {
    if (!op.stride_bytes.empty()) permute(op.stride_bytes);
  }
}

void TensorIteratorBase::allocate_or_resize_outputs() {
  std::size_t n = shape_.size();
  for (int i = 0; i < num_outputs_; ++i) {
    OperandInfo& op = operands_[std::size_t(i)];
    if (op.tensor().defined() && !op.will_resize) {
      // Also where nothing changes: the sink checks dtype and device and sets the guard.
      set_iterator_output(i, DimVector(op.original_tensor().sizes()), {}, output_options(op));
      continue;
    }
    std::int64_t item = static_cast<std::int64_t>(elementSize(op.target_dtype));
    DimVector sizes(n);
    DimVector strides(n);
    bool is_row_major = true;
    std::int64_t stride = 1;
    op.stride_bytes.resize(n);
    for (std::size_t d = 0; d < n; ++d) {
      std::size_t original = static_cast<std::size_t>(perm_[d]);
      is_row_major = is_row_major && original == n - 1 - d;
      op.stride_bytes[d] = stride * item;
      sizes[original] = shape_[d];
      strides[original] = stride;
      stride *= shape_[d];
    }
    set_iterator_output(i, sizes, is_row_major ? IntArrayRef() : IntArrayRef(strides),
                        output_options(op));
  }
}

void TensorIteratorBase::set_iterator_output(int i, IntArrayRef sizes, IntArrayRef strides,
                                             TensorOptions options) {
  OperandInfo& op = operands_[std::size_t(i)];
  if (opgen_sink_ != nullptr) {
    // `sizes` may be shape_, which the sink's out= tensor does not know of: no copy is needed.
    MetaBase::set_output_raw_strided(i, sizes, strides, options);
    return;
  }
  if (!op.tensor().defined()) {
    op.owned = strides.empty() ? detail::empty(sizes, options)
                               : detail::empty_strided(sizes, strides, options);
    op.borrowed = nullptr;
    op.current_dtype = op.target_dtype;
  } else if (op.will_resize) {
    const TensorBase& out = op.original_tensor();
    if (detail::resize_output(out, sizes)) {
      detail::restride_output(out, sizes, strides,
                              strides.empty() ? options.memory_format_opt() : std::nullopt);
    }
    if (op.replaced) op.owned = detail::empty_like(out, TensorOptions().dtype(op.target_dtype));
  }
}

void TensorIteratorBase::opgen_note_output(std::int64_t index) {
  if (index >= num_outputs_) return;
  OperandInfo& op = operands_[static_cast<std::size_t>(index)];
  const TensorBase& out = maybe_get_output(index);
  if (op.replaced) {
    op.original_borrowed = &out;
    if (op.owned.sizes() != out.sizes()) {
      op.owned = detail::empty_like(out, TensorOptions().dtype(op.target_dtype));
    }
  } else {
    op.borrowed = &out;
    op.current_dtype = out.scalar_type();
  }
}

void TensorIteratorBase::coalesce_dimensions() {
  coalesced_ = true;
  std::size_t n = shape_.size();
  if (n <= 1) return;
  // Dimensions a and b are one if stepping b once is stepping a through.
  auto can_coalesce = [this](std::size_t a, std::size_t b) {
    if (shape_[a] == 1 || shape_[b] == 1) return true;
    for (const OperandInfo& op : operands_) {
      if (shape_[a] * op.stride_bytes[a] != op.stride_bytes[b]) return false;
    }
    return true;
  };
  auto take_strides = [this](std::size_t to, std::size_t from) {
    for (OperandInfo& op : operands_) op.stride_bytes[to] = op.stride_bytes[from];
  };
  std::size_t last = 0;
  for (std::size_t d = 1; d < n; ++d) {
    if (can_coalesce(last, d)) {
      if (shape_[last] == 1) take_strides(last, d);
      shape_[last] *= shape_[d];
    } else {
      ++last;
      if (last != d) {
        take_strides(last, d);
        shape_[last] = shape_[d];
      }
    }
  }
  shape_.resize(last + 1);
  for (OperandInfo& op : operands_) op.stride_bytes.resize(last + 1);
}

// -- what was built

std::int64_t TensorIteratorBase::num_output_elements() const {
  settle();
  std::int64_t n = 1;
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    if (operands_[0].stride_bytes[d] != 0 || shape_[d] == 0) n *= shape_[d];
  }
  return n;
}

void TensorIteratorBase::throw_no_common_dtype() {
  OPGEN_INTERNAL_ASSERT(false,
                        "this iteration has inputs of several dtypes, which were not promoted");
  __builtin_unreachable();
}

bool TensorIteratorBase::is_contiguous() const {
  if (is_simple()) return true;
  if (numel() == 1) return true;
  if (shape_.size() != 1) return false;
  for (const OperandInfo& op : operands_) {
    if (op.stride_bytes[0] != static_cast<std::int64_t>(elementSize(op.current_dtype))) {
      return false;
    }
  }
  return true;
}

bool TensorIteratorBase::has_replaced_operands() const noexcept {
  for (const OperandInfo& op : operands_) {
    if (op.replaced) return true;
  }
  return false;
}

bool TensorIteratorBase::is_dim_reduced(std::int64_t dim) const {
  settle();
  std::size_t d = static_cast<std::size_t>(dim);
  for (const OperandInfo& op : operands_) {
    if (op.is_output && op.stride_bytes[d] == 0 && shape_[d] > 1) return true;
  }
  return false;
}

void TensorIteratorBase::remove_operand(int i) {
  settle();
  OPGEN_INTERNAL_ASSERT(i >= 0 && i < ntensors());
  if (i < num_outputs_) --num_outputs_;
  operands_.erase(operands_.begin() + i);
}

// -- running

void TensorIteratorBase::for_rows(loop1d_t row, int ntensors, char** data,
                                  const std::int64_t* strides, std::int64_t inner,
                                  std::int64_t outer) {
  if (outer == 1) {
    row(data, strides, inner);
    return;
  }
  PtrVector pointers(data, data + ntensors);
  const std::int64_t* outer_strides = strides + ntensors;
  for (std::int64_t i = 0; i < outer; ++i) {
    row(pointers.data(), strides, inner);
    for (std::size_t k = 0; k < pointers.size(); ++k) pointers[k] += outer_strides[k];
  }
}

void TensorIteratorBase::for_each_2d(loop2d_t loop, std::int64_t grain) {
  std::int64_t n = numel();
  if (n == 0) return;
  parallel_for(0, n, grain,
               [&](std::int64_t begin, std::int64_t end) { serial_for_each_2d(loop, begin, end); });
}

void TensorIteratorBase::serial_for_each_2d(loop2d_t loop, std::int64_t begin,
                                            std::int64_t end) const {
  if (begin >= end) return;
  std::size_t n = operands_.size();
  std::size_t ndim = shape_.size();
  PtrVector data(n);
  SmallVector<std::int64_t, 8> strides(2 * n, 0);
  for (std::size_t k = 0; k < n; ++k) {
    const OperandInfo& op = operands_[k];
    data[k] = static_cast<char*>(op.data);
    if (ndim > 0) strides[k] = op.stride_bytes[0];
    if (ndim > 1) strides[n + k] = op.stride_bytes[1];
  }
  if (ndim <= 1) {
    for (std::size_t k = 0; k < n; ++k) data[k] += begin * strides[k];
    loop(data.data(), strides.data(), end - begin, 1);
    return;
  }

  // Where `begin` is.
  DimVector index(ndim);
  std::int64_t rest = begin;
  for (std::size_t d = 0; d < ndim; ++d) {
    index[d] = rest % shape_[d];
    rest /= shape_[d];
  }
  PtrVector at(n);
  for (std::int64_t done = begin; done < end;) {
    for (std::size_t k = 0; k < n; ++k) {
      at[k] = data[k];
      for (std::size_t d = 0; d < ndim; ++d) at[k] += index[d] * operands_[k].stride_bytes[d];
    }
    // A whole block of rows if one starts here, else the rest of a row.
    std::int64_t inner = std::min(shape_[0] - index[0], end - done);
    std::int64_t outer = 1;
    if (inner == shape_[0]) outer = std::min(shape_[1] - index[1], (end - done) / shape_[0]);
    loop(at.data(), strides.data(), inner, outer);
    done += inner * outer;

    // `inner` ends a row unless this was the last call.
    std::int64_t carry = outer;
    index[0] = 0;
    for (std::size_t d = 1; d < ndim; ++d) {
      index[d] += carry;
      if (index[d] < shape_[d]) break;
      index[d] = 0;
      carry = 1;
    }
  }
}

void TensorIteratorBase::copy_temporaries() {
  has_temporaries_ = false;
  for (OperandInfo& op : operands_) {
    if (!op.is_output || !op.replaced) continue;
    TensorBase temporary = std::move(op.owned);
    op.borrowed = op.original_borrowed;
    op.owned = std::move(op.original_owned);
    op.replaced = false;
    op.current_dtype = op.tensor().scalar_type();
    op.target_dtype = op.current_dtype;
    if (is_meta_) continue;
    // Outputs of reductions are views of another shape; element by element they agree.
    detail::copy_(op.tensor(), temporary);
    op.data = op.tensor().data_ptr();
  }
}

void TensorIteratorBase::narrow(std::int64_t dim, std::int64_t start, std::int64_t size) {
  settle();
  std::size_t d = static_cast<std::size_t>(dim);
  OPGEN_INTERNAL_ASSERT(dim >= 0 && d < shape_.size() && size >= 1 && start + size <= shape_[d]);
  shape_[d] = size;
  view_offsets_.resize(shape_.size(), 0);
  view_offsets_[d] += start;
  for (OperandInfo& op : operands_) {
    op.data = static_cast<char*>(op.data) + op.stride_bytes[d] * start;
  }
}

void TensorIteratorBase::borrow(const TensorIteratorBase& other) {
  other.settle();
  shape_ = other.shape_;
  perm_ = other.perm_;
  view_offsets_ = other.view_offsets_;
  num_outputs_ = other.num_outputs_;
  common_dtype_ = other.common_dtype_;
  common_device_ = other.common_device_;
  is_reduction_ = other.is_reduction_;
  is_meta_ = other.is_meta_;
  all_ops_same_shape_ = other.all_ops_same_shape_;
  coalesced_ = other.coalesced_;
  operands_.clear();
  for (const OperandInfo& source : other.operands_) {
    OperandInfo& op = operands_.emplace_back();
    op.stride_bytes = source.stride_bytes;
    op.data = source.data;
    op.borrowed = &source.tensor();
    op.device = source.device;
    op.target_dtype = source.target_dtype;
    op.current_dtype = source.current_dtype;
    op.has_device = source.has_device;
    op.is_output = source.is_output;
    op.is_read_write = source.is_read_write;
  }
}

void TensorIteratorBase::parallel_for_outputs(FunctionRef<void(TensorIteratorBase&)> f) const {
  settle();
  // The largest dimension along which outputs differ.
  std::size_t split = shape_.size();
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    if (operands_[0].stride_bytes[d] == 0) continue;
    if (split == shape_.size() || shape_[d] > shape_[split]) split = d;
  }
  std::int64_t n = numel();
  if (split == shape_.size() || n < kGrainSize || shape_[split] < 2) {
    TensorIteratorBase all;
    all.borrow(*this);
    f(all);
    return;
  }
  std::int64_t per_index = n / shape_[split];
  std::int64_t grain = std::max<std::int64_t>(1, kGrainSize / std::max<std::int64_t>(1, per_index));
  parallel_for(0, shape_[split], grain, [&](std::int64_t begin, std::int64_t end) {
    TensorIteratorBase part;
    part.borrow(*this);
    part.narrow(static_cast<std::int64_t>(split), begin, end - begin);
    f(part);
  });
}

bool TensorIteratorBase::can_use_32bit_indexing() const {
  settle();
  constexpr std::int64_t most = INT32_MAX;
  if (numel() > most) return false;
  for (const OperandInfo& op : operands_) {
    std::int64_t reach = 1;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      reach += (shape_[d] - 1) * std::abs(op.stride_bytes[d]);
    }
    if (reach > most) return false;
  }
  return true;
}

void TensorIteratorBase::with_32bit_indexing(FunctionRef<void(TensorIteratorBase&)> f) const {
  if (can_use_32bit_indexing()) {
    TensorIteratorBase all;
    all.borrow(*this);
    f(all);
    return;
  }
  std::size_t split = shape_.size();
  std::int64_t farthest = -1;
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    if (shape_[d] < 2 || is_dim_reduced(static_cast<std::int64_t>(d))) continue;
    for (const OperandInfo& op : operands_) {
      std::int64_t reach = (shape_[d] - 1) * std::abs(op.stride_bytes[d]);
      if (reach <= farthest) continue;
      farthest = reach;
      split = d;
    }
  }
  OPGEN_CHECK(split < shape_.size(), "32 bits do not hold the offsets of a reduction over ",
              numel(), " elements");
  std::int64_t half = shape_[split] / 2;
  for (std::int64_t begin : {std::int64_t(0), half}) {
    TensorIteratorBase part;
    part.borrow(*this);
    part.narrow(static_cast<std::int64_t>(split), begin, begin == 0 ? half : shape_[split] - half);
    part.with_32bit_indexing(f);
  }
}

// -- TensorIterator

#define OPGEN_MAKE_2(name, builder)                                                 \
  TensorIterator TensorIterator::name(const TensorBase& out, const TensorBase& a) { \
    return TensorIterator([&](TensorIteratorBase& iter) { iter.builder(out, a); }); \
  }
#define OPGEN_MAKE_3(name, builder)                                                    \
  TensorIterator TensorIterator::name(const TensorBase& out, const TensorBase& a,      \
                                      const TensorBase& b) {                           \
    return TensorIterator([&](TensorIteratorBase& iter) { iter.builder(out, a, b); }); \
  }
OPGEN_MAKE_3(binary_op, build_binary_op)
OPGEN_MAKE_3(binary_float_op, build_binary_float_op)
OPGEN_MAKE_3(borrowing_binary_op, build_borrowing_binary_op)
OPGEN_MAKE_3(comparison_op, build_comparison_op)
OPGEN_MAKE_2(unary_op, build_unary_op)
OPGEN_MAKE_2(unary_float_op, build_unary_float_op)
OPGEN_MAKE_2(unary_force_boolean_op, build_unary_force_boolean_op)
#undef OPGEN_MAKE_2
#undef OPGEN_MAKE_3

TensorIterator TensorIterator::ternary_op(const TensorBase& out, const TensorBase& a,
                                          const TensorBase& b, const TensorBase& c) {
  return TensorIterator([&](TensorIteratorBase& iter) { iter.build_ternary_op(out, a, b, c); });
}

TensorIterator::TensorIterator(std::initializer_list<const TensorBase*> operands, int noutputs,
                               const IteratorSettings& settings) {
  build_operands(operands, noutputs, kAllOwned, settings, nullptr);
}

TensorIterator TensorIterator::nullary_op(const TensorBase& out) {
  return TensorIterator({&out}, 1, kNullary);
}

TensorIterator TensorIterator::reduce_op(const TensorBase& out, const TensorBase& a) {
  return TensorIterator({&out, &a}, 1, kReduction);
}

TensorIterator TensorIterator::reduce_op(const TensorBase& out1, const TensorBase& out2,
                                         const TensorBase& a) {
  OPGEN_CHECK(out1.sizes() == out2.sizes(), "two outputs of a reduction have sizes ", out1.sizes(),
              " and ", out2.sizes());
  return TensorIterator({&out1, &out2, &a}, 2, kReduction);
}

// -- TensorIteratorConfig

TensorIteratorConfig& TensorIteratorConfig::add(const TensorBase& tensor, bool output, bool owned) {
  OPGEN_INTERNAL_ASSERT(!output || num_outputs_ == static_cast<int>(operands_.size()),
                        "outputs are added before inputs");
  operands_.push_back(owned ? Operand{nullptr, tensor} : Operand{&tensor, TensorBase()});
  if (output) ++num_outputs_;
  return *this;
}

#define OPGEN_SET(name, field)                                   \
  TensorIteratorConfig& TensorIteratorConfig::name(bool value) { \
    settings_.field = value;                                     \
    return *this;                                                \
  }
OPGEN_SET(set_check_mem_overlap, check_mem_overlap)
OPGEN_SET(allow_cpu_scalars, allow_cpu_scalars)
OPGEN_SET(is_reduction, is_reduction)
OPGEN_SET(resize_outputs, resize_outputs)
OPGEN_SET(check_all_same_dtype, check_all_same_dtype)
OPGEN_SET(check_all_same_device, check_all_same_device)
OPGEN_SET(enforce_safe_casting_to_output, enforce_safe_casting_to_output)
OPGEN_SET(enforce_linear_iteration, enforce_linear_iteration)
OPGEN_SET(promote_integer_inputs_to_float, promote_integer_inputs_to_float)
#undef OPGEN_SET

TensorIteratorConfig& TensorIteratorConfig::promote_inputs_to_common_dtype(bool value) {
  settings_.promote_inputs_to_common_dtype = value;
  if (value) settings_.check_all_same_dtype = false;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::cast_common_dtype_to_outputs(bool value) {
  settings_.cast_common_dtype_to_outputs = value;
  if (value) settings_.check_all_same_dtype = false;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::cast_static_dtype_to_outputs(bool value) {
  settings_.compute_outputs_as_static_dtype = value;
  if (value) settings_.check_all_same_dtype = false;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::declare_static_dtype(ScalarType dtype) {
  settings_.static_dtype = dtype;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::declare_static_device(Device device) {
  settings_.static_device = device;
  settings_.has_static_device = true;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::declare_static_dtype_and_device(ScalarType dtype,
                                                                            Device device) {
  declare_static_device(device);
  return declare_static_dtype(dtype);
}
TensorIteratorConfig& TensorIteratorConfig::declare_static_shape(IntArrayRef shape) {
  OPGEN_CHECK(!settings_.resize_outputs, "a declared shape needs resize_outputs(false)");
  static_shape_ = DimVector(shape);
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::declare_static_shape(IntArrayRef shape,
                                                                 IntArrayRef squash_dims) {
  declare_static_shape(shape);
  if (static_shape_->empty()) return *this;
  for (std::int64_t d : squash_dims) {
    static_shape_->operator[](std::size_t(maybe_wrap_dim(d, std::int64_t(shape.size())))) = 1;
  }
  return *this;
}

TensorIterator TensorIteratorConfig::build() {
  return TensorIterator(*this);
}

}  // namespace opgen
