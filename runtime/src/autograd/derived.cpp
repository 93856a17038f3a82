// derived.cpp: the code that the Autograd kernels of operators with formulas share.
#include "opgen/autograd/derived.h"

#include <algorithm>
#include <string>
#include <thread>

#include "autograd/autograd_part.h"
#include "autograd/node_extras.h"
#include "autograd/tensors_of.h"
#include "autograd/view_part.h"
#include "opgen/autograd/inplace_or_view.h"
#include "opgen/autograd/primitives.h"
#include "opgen/dispatch/dispatcher.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/factories.h"
#include "opgen/tensor/shape_utils.h"
#include "schema/alias_plan.h"

namespace opgen::autograd {

namespace {

using internal::DerivedOperator;
using internal::TensorSpan;
using opgen::detail::for_each_tensor;

bool can_have_gradient(const TensorBase& tensor) noexcept {
  return tensor.defined() && internal::is_differentiable(tensor.scalar_type());
}

std::string full_name(const OperatorSlot& slot) {
  return OperatorHandle(slot.entry.load_acquire()).full_name();
}

[[noreturn]] OPGEN_COLD void throw_no_formula(const DerivedOperator& op, std::size_t argument) {
  const FunctionSchema& schema = OperatorHandle(op.slot->entry.load_acquire()).schema();
  OPGEN_CHECK(false, schema.full_name(), " is not differentiable with respect to argument '",
              schema.arguments[argument].name, "', which requires a gradient: detach() it first");
  __builtin_unreachable();
}

}  // namespace

// ---- Recording
// -----------------------------------------------------------------------------------

// ---- Nodes
// -----------------------------------------------------------------------------------------

class DerivedNode::Lock {
 public:
  explicit Lock(const DerivedNode& node) noexcept : node_(node) {
    while (node_.locked_.replace_null(1) != 0) std::this_thread::yield();
  }
  ~Lock() { node_.locked_.store_release(0); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  const DerivedNode& node_;
};

DerivedNode::DerivedNode() = default;
DerivedNode::~DerivedNode() = default;

void DerivedNode::connect(const DerivedOperator& op, const TensorSpan* arguments) {
  op_ = &op;
  bool lists = false;
  if (OPGEN_UNLIKELY(op.leads_with_self)) {
    lead_ = static_cast<std::uint32_t>(arguments[0].count);
    for (std::size_t k = 0; k < arguments[0].count; ++k) {
      add_next_edge(gradient_edge(arguments[0].first[k]));
    }
  }
  for (std::size_t i = 0; i < op.input_count; ++i) {
    const TensorSpan& input = arguments[op.inputs[i]];
    lists |= input.list;
    // An absent optional tensor also gets an edge, so that edges and inputs have the same indices.
    if (input.count == 0 && !input.list) add_next_edge({});
    for (std::size_t k = 0; k < input.count; ++k) {
      add_next_edge(gradient_edge(input.first[k]));
    }
  }
  if (!lists) return;
  std::uint32_t end = lead_;
  ends_.reserve(op.input_count);
  for (std::size_t i = 0; i < op.input_count; ++i) {
    const TensorSpan& input = arguments[op.inputs[i]];
    end += input.list ? static_cast<std::uint32_t>(input.count) : 1;
    ends_.push_back(end);
  }
}

Gradients DerivedNode::apply(Gradients gradients) {
  if (takes_zeros()) {
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const Output& output = outputs()[i];
      if (gradients[i].defined() || output.dtype == ScalarType::Undefined) continue;
      gradients[i] = opgen::detail::full(output.sizes, 0,
                                         TensorOptions().dtype(output.dtype).device(output.device));
    }
  }
  Gradients results;
  results.resize(next_edges().size());
  BackwardCall call(*this, results);
  try {
    run(call, OutputGradients(gradients));
  } catch (Error& error) {
    const FunctionSchema& schema = OperatorHandle(op_->slot->entry.load_acquire()).schema();
    const std::string said = " (in the formula of " + schema.full_name() +
                             " for the gradient of '" +
                             schema.arguments[op_->inputs[call.started()]].name + "')";
    error.append(said.data(), said.size());
    throw;
  }
  return results;
}

void DerivedNode::release_saved() {
  internal::Released released;
  const Lock lock(*this);
  release(released);
}

bool BackwardCall::computes(std::size_t i) const noexcept {
  const auto [first, end] = node_.edges_of(i);
  for (std::size_t e = first; e < end; ++e) {
    if (node_.computes(e)) return true;
  }
  return false;
}

void BackwardCall::check_count(std::size_t input, std::size_t given) const {
  const auto [first, end] = node_.edges_of(input);
  OPGEN_CHECK(given == end - first, node_.name(), ": a formula returned ", given,
              " gradients for an argument with ", end - first, " tensors");
}

void BackwardCall::put_tensor(std::size_t input, TensorBase value) {
  if (!value.defined()) return;
  check_count(input, 1);
  results_[node_.edges_of(input).first] = std::move(value);
}

void BackwardCall::put_element(std::size_t input, std::size_t i, const TensorBase& value) {
  results_[node_.edges_of(input).first + i] = value;
}

bool BackwardCall::retain_variables() const noexcept {
  return retains_graph();
}

namespace internal {

SavedVariable::~SavedVariable() = default;

void SavedVariable::save(const TensorBase& tensor) {
  if (!tensor.defined()) return;
  tensor_ = SavedTensor(tensor, false);
  state_ = State::Kept;
}

void SavedVariable::save_output(const TensorBase& tensor) {
  if (!tensor.defined()) return;
  // An output without a gradient does not own the node.
  tensor_ = SavedTensor(tensor, requires_grad(tensor));
  state_ = State::Kept;
}

TensorBase SavedVariable::get(const BackwardCall& call) const {
  DerivedNode& node = call.node();
  SavedTensor saved;
  {
    const DerivedNode::Lock lock(node);
    if (state_ == State::Empty) return {};
    if (state_ == State::Kept) saved = tensor_;
  }
  OPGEN_CHECK(state_ != State::Freed, node.name(),
              ": Trying to backward through the graph a second time: its saved tensors were freed "
              "by the first backward; pass retain_graph=True there");
  return saved.unpack(node);
}

void SavedVariable::release(Released& released) {
  if (state_ != State::Kept) return;
  released.push_back(std::move(tensor_));
  tensor_ = SavedTensor();
  state_ = State::Freed;
}

// ---- The call
// --------------------------------------------------------------------------------------

namespace {

// Passes the gradient on unchanged.
class CloneNode final : public Node {
 public:
  [[nodiscard]] std::string name() const override { return "CloneBackward0"; }
  [[nodiscard]] Gradients apply(Gradients gradients) override { return gradients; }
};

// Copies a new value, which is output 0 of edge 1, into a view.
class CopyNode final : public Node {
 public:
  [[nodiscard]] std::string name() const override { return "CopyBackward0"; }
  [[nodiscard]] Gradients apply(Gradients gradients) override {
    Gradients results;
    results.resize(2);
    results[1] = std::move(gradients[0]);
    return results;
  }
};

bool any_is_view(const TensorSpan& tensors) noexcept {
  for (std::size_t i = 0; i < tensors.count; ++i) {
    if (is_view(tensors.first[i])) return true;
  }
  return false;
}

}  // namespace

CopiedTensors::CopiedTensors() = default;
CopiedTensors::~CopiedTensors() = default;
std::vector<TensorBase>& CopiedTensors::add(std::size_t size) {
  std::vector<TensorBase>& list = lists_.emplace_back();
  list.reserve(size);
  return list;
}

TensorBase clone_with_history(const TensorBase& tensor) {
  TensorBase copy = opgen::detail::clone(tensor);
  if (GradMode::is_enabled() && requires_grad(tensor)) {
    Ref<Node> node = make_node<CloneNode>();
    node->add_next_edge(gradient_edge(tensor));
    set_history(copy, std::move(node));
  }
  return copy;
}

TensorBase clone_with_tangent(const TensorBase& tensor) {
  TensorBase copy = clone_with_history(tensor);
  const TensorBase tangent = tangent_of(tensor);
  if (tangent.defined()) set_tangent(copy, clone_with_history(tangent));
  return copy;
}

const TensorBase& Overwritten::copy() const {
  if (!is_written_) return *this;
  // The operator overwrites the tangent, too.
  if (!copy_.defined() && defined()) copy_ = clone_with_tangent(*this);
  return copy_;
}

namespace {

// Type promotion treats the tangent of a number as a number.
TensorBase as_tangent_of(const TensorBase& tensor, TensorBase zeros) {
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    zeros.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  return zeros;
}

// The options of zeros in place of the tangent that `tensor` does not have: bools cannot be
// subtracted.
TensorOptions options_of_zeros(const TensorBase& tensor) {
  return tensor.scalar_type() == kBool ? tensor.options().dtype(kByte) : tensor.options();
}

}  // namespace

TensorBase tangent_or_zeros(const TensorBase& tensor) {
  if (!tensor.defined()) return {};
  TensorBase tangent = tangent_of(tensor);
  if (tangent.defined()) return tangent;
  // One zero for all elements: cheap, and known as zeros to is_zero_tangent().
  return as_tangent_of(
      tensor, opgen::detail::expand_view(opgen::detail::full({}, 0, options_of_zeros(tensor)),
                                         tensor.sizes()));
}
TensorBase tangent_or_new_zeros(const TensorBase& tensor) {
  TensorBase tangent = tangent_of(tensor);
  if (tangent.defined()) return tangent;
  return as_tangent_of(tensor, opgen::detail::full(tensor.sizes(), 0, options_of_zeros(tensor)));
}

bool is_zero_tangent(const TensorBase& tangent) noexcept {
  if (!tangent.defined()) return true;
  const StorageImpl* storage = tangent.unsafeGetTensorImpl()->storage();
  if (storage == nullptr || !tangent.is_cpu() || storage->nbytes() != tangent.itemsize() ||
      requires_grad(tangent)) {
    return false;
  }
  const auto* bytes = static_cast<const unsigned char*>(tangent.const_data_ptr());
  return std::all_of(bytes, bytes + tangent.itemsize(), [](unsigned char b) { return b == 0; });
}

void throw_no_forward(const DerivedOperator& op) {
  throw_no_forward_formula(full_name(*op.slot));
}

void throw_not_implemented(std::string_view name, std::string_view reason) {
  OPGEN_CHECK_NOT_IMPLEMENTED(false, "the derivative for '", name, "' is not implemented",
                              reason.empty() ? "." : ". ", reason);
  __builtin_unreachable();
}

void throw_no_strides(std::string_view name) {
  OPGEN_CHECK(false, "the gradient of '", name, "' needs strides, but the tensor has none");
  __builtin_unreachable();
}

namespace {
void check_written(const DerivedOperator& op, const TensorSpan* arguments) {
  const auto check = [&](const TensorBase& tensor) { check_inplace(tensor, full_name(*op.slot)); };
  if (op.kind != Kind::writes) return for_each_tensor(arguments[0], check);
  const auto& plan =
      opgen::detail::shared_alias_plan(OperatorHandle(op.slot->entry.load_acquire()).schema());
  for (std::uint16_t i : plan.written) {
    for_each_tensor(arguments[i], check);
    bool is_returned = false;
    for (std::uint16_t returned : plan.returned) is_returned |= returned == i + 1;
    if (is_returned) continue;
    for_each_tensor(arguments[i], [&](const TensorBase& tensor) {
      if (requires_grad(tensor)) throw_no_formula(op, i);
    });
  }
}

// Whether a change of the tensor changes a base whose history would not say so: the tensor is a
// view that was made where nothing is recorded.
bool hides_change(const TensorBase& tensor) noexcept {
  return tensor.unsafeGetTensorImpl()->parts() != nullptr &&
         creation_meta(tensor) != CreationMeta::Default && requires_grad(view_base(tensor));
}

// A call none of whose inputs needs a gradient may still write such a view, and is then refused.
void check_not_hidden(const DerivedOperator& op, const TensorSpan* arguments) {
  if (op.kind == Kind::functional || op.kind == Kind::view) return;
  const std::size_t count =
      op.kind == Kind::writes ? std::size_t(op.input_count) + op.other_count : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = op.kind != Kind::writes ? 0
                           : i < op.input_count    ? op.inputs[i]
                                                   : op.others[i - op.input_count];
    bool hides = false;
    for_each_tensor(arguments[at], [&](const TensorBase& one) { hides |= hides_change(one); });
    if (hides) return check_written(op, arguments);
  }
}

}  // namespace

RecordedCall::RecordedCall(const DerivedOperator& op, const TensorSpan* arguments)
    : op_(op), arguments_(arguments) {
  const bool records = GradMode::is_enabled();
  const bool forward = forward_mode_is_active();
  if (!records && !forward) return;
  for (std::size_t i = 0; i < op.input_count; ++i) {
    const TensorSpan& input = arguments[op.inputs[i]];
    for (const TensorBase* tensor = input.first; tensor != input.first + input.count; ++tensor) {
      if (tensor->unsafeGetTensorImpl()->parts() == nullptr) continue;
      if (records && requires_grad(*tensor)) needs_ |= std::uint64_t(1) << i;
      if (forward && has_tangent(*tensor)) has_tangents_ = true;
    }
  }
  for (std::size_t i = 0; i < op.other_count; ++i) {
    for_each_tensor(arguments[op.others[i]], [&](const TensorBase& tensor) {
      if (records && requires_grad(tensor)) throw_no_formula(op, op.others[i]);
      if (forward && has_tangent(tensor)) has_tangents_ = lacks_forward_ = true;
    });
  }
  if (has_tangents_ && !op.has_forward) lacks_forward_ = true;
  if (records && needs_ == 0) check_not_hidden(op, arguments);
}

RecordedCall::~RecordedCall() {
  leave();
}

void RecordedCall::attach(DerivedNode* node) {
  node_ = Ref<Node>::adopt(node);
  if (op_.kind != Kind::functional && op_.kind != Kind::view) check_written(op_, arguments_);
  node->connect(op_, arguments_);
}

void RecordedCall::check_forward() const {
  if (lacks_forward_) throw_no_forward(op_);
}

void RecordedCall::note_before(bool keeps_value) {
  const TensorBase& self = arguments_[0].first[0];
  before_.tangent = tangent_of(self);
  before_.primal = primal_of(self);
  if (keeps_value) before_.primal = clone_with_history(before_.primal);
}

void RecordedCall::enter() noexcept {
  constexpr DispatchKeySet below_views = kAutogradKeys.add(DispatchKey::ADInplaceOrView);
  const DispatchKeySet skipped = op_.kind == Kind::functional ? below_views : kAutogradKeys;
  kept_keys_ = opgen::detail::local_keys.kept;
  opgen::detail::local_keys.kept =
      kept_keys_ & (~skipped.raw_repr() | DispatchKeySet::backend_bits());
  is_entered_ = true;
}

void RecordedCall::leave() noexcept {
  if (is_entered_) opgen::detail::local_keys.kept = kept_keys_;
  is_entered_ = false;
}

bool RecordedCall::is_written(std::size_t argument) const {
  const FunctionSchema& schema = OperatorHandle(op_.slot->entry.load_acquire()).schema();
  const auto& written = opgen::detail::shared_alias_plan(schema).written;
  return std::find(written.begin(), written.end(), argument) != written.end();
}

bool RecordedCall::is_input(const TensorBase& tensor) const noexcept {
  for (std::size_t i = 0; i < op_.input_count; ++i) {
    const TensorSpan& input = arguments_[op_.inputs[i]];
    for (std::size_t k = 0; k < input.count; ++k) {
      if (input.first[k].is_same(tensor)) return true;
    }
  }
  return false;
}

void RecordedCall::set_outputs(const TensorSpan* outputs, std::size_t count) {
  const DerivedOperator& op = op_;
  const TensorSpan* const arguments = arguments_;
  if (op.kind == Kind::functional && count == 1 && outputs[0].count == 1) {
    const TensorBase& output = outputs[0].first[0];
    if (OPGEN_LIKELY(can_have_gradient(output) && !is_input(output))) {
      is_attached_ = true;
      set_history(output, std::move(node_));
      return;
    }
  }
  OPGEN_CHECK_NOT_IMPLEMENTED(
      op.kind != Kind::inplace || outputs[0].count < 2 || !any_is_view(outputs[0]),
      full_name(*op.slot), " changes several tensors in place, and one of them is a view");
  const bool is_new = op.kind == Kind::functional || op.kind == Kind::view;
  const opgen::detail::AliasPlan* plan = nullptr;
  if (op.kind == Kind::writes) {
    plan =
        &opgen::detail::shared_alias_plan(OperatorHandle(op.slot->entry.load_acquire()).schema());
  }
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t j = 0; j < outputs[k].count; ++j) {
      // The kernel owns what the operator returned.
      TensorBase& output = const_cast<TensorBase&>(outputs[k].first[j]);
      if (!can_have_gradient(output)) {
        node_->add_output({});
        continue;
      }
      is_attached_ = true;
      bool is_inplace = !is_new;
      if (is_new) {
        if (is_input(output)) {
          TensorBase alias = detach(output);
          if (op.kind == Kind::view) mark_view(alias, output, CreationMeta::Default);
          output = std::move(alias);
        }
      } else if (plan != nullptr) {
        is_inplace = false;
        for (std::uint16_t i : plan->written) {
          for_each_tensor(arguments[i], [&](const TensorBase& written) {
            is_inplace |= written.is_same(output);
          });
        }
      }
      const bool is_last = k + 1 == count && j + 1 == outputs[k].count;
      Ref<Node> node = is_last ? std::move(node_) : node_;
      if (op.kind == Kind::inplace_view) {
        set_history(output, std::move(node));
        // Its base has not changed.
        if (ViewPart* view = find_view(output)) {
          view->version = output.unsafeGetTensorImpl()->version();
        }
      } else if (is_inplace) {
        if (plan != nullptr && is_view(output)) {
          // The history of a base has one place for a node, whose first edge is that of the view.
          const std::uint32_t output_nr = node->add_output(output);
          Ref<Node> copy = make_node<CopyNode>();
          copy->add_next_edge({});
          copy->add_next_edge({std::move(node), output_nr});
          node = std::move(copy);
        }
        rebase_history(output, std::move(node));
      } else {
        set_history(output, std::move(node));
      }
    }
  }
}

void check_no_gradient(const OperatorSlot& slot, const TensorSpan* arguments, std::size_t count) {
  const bool records = GradMode::is_enabled();
  for (std::size_t i = 0; i < count; ++i) {
    for_each_tensor(arguments[i], [&](const TensorBase& tensor) {
      OPGEN_CHECK(!records || !requires_grad(tensor),
                  OperatorHandle(slot.entry.load_acquire()).name(),
                  "(): functions with out=... arguments don't support automatic differentiation, "
                  "but one of the arguments requires grad.");
      if (has_tangent(tensor)) throw_no_forward_formula(full_name(slot));
    });
  }
}

}  // namespace internal

namespace {

// Returns the tangent with the sizes and the dtype of the output, as backward() does for gradients.
TensorBase fitted(const TensorBase& tangent, const TensorBase& output) {
  TensorBase result = tangent;
  if (OPGEN_UNLIKELY(result.sizes() != output.sizes())) {
    result = primitive::expand(result, output.sizes());
  }
  if (OPGEN_UNLIKELY(result.scalar_type() != output.scalar_type())) {
    result = primitive::cast(result, output.scalar_type());
  }
  return result;
}

}  // namespace

void ForwardCall::put(std::size_t output, std::size_t i, const TensorBase& tangent) {
  OPGEN_CHECK(i < outputs_[output].count,
              "a formula returned more tangents than there are outputs");
  if (tangent.defined()) given_.push_back({output, i, tangent});
}

void ForwardCall::finish() {
  for (const auto& [output, i, tangent] : given_) {
    const TensorBase& tensor = outputs_[output].first[i];
    if (tensor.defined()) set(tensor, tangent);
  }
}

void ForwardCall::set(const TensorBase& tensor, const TensorBase& given) const {
  // Numbers copied to a tensor of integers.
  if (!internal::is_differentiable(tensor.scalar_type())) return;
  // A view of a tensor with a tangent already has one: a view of that tangent.
  const TensorBase old = tangent_of(tensor);
  if (kind_ == Kind::view && old.defined()) return;
  const TensorBase tangent = fitted(given, tensor);
  // Write in place, so that the tangents of views change, too.
  if (old.defined() && kind_ != Kind::inplace_view &&
      !(GradMode::is_enabled() && (requires_grad(old) || requires_grad(tangent)))) {
    copy_(old, tangent);
    increment_version(old);
    return;
  }
  // If a formula returns an existing tangent unchanged, copy it, so that two tensors do not share
  // it.
  const bool is_fitted = !tangent.is_same(given);
  const bool is_shared = is_fitted ? tangent.is_alias_of(given) : given.use_count() > 2;
  const bool copies = kind_ != Kind::view && kind_ != Kind::inplace_view && is_shared;
  set_tangent(tensor, copies ? internal::clone_with_history(tangent) : tangent);
}

}  // namespace opgen::autograd
