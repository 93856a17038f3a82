// forward.cpp: tangents of tensors, and the levels to which they belong.
#include "opgen/autograd/forward.h"

#include <mutex>
#include <string_view>
#include <vector>

#include "autograd/autograd_part.h"
#include "autograd/view_history.h"
#include "autograd/view_part.h"
#include "opgen/autograd/primitives.h"
#include "opgen/device/blocking.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/factories.h"

namespace opgen::autograd {

namespace internal {
constinit Atomic<std::int32_t> open_forward_levels = 0;
}

namespace {

struct TangentPart;

// Guards the lists of all levels.
std::mutex level_mutex;
struct Level {
  TangentPart* first = nullptr;
};
thread_local constinit Level* level_of_thread = nullptr;

struct TangentPart final : TensorPart {
  static constexpr TensorPartKind kKind = TensorPartKind::Tangent;
  ~TangentPart() override {
    const opgen::detail::Lock lock(level_mutex);
    leave();
  }
  // The caller holds the lock.
  void join(Level& to) noexcept {
    leave();
    level = &to;
    next = to.first;
    if (next != nullptr) next->previous = this;
    to.first = this;
  }
  void leave() noexcept {
    if (level == nullptr) return;
    (previous != nullptr ? previous->next : level->first) = next;
    if (next != nullptr) next->previous = previous;
    level = nullptr;
    previous = next = nullptr;
  }

  TensorBase tangent;
  // For a view, the tangent of its base of which `tangent` is a part.
  TensorBase whole;
  Level* level = nullptr;
  TangentPart* previous = nullptr;
  TangentPart* next = nullptr;
};

[[nodiscard]] TangentPart* find_part(const TensorBase& tensor) noexcept {
  return opgen::detail::find_part<TangentPart>(tensor.unsafeGetTensorImpl());
}

// The end of a level, on another thread, may remove the tangent at any time.
[[nodiscard]] TensorBase own_tangent(const TensorBase& tensor) noexcept {
  const TangentPart* part = find_part(tensor);
  if (part == nullptr) return {};
  const opgen::detail::Lock lock(level_mutex);
  return part->tangent;
}
// Returns the tangent of a view. Undefined, if that of its base is another one than `whole` since.
[[nodiscard]] TensorBase own_part(const TensorBase& view, const TensorBase& whole) noexcept {
  const TangentPart* part = find_part(view);
  if (part == nullptr) return {};
  const opgen::detail::Lock lock(level_mutex);
  return part->whole.is_same(whole) ? part->tangent : TensorBase();
}

// Returns the tensor whose tangent contains this tensor's tangent as a view; null if this tensor
// has its own tangent.
const TensorBase* tangent_base(const TensorBase& tensor) noexcept {
  const ViewPart* view = find_view(tensor);
  if (view == nullptr || !view->has_tangent_base) return nullptr;
  return view->tangent_base.defined() ? &view->tangent_base : &view->base;
}

void store(const TensorBase& tensor, TensorBase tangent, TensorBase whole = {}) {
  auto& part = opgen::detail::part_of<TangentPart>(tensor.unsafeGetTensorImpl());
  const opgen::detail::Lock lock(level_mutex);
  std::swap(part.tangent, tangent);
  std::swap(part.whole, whole);
  part.join(*level_of_thread);
  internal::track(tensor);
}

// Returns the tangent with the strides of the tensor, so that a view of the tensor corresponds to a
// view of the tangent.
TensorBase in_layout_of(const TensorBase& tensor, const TensorBase& tangent) {
  if (tangent.strides() == tensor.strides() || requires_grad(tangent) ||
      !tensor.is_non_overlapping_and_dense() || !tangent.has_storage()) {
    return tangent;
  }
  TensorBase moved =
      opgen::detail::empty_strided(tensor.sizes(), tensor.strides(), tangent.options());
  copy_(moved, tangent);
  return moved;
}

// Returns the part of the base's tangent that corresponds to the view.
TensorBase view_of_tangent(const TensorBase& view, const TensorBase& base,
                           const TensorBase& tangent) {
  const auto geometry = internal::SliceGeometry::of(view, base);
  if (requires_grad(tangent) || !internal::holds_slice(tangent, geometry)) {
    return internal::take_slice(tangent, geometry);
  }
  return opgen::detail::alias_with_sizes_and_strides(tangent, view.sizes(), view.strides(),
                                                     tangent.storage_offset() + geometry.offset);
}

void check_tangent(const TensorBase& tensor, const TensorBase& tangent) {
  OPGEN_CHECK(tensor.defined(), "an undefined tensor cannot have a tangent");
  OPGEN_CHECK(internal::is_differentiable(tensor.scalar_type()),
              "only tensors of floating-point and complex dtype can have tangents, not ",
              tensor.scalar_type());
  OPGEN_CHECK(!tensor.is_inference(),
              "a tensor made in inference mode cannot have a tangent; clone() it outside of the "
              "mode");
  OPGEN_CHECK(tangent.sizes() == tensor.sizes(), "cannot set a tangent of sizes ", tangent.sizes(),
              " for a tensor of sizes ", tensor.sizes());
  OPGEN_CHECK(tangent.scalar_type() == tensor.scalar_type(), "cannot set a tangent of dtype ",
              tangent.scalar_type(), " for a tensor of dtype ", tensor.scalar_type());
  OPGEN_CHECK(tangent.device() == tensor.device(), "cannot set a tangent on ", tangent.device(),
              " for a tensor on ", tensor.device());
  OPGEN_CHECK(!has_tangent(tangent),
              "a tangent cannot have a tangent itself: there is only one level");
  OPGEN_CHECK(level_of_thread != nullptr,
              "no ForwardLevel is open on this thread, but a tangent needs one");
}

}  // namespace

ForwardLevel::ForwardLevel() {
  OPGEN_CHECK(level_of_thread == nullptr,
              "a ForwardLevel inside of another is not supported: a tensor has only one tangent");
  level_of_thread = new Level;
  internal::open_forward_levels.add_relaxed(1);
}

ForwardLevel::~ForwardLevel() {
  std::vector<TensorBase> dropped;  // destroyed without the lock: they may own other tangents
  {
    const opgen::detail::Lock lock(level_mutex);
    while (TangentPart* part = level_of_thread->first) {
      dropped.push_back(std::move(part->tangent));
      dropped.push_back(std::move(part->whole));
      part->leave();
    }
  }
  delete level_of_thread;
  level_of_thread = nullptr;
  internal::open_forward_levels.add_relaxed(-1);
}

bool internal::find_tangent(const TensorBase& tensor) noexcept {
  if (tensor.unsafeGetTensorImpl()->parts() == nullptr) return false;
  if (own_tangent(tensor).defined()) return true;
  const TensorBase* base = tangent_base(tensor);
  return base != nullptr && find_tangent(*base);
}

TensorBase tangent_of(const TensorBase& tensor) {
  if (!forward_mode_is_active() || tensor.unsafeGetTensorImpl()->parts() == nullptr) return {};
  const TensorBase* base = tangent_base(tensor);
  if (base == nullptr) return own_tangent(tensor);
  const TensorBase whole = tangent_of(*base);
  if (TensorBase own = own_part(tensor, whole); own.defined()) return own;
  if (!whole.defined()) return {};
  TensorBase tangent = view_of_tangent(tensor, *base, whole);
  if (level_of_thread != nullptr) store(tensor, tangent, whole);
  return tangent;
}

void set_tangent(const TensorBase& tensor, const TensorBase& tangent) {
  if (!tangent.defined()) {
    TangentPart* part = find_part(tensor);
    if (part == nullptr) return;
    TensorBase old, old_whole;
    const opgen::detail::Lock lock(level_mutex);
    std::swap(part->tangent, old);
    std::swap(part->whole, old_whole);
    return part->leave();
  }
  check_tangent(tensor, tangent);
  const TensorBase* base = tangent_base(tensor);
  if (base == nullptr) return store(tensor, in_layout_of(tensor, tangent));
  TensorBase whole = tangent_of(*base);
  if (whole.defined() && tangent.is_alias_of(whole)) return store(tensor, tangent, whole);
  const auto geometry = internal::SliceGeometry::of(tensor, *base);
  if (requires_grad(tangent) || (whole.defined() && requires_grad(whole))) {
    TensorBase changed = internal::put_slice(tangent, geometry);
    if (whole.defined()) {
      changed = primitive::add(internal::without_slice(whole, geometry), changed);
    }
    store(*base, changed);
    return store(tensor, tangent, changed);
  }
  if (!whole.defined()) {
    whole = opgen::detail::empty_strided(base->sizes(), base->strides(), tangent.options());
    zero_(whole);
    store(*base, whole);
  }
  const TensorBase part = view_of_tangent(tensor, *base, whole);
  copy_(part, tangent);
  store(tensor, part, whole);
}

TensorBase primal_of(const TensorBase& tensor) {
  return has_tangent(tensor) ? internal::alias_with_history(tensor) : tensor;
}

TensorBase make_dual(const TensorBase& primal, const TensorBase& tangent) {
  OPGEN_CHECK(tangent.defined(), "make_dual() needs a tangent");
  check_tangent(primal, tangent);
  OPGEN_CHECK(!has_tangent(primal), "make_dual() was called for a tensor that has a tangent");
  OPGEN_CHECK(primal.has_storage(), "a tensor without storage cannot have a tangent");
  TensorBase dual = internal::alias_with_history(primal);
  find_view(dual)->is_dual = true;
  set_tangent(dual, tangent);
  return dual;
}

Dual unpack_dual(const TensorBase& tensor) {
  return {primal_of(tensor), tangent_of(tensor)};
}

void throw_no_forward_formula(std::string_view op) {
  OPGEN_CHECK_NOT_IMPLEMENTED(
      false, op,
      " has no forward-mode formula, but an argument has a tangent: add a formula for "
      "its result, or pass unpack_dual(argument).primal");
  __builtin_unreachable();
}

}  // namespace opgen::autograd
