// library_operator.cpp: looks up operators by name, calls them boxed, and decides when they are
// needed.
#include "library_operator.h"

#include <algorithm>
#include <utility>

#include "objects.h"
#include "opgen/autograd/autograd.h"
#include "opgen/autograd/forward.h"
#include "opgen/autograd/inplace_or_view.h"
#include "opgen/tensor/copy.h"

namespace opgen::python {

namespace {

// Keys that do not matter when a view is made or an element is read. Autograd is checked
// separately; autocast converts a tensor only where it is used.
constexpr std::uint64_t kQuiet = DispatchKeySet::backend_bits() |
                                 DispatchKeySet::functionality_bit(DispatchKey::Dense) |
                                 (kDefaultIncludedKeys | kAutogradKeys)
                                     .add(DispatchKey::AutocastCPU)
                                     .add(DispatchKey::AutocastXPU)
                                     .add(DispatchKey::AutocastCUDA)
                                     .raw_repr();

LibraryOperator item_operator("aten::item", "", "item() of a tensor that is traced or batched");

}  // namespace

bool LibraryOperator::exists() {
  if (!found_) found_ = Dispatcher::singleton().findSchema(name_, overload_);
  return found_.has_value();
}

IValue LibraryOperator::call(Stack arguments) {
  OPGEN_CHECK_NOT_IMPLEMENTED(exists(), use_, " calls the operator ", name_,
                              *overload_ == 0 ? "" : ".", overload_,
                              ", which no imported library has");
  bool release = false;
  for (const IValue& value : arguments) {
    release = release || (value.isTensor() && value.toTensor().numel() >= kWorthReleasing);
  }
  const GilRelease released(release);
  found_->call_boxed(arguments);
  return arguments.empty() ? IValue() : std::move(arguments[0]);
}

namespace {
DispatchKeySet keys_of_call(const TensorBase& tensor) {
  return opgen::detail::with_local_keys(tensor.key_set().raw_repr());
}
}  // namespace

bool needs_operators(const TensorBase& tensor) {
  if ((keys_of_call(tensor).raw_repr() & ~kQuiet) != 0) return true;
  return (GradMode::is_enabled() && autograd::requires_grad(tensor)) ||
         autograd::has_tangent(tensor);
}
bool is_transformed(const TensorBase& tensor) {
  return !tensor.has_storage() || keys_of_call(tensor).has(DispatchKey::Tracer);
}

TensorBase recorded_view(TensorBase view, const TensorBase& from) {
  // Integers have neither gradients nor tangents.
  const ScalarType type = from.scalar_type();
  if (isFloatingType(type) || isComplexType(type)) record_view(view, from);
  return view;
}

void check_elements_read(const TensorBase& tensor, const char* what) {
  OPGEN_CHECK(!autograd::has_tangent(tensor), what,
              " would lose the tangent of the tensor: pass forward_ad.unpack_dual(tensor).primal");
  if (keys_of_call(tensor).has(DispatchKey::Tracer)) {
    OPGEN_WARN("a trace does not record ", what,
               ": values computed from it become constants of the graph");
  }
}

Scalar item_of(const TensorBase& tensor) {
  if (needs_operators(tensor) && (item_operator.exists() || !tensor.has_storage())) {
    return item_operator.call({tensor}).toScalar();
  }
  return opgen::item(tensor);
}

}  // namespace opgen::python
