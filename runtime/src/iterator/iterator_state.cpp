// iterator_state.cpp: converts a quick form to the form General.
#include "opgen/iterator/iterator_state.h"

#include <mutex>

#include "core/fork.h"
#include "opgen/iterator/tensor_iterator.h"

namespace opgen {

namespace detail {

void IteratorState::make_general() {
  if (general == nullptr) general = ::new (general_bytes) General;
}

void IteratorState::destroy_general() noexcept {
  general->~General();
}

void IteratorState::write_general(unsigned owned) {
  make_general();
  const bool contiguous = load_form() == Form::Contiguous;
  const TensorImpl* model = quick[1]->unsafeGetTensorImpl();
  std::size_t ndim = contiguous ? (model->dim() != 0 ? 1 : 0) : small.ndim;
  if (contiguous) {
    if (ndim != 0) {
      general->shape.push_back(model->numel());
      general->perm.push_back(0);
    }
  } else {
    general->shape.append(small.shape, small.shape + ndim);
    for (std::size_t d = 0; d < small.result_ndim; ++d) {
      general->perm.push_back(small.perm[d]);
    }
  }
  for (int k = 0; k < quick_count; ++k) {
    OperandInfo& op = general->operands.emplace_back();
    if (((owned >> k) & 1) != 0) {
      op.owned = *quick[k];
    } else {
      op.borrowed = quick[k];
    }
    const TensorImpl* impl = quick[k]->unsafeGetTensorImpl();
    op.is_output = k == 0;
    op.is_read_write = k == 0 && !contiguous && small.is_read_write;
    op.has_device = true;
    op.device = common_device;
    op.target_dtype = impl->dtype();
    op.current_dtype = impl->dtype();
    op.data = impl->data();
    for (std::size_t d = 0; d < ndim; ++d) {
      op.stride_bytes.push_back(contiguous ? static_cast<std::int64_t>(impl->itemsize())
                                           : small.strides[d][k]);
    }
  }
}

}  // namespace detail

namespace {

std::mutex& mutex_of_forms() {
  static std::mutex mutex;
  return mutex;
}
[[maybe_unused]] const bool forms_are_held = hold_during_fork<&mutex_of_forms>();

}  // namespace

void TensorIteratorBase::materialize_once() {
  std::lock_guard<std::mutex> lock(mutex_of_forms());
  if (state_.load_form() == Form::General) return;
  if (state_.is_quick()) {
    if (opgen_sink_ != nullptr) opgen_sink_->note_set(0);
    state_.write_general(0);
  } else {
    state_.make_general();
  }
  state_.form.store_release(Form::General);
}

}  // namespace opgen
