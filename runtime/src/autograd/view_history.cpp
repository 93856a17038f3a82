// view_history.cpp: slices of gradients, and the nodes of views and of bases changed through a
// view.
#include "autograd/view_history.h"

#include <algorithm>
#include <mutex>

#include "autograd/autograd_part.h"
#include "opgen/autograd/primitives.h"
#include "opgen/core/local_keys.h"
#include "opgen/device/blocking.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/empty.h"

namespace opgen::autograd {

namespace internal {

namespace {

// The node of a view whose history is made from that of its base.
class AsStridedBackward final : public Node {
 public:
  explicit AsStridedBackward(SliceGeometry geometry) : geometry_(std::move(geometry)) {}
  [[nodiscard]] std::string name() const override { return "AsStridedBackward"; }
  [[nodiscard]] Gradients apply(Gradients gradients) override {
    return {gradients[0].defined() ? put_slice(gradients[0], geometry_) : TensorBase()};
  }

 private:
  SliceGeometry geometry_;
};

// The node of a base after the operator of `changed` has changed a view of it in place.
class CopySlices final : public Node {
 public:
  CopySlices(SliceGeometry geometry, Ref<Node> changed, std::uint32_t output_nr)
      : geometry_(std::move(geometry)), changed_(std::move(changed)), output_nr_(output_nr) {}
  [[nodiscard]] std::string name() const override { return "CopySlices"; }
  void release_saved() override { changed_->release_saved(); }
  [[nodiscard]] Gradients apply(Gradients gradients) override {
    const TensorBase full = std::move(gradients[0]);
    Gradients results;
    if (full.defined()) {
      Gradients of_changed(changed_->outputs().size());
      of_changed[output_nr_] = take_slice(full, geometry_);
      results = changed_->apply(std::move(of_changed));
    }
    results.resize(next_edges().size());
    if (!full.defined() || !computes(0)) return results;
    TensorBase rest = without_slice(full, geometry_);
    if (results[0].defined()) {
      TensorBase part = primitive::sum_to(results[0], geometry_.sizes);
      part = primitive::cast(part, full.scalar_type());
      rest = primitive::add(rest, put_slice(part, geometry_));
    }
    results[0] = std::move(rest);
    return results;
  }

 private:
  SliceGeometry geometry_;
  Ref<Node> changed_;
  std::uint32_t output_nr_;
};

std::mutex view_mutex;  // several threads may request the history of the same view

}  // namespace

SliceGeometry SliceGeometry::of(const TensorBase& view, const TensorBase& base) {
  OPGEN_CHECK_NOT_IMPLEMENTED(
      view.itemsize() == base.itemsize() && view.has_storage() && base.has_storage(),
      "autograd cannot record an in-place change of a ", base.scalar_type(),
      " tensor that has a view of dtype ", view.scalar_type());
  return {DimVector(base.sizes()), DimVector(base.strides()), DimVector(view.sizes()),
          DimVector(view.strides()), view.storage_offset() - base.storage_offset()};
}

void make_view_history(const TensorBase& tensor, ViewPart& view) {
  // Destroyed without the lock: they may be the last owners of graphs.
  Edge to_base;
  Ref<Node> replaced;
  const opgen::detail::Lock lock(view_mutex);
  if (!follows_base(tensor, view)) return;
  to_base = gradient_edge(view.base);
  if (const AutogradPart* part = find_autograd(tensor)) replaced = part->grad_fn;
  if (to_base.is_valid() && is_differentiable(tensor.scalar_type())) {
    auto node = make_node<AsStridedBackward>(SliceGeometry::of(tensor, view.base));
    node->add_next_edge(to_base);
    set_history(tensor, std::move(node));
  }
  view.version = tensor.unsafeGetTensorImpl()->version();
}

}  // namespace internal

void rebase_history(const TensorBase& tensor, Ref<Node> node) {
  ViewPart* view = find_view(tensor);
  if (view == nullptr) return set_history(tensor, std::move(node));
  const TensorBase& base = view->base;
  const std::uint32_t output_nr = node->add_output(tensor);
  Node& changed = *node;
  auto slices = make_node<internal::CopySlices>(internal::SliceGeometry::of(tensor, base),
                                                std::move(node), output_nr);
  slices->add_next_edge(gradient_edge(base));
  for (std::size_t i = 1; i < changed.next_edges().size(); ++i) {
    slices->add_next_edge(changed.next_edges()[i]);
  }
  set_history(base, std::move(slices));
  // Other views update their history when it is read, because their version is old.
  view->version = tensor.unsafeGetTensorImpl()->version() - 1;
  internal::update_view_history(tensor);
}

}  // namespace opgen::autograd
