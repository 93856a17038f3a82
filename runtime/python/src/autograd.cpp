// autograd.cpp: gradients from Python: attributes and methods of class Tensor, and the functions
// behind the package's module autograd. Checks that PyTorch makes too have PyTorch's messages.
#include "opgen/autograd/autograd.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <vector>

#include "library_operator.h"
#include "objects.h"
#include "opgen/autograd/anomaly.h"
#include "opgen/autograd/forward.h"
#include "opgen/autograd/inplace_or_view.h"
#include "opgen/autograd/primitives.h"
#include "opgen/tensor/factories.h"
#include "values.h"

namespace opgen::python {

namespace {

using autograd::Gradients;

bool is_differentiable(ScalarType type) noexcept {
  return isFloatingType(type) || isComplexType(type);
}

PyObject* raise(PyObject* kind, const char* text) {
  PyErr_SetString(kind, text);
  return nullptr;
}

// ---- Attributes ---------------------------------------------------------------------------------

PyObject* requires_grad(PyObject* self, void*) {
  return PyBool_FromLong(autograd::requires_grad(tensor_of(self)) ? 1 : 0);
}
int change_requires_grad(PyObject* self, PyObject* value, void*) {
  if (value == nullptr || !PyBool_Check(value)) {
    PyErr_SetString(PyExc_RuntimeError, "requires_grad must be a bool");
    return -1;
  }
  const auto set = [&] {
    set_requires_grad(tensor_of(self), value == Py_True, AskedBy::Attribute);
    return Py_None;
  };
  return guarded(set) == nullptr ? -1 : 0;
}

PyObject* is_leaf(PyObject* self, void*) {
  return guarded([&] { return PyBool_FromLong(autograd::is_leaf(tensor_of(self)) ? 1 : 0); });
}

PyObject* grad(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    TensorBase gradient = autograd::grad_of(tensor_of(self));
    if (!gradient.defined()) Py_RETURN_NONE;
    return new_tensor(std::move(gradient));
  });
}

void check_gradient(const TensorBase& tensor, const TensorBase& gradient) {
  OPGEN_CHECK(!gradient.is_same(tensor), "can't assign Variable as its own grad");
  if (gradient.scalar_type() != tensor.scalar_type()) {
    std::string given = toString(gradient.scalar_type());
    std::transform(given.begin(), given.end(), given.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    OPGEN_CHECK(false, "attempting to assign a gradient with dtype '", given,
                "' to a tensor with grad_dtype '", toString(tensor.scalar_type()),
                "'. The gradient must match the tensor's dtype.");
  }
  OPGEN_CHECK(gradient.device().type() == tensor.device().type(),
              "attempting to assign a gradient with device type '",
              toString(gradient.device().type()), "' to a tensor with device type '",
              toString(tensor.device().type()),
              "'. Please ensure that the gradient and the tensor are on the same device");
  OPGEN_CHECK(gradient.sizes() == tensor.sizes(), "attempting to assign a gradient of size '",
              gradient.sizes(), "' to a tensor of size '", tensor.sizes(),
              "'. Please ensure that the gradient and the tensor are the same size");
}

int change_grad(PyObject* self, PyObject* value, void*) {
  const auto set = [&]() -> PyObject* {
    const TensorBase& tensor = tensor_of(self);
    if (value == nullptr || value == Py_None) {
      autograd::set_grad(tensor, TensorBase());
      return Py_None;
    }
    if (!is_tensor(value)) {
      return PyErr_Format(PyExc_TypeError,
                          "assigned grad expected to be a Tensor or None but got grad of type %s",
                          Py_TYPE(value)->tp_name);
    }
    check_gradient(tensor, tensor_of(value));
    autograd::set_grad(tensor, tensor_of(value));
    return Py_None;
  };
  return guarded(set) == nullptr ? -1 : 0;
}

PyObject* grad_fn(PyObject* self, void*) {
  return guarded([&] { return new_node(autograd::grad_fn(tensor_of(self))); });
}
PyObject* output_nr(PyObject* self, void*) {
  return guarded([&] {
    const TensorBase& tensor = tensor_of(self);
    const bool leaf = autograd::is_leaf(tensor);
    return PyLong_FromUnsignedLong(leaf ? 0 : autograd::gradient_edge(tensor).input_nr);
  });
}

// ---- Methods ------------------------------------------------------------------------------------

PyObject* requires_grad_(PyObject* self, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"requires_grad", nullptr};
  PyObject* value = Py_True;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:requires_grad_", const_cast<char**>(names),
                                   &value)) {
    return nullptr;
  }
  if (!PyBool_Check(value)) {
    return PyErr_Format(PyExc_TypeError,
                        "requires_grad_(): argument 'requires_grad' (position 1) must be bool, "
                        "not %s",
                        Py_TYPE(value)->tp_name);
  }
  return guarded([&] {
    set_requires_grad(tensor_of(self), value == Py_True, AskedBy::Method);
    return Py_NewRef(self);
  });
}

LibraryOperator detach_operator("aten::detach", "", "detach() of a traced or batched tensor");
PyObject* detach(PyObject* self, PyObject*) {
  return guarded([&] {
    const TensorBase& tensor = tensor_of(self);
    return new_tensor(is_transformed(tensor) ? detach_operator.call({tensor}).toTensor()
                                             : autograd::detach(tensor));
  });
}
PyObject* detach_(PyObject* self, PyObject*) {
  return guarded([&] {
    const TensorBase& tensor = tensor_of(self);
    const bool is_tracked = is_view(tensor) && (autograd::requires_grad(tensor) ||
                                                autograd::requires_grad(view_base(tensor)));
    OPGEN_CHECK(!is_tracked, "Can't detach views in-place. Use detach() instead.");
    autograd::detach_(tensor);
    return Py_NewRef(self);
  });
}
PyObject* is_inference(PyObject* self, PyObject*) {
  return PyBool_FromLong(tensor_of(self).is_inference() ? 1 : 0);
}

// ---- Backward -----------------------------------------------------------------------------------

struct Backward {
  std::vector<TensorBase> roots;
  Gradients gradients;
  bool retain_graph = false;
  bool create_graph = false;
  bool takes_inputs = false;  // backward(inputs=...), or grad()
  std::vector<TensorBase> inputs;
};

TensorBase ones_for(const TensorBase& root) {
  OPGEN_CHECK(root.numel() == 1, "grad can be implicitly created only for scalar outputs");
  OPGEN_CHECK(isFloatingType(root.scalar_type()),
              "grad can be implicitly created only for real scalar outputs but got ",
              dtype_name(root.scalar_type()));
  return opgen::detail::full(root.sizes(), 1, root.options());
}

// Adds a tensor to differentiate, with its weight. Returns false with an exception set.
bool add_root(Backward& backward, PyObject* object, PyObject* gradient) {
  if (!is_tensor(object)) {
    PyErr_Format(PyExc_TypeError, "expected Tensors to differentiate, but got %s",
                 Py_TYPE(object)->tp_name);
    return false;
  }
  const std::size_t i = backward.roots.size();
  const TensorBase& root = tensor_of(object);
  if (gradient == nullptr || gradient == Py_None) {
    if (autograd::requires_grad(root)) backward.gradients.push_back(ones_for(root));
  } else if (!is_tensor(gradient)) {
    PyErr_Format(PyExc_TypeError, "gradients can be either Tensors or None, but got %s",
                 Py_TYPE(gradient)->tp_name);
    return false;
  } else {
    const TensorBase& given = tensor_of(gradient);
    OPGEN_CHECK(given.sizes() == root.sizes(), "Mismatch in shape: grad_output[", i,
                "] has a shape of ", given.sizes(), " and output[", i, "] has a shape of ",
                root.sizes(), ".");
    OPGEN_CHECK(isComplexType(given.scalar_type()) == isComplexType(root.scalar_type()),
                "For complex Tensors, both grad_output and output are required to have the same "
                "dtype. Mismatch in dtype: grad_output[",
                i, "] has a dtype of ", dtype_name(given.scalar_type()), " and output[", i,
                "] has a dtype of ", dtype_name(root.scalar_type()), ".");
    backward.gradients.push_back(opgen::primitive::cast(given, root.scalar_type()));
  }
  OPGEN_CHECK(autograd::requires_grad(root), "element ", i,
              " of tensors does not require grad and does not have a grad_fn");
  backward.roots.push_back(root);
  return true;
}

// Reads one tensor, or a sequence of tensors. Returns false with an exception set.
bool read_inputs(Backward& backward, PyObject* inputs, const char* caller) {
  backward.takes_inputs = true;
  if (is_tensor(inputs)) {
    backward.inputs.push_back(tensor_of(inputs));
    return true;
  }
  Owned items(PySequence_Tuple(inputs));
  if (!items) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.get(), i);
    if (!is_tensor(item)) {
      PyErr_Format(PyExc_RuntimeError, "all inputs have to be Tensors, but got %s",
                   Py_TYPE(item)->tp_name);
      return false;
    }
    backward.inputs.push_back(tensor_of(item));
  }
  OPGEN_CHECK(!backward.inputs.empty(), "`inputs` argument to `", caller, "()` cannot be empty.");
  return true;
}

Gradients gradients_of_inputs(const Backward& backward) {
  return autograd::grad(backward.roots, backward.inputs, backward.gradients, backward.retain_graph,
                        backward.create_graph, true);
}

// Adds a gradient to tensor.grad, as backward() does for a leaf.
void accumulate(const TensorBase& tensor, const TensorBase& gradient) {
  if (!gradient.defined()) return;
  if (autograd::is_leaf(tensor)) {
    Gradients one;
    one.push_back(gradient);
    (void)autograd::gradient_edge(tensor).function->apply(std::move(one));
    return;
  }
  const TensorBase before = autograd::grad_of(tensor);
  autograd::set_grad(tensor, before.defined() ? primitive::add(before, gradient) : gradient);
}

// Runs without the GIL; hooks that are Python functions acquire it.
void run_backward(const Backward& backward) {
  for (const TensorBase& input : backward.inputs) {
    OPGEN_CHECK(autograd::requires_grad(input),
                "One of the differentiated Tensors does not require grad");
  }
  const GilRelease released(true);
  if (!backward.takes_inputs) {
    autograd::backward(backward.roots, backward.gradients, backward.retain_graph,
                       backward.create_graph);
    return;
  }
  const Gradients found = gradients_of_inputs(backward);
  const AutoGradMode mode(backward.create_graph);
  for (std::size_t i = 0; i < found.size(); ++i) accumulate(backward.inputs[i], found[i]);
}

// Reads a bool, or None for the default. Returns false with an exception set.
bool read_flag(PyObject* object, bool otherwise, bool& value) {
  const int truth = object == Py_None ? (otherwise ? 1 : 0) : PyObject_IsTrue(object);
  value = truth == 1;
  return truth >= 0;
}

// backward(gradient=None, retain_graph=None, create_graph=False, inputs=None)
PyObject* backward(PyObject* self, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"gradient", "retain_graph", "create_graph", "inputs", nullptr};
  PyObject* gradient = Py_None;
  PyObject* retain_graph = Py_None;
  PyObject* create_graph = Py_False;
  PyObject* inputs = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OOOO:backward", const_cast<char**>(names),
                                   &gradient, &retain_graph, &create_graph, &inputs)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    Backward call;
    if (!read_flag(create_graph, false, call.create_graph) ||
        !read_flag(retain_graph, call.create_graph, call.retain_graph)) {
      return nullptr;
    }
    if (inputs != Py_None && !read_inputs(call, inputs, "backward")) return nullptr;
    if (!add_root(call, self, gradient)) return nullptr;
    run_backward(call);
    Py_RETURN_NONE;
  });
}

bool read_roots(Backward& call, PyObject* tensors, PyObject* gradients) {
  if (gradients != Py_None && PyTuple_GET_SIZE(gradients) != PyTuple_GET_SIZE(tensors)) {
    PyErr_Format(PyExc_RuntimeError, "got %zd tensors and %zd gradients", PyTuple_GET_SIZE(tensors),
                 PyTuple_GET_SIZE(gradients));
    return false;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors); ++i) {
    PyObject* gradient = gradients == Py_None ? nullptr : PyTuple_GET_ITEM(gradients, i);
    if (!add_root(call, PyTuple_GET_ITEM(tensors, i), gradient)) return false;
  }
  return true;
}

// _backward(tensors, gradients | None, retain_graph, create_graph, inputs | None)
PyObject* backward_of_all(PyObject*, PyObject* args) {
  PyObject* tensors = nullptr;
  PyObject* gradients = nullptr;
  PyObject* inputs = nullptr;
  int retain_graph = 0;
  int create_graph = 0;
  if (!PyArg_ParseTuple(args, "O!OppO:_backward", &PyTuple_Type, &tensors, &gradients,
                        &retain_graph, &create_graph, &inputs)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    Backward call;
    call.retain_graph = retain_graph != 0;
    call.create_graph = create_graph != 0;
    if (inputs != Py_None && !read_inputs(call, inputs, "backward")) return nullptr;
    if (!read_roots(call, tensors, gradients)) return nullptr;
    if (!call.roots.empty()) run_backward(call);
    Py_RETURN_NONE;
  });
}

// _grad(outputs, inputs, gradients | None, retain_graph, create_graph, allow_unused, zeros)
PyObject* grad_of_all(PyObject*, PyObject* args) {
  PyObject* outputs = nullptr;
  PyObject* inputs = nullptr;
  PyObject* gradients = nullptr;
  int retain_graph = 0;
  int create_graph = 0;
  int allow_unused = 0;
  int zeros = 0;
  if (!PyArg_ParseTuple(args, "O!O!Opppp:_grad", &PyTuple_Type, &outputs, &PyTuple_Type, &inputs,
                        &gradients, &retain_graph, &create_graph, &allow_unused, &zeros)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    Backward call;
    call.retain_graph = retain_graph != 0;
    call.create_graph = create_graph != 0;
    if (!read_inputs(call, inputs, "grad") || !read_roots(call, outputs, gradients)) return nullptr;
    for (const TensorBase& input : call.inputs) {
      OPGEN_CHECK(autograd::requires_grad(input),
                  "One of the differentiated Tensors does not require grad");
    }
    Gradients found;
    {
      const GilRelease released(true);
      found = gradients_of_inputs(call);
    }
    Owned tuple(PyTuple_New(static_cast<Py_ssize_t>(found.size())));
    for (std::size_t i = 0; tuple && i < found.size(); ++i) {
      if (!found[i].defined() && zeros != 0) {
        found[i] = opgen::detail::full(call.inputs[i].sizes(), 0, call.inputs[i].options());
      }
      OPGEN_CHECK(found[i].defined() || allow_unused != 0, "The differentiated Tensor at index ", i,
                  " appears to not have been used in the graph. Set allow_unused=True if this is "
                  "the desired behavior.");
      PyObject* one = found[i].defined() ? new_tensor(std::move(found[i])) : Py_NewRef(Py_None);
      if (one == nullptr) return nullptr;
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), one);
    }
    return tuple.release();
  });
}

PyObject* gradient_node(PyObject*, PyObject* tensor) {
  if (!is_tensor(tensor)) return raise(PyExc_TypeError, "_gradient_node() takes a Tensor");
  return guarded([&] { return new_node(autograd::gradient_edge(tensor_of(tensor)).function); });
}
PyObject* filled_like(PyObject* tensor, int value) {
  if (!is_tensor(tensor)) return raise(PyExc_TypeError, "a Tensor is expected");
  return guarded([&] {
    const TensorBase& like = tensor_of(tensor);
    return new_tensor(opgen::detail::full(like.sizes(), value, like.options()));
  });
}
PyObject* zeros_like(PyObject*, PyObject* tensor) {
  return filled_like(tensor, 0);
}
PyObject* ones_like(PyObject*, PyObject* tensor) {
  return filled_like(tensor, 1);
}

// ---- Forward mode -------------------------------------------------------------------------------

std::unique_ptr<autograd::ForwardLevel>& forward_level() {
  thread_local std::unique_ptr<autograd::ForwardLevel> level;
  return level;
}
PyObject* forward_level_is_open(PyObject*, PyObject*) {
  return PyBool_FromLong(forward_level() != nullptr ? 1 : 0);
}
PyObject* open_forward_level(PyObject*, PyObject*) {
  if (forward_level() != nullptr) {
    return raise(PyExc_RuntimeError, "Nested forward mode AD is not supported at the moment");
  }
  return guarded([] {
    forward_level() = std::make_unique<autograd::ForwardLevel>();
    return Py_NewRef(Py_None);
  });
}
PyObject* close_forward_level(PyObject*, PyObject*) {
  if (forward_level() == nullptr) {
    return raise(PyExc_RuntimeError, "Dual level must be a positive number.");
  }
  return guarded([] {
    const auto closed = std::move(forward_level());
    return Py_NewRef(Py_None);
  });
}
// _make_dual(tensor, tangent)
PyObject* make_dual(PyObject*, PyObject* args) {
  PyObject* tensor = nullptr;
  PyObject* tangent = nullptr;
  if (!PyArg_ParseTuple(args, "O!O!:make_dual", types.tensor, &tensor, types.tensor, &tangent)) {
    return nullptr;
  }
  return guarded([&] {
    const TensorBase& primal = tensor_of(tensor);
    const TensorBase& direction = tensor_of(tangent);
    OPGEN_CHECK(!autograd::has_tangent(primal),
                "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
                "same level 0 is not supported.");
    OPGEN_CHECK(primal.sizes() == direction.sizes(),
                "Trying to set a forward gradient that has a different size than that of the "
                "original Tensor, this is not supported. Tensor is of size ",
                primal.sizes(), " while the given forward gradient is of size ", direction.sizes(),
                ".");
    return new_tensor(autograd::make_dual(primal, direction));
  });
}
PyObject* unpack_dual(PyObject*, PyObject* tensor) {
  if (!is_tensor(tensor)) return raise(PyExc_TypeError, "unpack_dual() takes a Tensor");
  return guarded([&]() -> PyObject* {
    autograd::Dual dual = autograd::unpack_dual(tensor_of(tensor));
    Owned primal(new_tensor(std::move(dual.primal)));
    Owned tangent(dual.tangent.defined() ? new_tensor(std::move(dual.tangent))
                                         : Py_NewRef(Py_None));
    return primal && tangent ? PyTuple_Pack(2, primal.get(), tangent.get()) : nullptr;
  });
}

// ---- Anomaly mode -------------------------------------------------------------------------------

PyObject* set_anomaly(PyObject*, PyObject* args) {
  int enabled = 0;
  int check_nan = 1;
  if (!PyArg_ParseTuple(args, "pp:_set_anomaly", &enabled, &check_nan)) return nullptr;
  return guarded([&] {
    autograd::set_anomaly_enabled(enabled != 0, check_nan != 0);
    return Py_NewRef(Py_None);
  });
}
PyObject* is_anomaly_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(autograd::is_anomaly_enabled() ? 1 : 0);
}
PyObject* anomaly_checks_nan(PyObject*, PyObject*) {
  return PyBool_FromLong(autograd::anomaly_checks_nan() ? 1 : 0);
}

// ---- Modes --------------------------------------------------------------------------------------

PyObject* is_grad_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(GradMode::is_enabled() ? 1 : 0);
}
PyObject* is_grad_set(PyObject*, PyObject*) {
  return PyBool_FromLong(GradMode::is_set() ? 1 : 0);
}
PyObject* set_grad_enabled(PyObject*, PyObject* value) {
  const int enabled = PyObject_IsTrue(value);
  if (enabled < 0) return nullptr;
  GradMode::set_enabled(enabled == 1);
  Py_RETURN_NONE;
}
PyObject* is_inference_mode_enabled(PyObject*, PyObject*) {
  return PyBool_FromLong(InferenceMode::is_enabled() ? 1 : 0);
}

// The scopes that this thread has entered, innermost last. The end of a scope restores the state
// before it.
std::vector<std::unique_ptr<InferenceMode>>& inference_scopes() {
  thread_local std::vector<std::unique_ptr<InferenceMode>> all;
  return all;
}
PyObject* enter_inference(PyObject*, PyObject* value) {
  const int enabled = PyObject_IsTrue(value);
  if (enabled < 0) return nullptr;
  return guarded([&] {
    inference_scopes().push_back(std::make_unique<InferenceMode>(enabled == 1));
    return PyLong_FromSize_t(inference_scopes().size());
  });
}
PyObject* leave_inference(PyObject*, PyObject* depth) {
  const std::size_t entered = PyLong_AsSize_t(depth);
  if (PyErr_Occurred() != nullptr) return nullptr;
  if (entered != inference_scopes().size()) {
    return raise(
        PyExc_RuntimeError,
        "leave a scope of inference_mode in the thread that entered it, the innermost scope first");
  }
  inference_scopes().pop_back();
  Py_RETURN_NONE;
}

}  // namespace

void set_requires_grad(const TensorBase& tensor, bool value, AskedBy by) {
  OPGEN_CHECK(value || autograd::is_leaf(tensor),
              "you can only change requires_grad flags of leaf variables. If you want to use a "
              "computed variable in a subgraph that doesn't require differentiation use "
              "var_no_grad = var.detach().");
  if (!autograd::is_leaf(tensor)) {
    OPGEN_CHECK(by != AskedBy::Attribute,
                "you can only change requires_grad flags of leaf variables.");
    return;
  }
  constexpr const char* kWords[] = {"only Tensors of floating point and complex dtype",
                                    "only Tensors of floating point dtype",
                                    "Only Tensors of floating point and complex dtype"};
  OPGEN_CHECK(!value || is_differentiable(tensor.scalar_type()), kWords[static_cast<int>(by)],
              " can require gradients");
  OPGEN_CHECK(!value || !tensor.is_inference() || InferenceMode::is_enabled(),
              "Setting requires_grad=True on inference tensor outside InferenceMode is not "
              "allowed.");
  autograd::set_requires_grad(tensor, value);
}

int make_autograd_types(PyObject* module, const char* package) {
  if (types.node == nullptr) {
    if (make_node_type() != 0 || make_handle_type() != 0) return -1;
    Owned name(PyUnicode_FromFormat("%s.autograd.graph", package));
    for (PyTypeObject* type : {types.node, types.handle}) {
      PyObject* object = reinterpret_cast<PyObject*>(type);
      if (!name || PyObject_SetAttrString(object, "__module__", name.get()) != 0) return -1;
    }
  }
  PyObject* handle = reinterpret_cast<PyObject*>(types.handle);
  if (PyModule_AddObjectRef(module, "_RemovableHandle", handle) != 0) return -1;
  return PyModule_AddObjectRef(module, "_Node", reinterpret_cast<PyObject*>(types.node));
}

PyGetSetDef autograd_attributes[] = {
    {"requires_grad", requires_grad, change_requires_grad,
     "Whether backward() computes a gradient for the tensor.", nullptr},
    {"grad", grad, change_grad,
     "The gradient that backward() has accumulated, or None. Assign None to reset it.", nullptr},
    {"grad_fn", grad_fn, nullptr, "The recorded operator that made the tensor; None for a leaf.",
     nullptr},
    {"is_leaf", is_leaf, nullptr, "Whether the tensor is a leaf: no recorded operator made it.",
     nullptr},
    {"output_nr", output_nr, nullptr, "The index of the tensor among the outputs of grad_fn.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef autograd_methods[] = {
    {"requires_grad_", as_method(&requires_grad_), METH_VARARGS | METH_KEYWORDS,
     "Sets whether backward() computes a gradient for the tensor. Returns the tensor."},
    {"backward", as_method(&backward), METH_VARARGS | METH_KEYWORDS,
     "Adds the gradient of this tensor to the .grad of every leaf that it depends on. A tensor of "
     "several elements needs `gradient`, with a weight for each element. The graph can be used "
     "only once, unless retain_graph is True. With create_graph, the gradients can be "
     "differentiated again. With `inputs`, only these tensors get a gradient."},
    {"detach", detach, METH_NOARGS, "Returns a tensor on the same bytes, without history."},
    {"detach_", detach_, METH_NOARGS, "Removes the tensor's history: it becomes a leaf."},
    {"is_inference", is_inference, METH_NOARGS,
     "Returns whether the tensor was made in inference mode."},
    {nullptr, nullptr, 0, nullptr}};
PyMethodDef autograd_functions[] = {
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS,
     "is_grad_enabled(): whether this thread records operators for gradients."},
    {"is_inference_mode_enabled", is_inference_mode_enabled, METH_NOARGS,
     "is_inference_mode_enabled(): whether this thread is in inference mode."},
    {"_is_grad_set", is_grad_set, METH_NOARGS, nullptr},
    {"_set_grad_enabled", set_grad_enabled, METH_O, nullptr},
    {"_enter_inference_mode", enter_inference, METH_O, nullptr},
    {"_leave_inference_mode", leave_inference, METH_O, nullptr},
    {"_backward", backward_of_all, METH_VARARGS, nullptr},
    {"_grad", grad_of_all, METH_VARARGS, nullptr},
    {"_forward_level_is_open", forward_level_is_open, METH_NOARGS, nullptr},
    {"_open_forward_level", open_forward_level, METH_NOARGS, nullptr},
    {"_close_forward_level", close_forward_level, METH_NOARGS, nullptr},
    {"_make_dual", make_dual, METH_VARARGS, nullptr},
    {"_unpack_dual", unpack_dual, METH_O, nullptr},
    {"_set_anomaly", set_anomaly, METH_VARARGS, nullptr},
    {"is_anomaly_enabled", is_anomaly_enabled, METH_NOARGS,
     "is_anomaly_enabled(): whether anomaly mode is on."},
    {"is_anomaly_check_nan_enabled", anomaly_checks_nan, METH_NOARGS,
     "is_anomaly_check_nan_enabled(): whether anomaly mode, if it is on, looks for NaN."},
    {"_gradient_node", gradient_node, METH_O, nullptr},
    {"_zeros_like", zeros_like, METH_O, nullptr},
    {"_ones_like", ones_like, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace opgen::python
