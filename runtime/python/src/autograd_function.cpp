// autograd_function.cpp: autograd.Function: operators whose gradient is written in Python.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "objects.h"
#include "opgen/autograd/primitives.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/factories.h"

namespace opgen::python {

namespace {

using autograd::Gradients;

PyObject* gradient_object(const TensorBase& gradient) {
  return gradient.defined() ? new_tensor(gradient) : Py_NewRef(Py_None);
}

Owned tuple_of_tensors(const std::vector<TensorBase>& tensors) {
  Owned tuple(PyTuple_New(static_cast<Py_ssize_t>(tensors.size())));
  for (std::size_t i = 0; tuple && i < tensors.size(); ++i) {
    PyObject* one = gradient_object(tensors[i]);
    if (one == nullptr) return {};
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), one);
  }
  return tuple;
}

// Calls `backward(ctx, *gradients)` of a class in Python.
class PythonFunctionNode final : public autograd::internal::FunctionNode {
 public:
  PythonFunctionNode(std::string name, PyObject* backward, PyObject* ctx)
      : FunctionNode(std::move(name)), backward_(Py_NewRef(backward)), ctx_(Py_NewRef(ctx)) {}
  ~PythonFunctionNode() override {
    give_back([this] {
      Py_DECREF(backward_);
      Py_DECREF(ctx_);
    });
  }

  // The node that runs on this thread for this object; null if there is none.
  static PythonFunctionNode* find_running(PyObject* ctx) {
    for (PythonFunctionNode* node = running; node != nullptr; node = node->outer_) {
      if (node->ctx_ == ctx) return node;
    }
    return nullptr;
  }

 protected:
  [[nodiscard]] Gradients call_backward(Gradients gradients) override {
    const GilHeld gil;
    Owned arguments(PyTuple_New(static_cast<Py_ssize_t>(gradients.size() + 1)));
    if (!arguments) throw PythonError();
    PyTuple_SET_ITEM(arguments.get(), 0, Py_NewRef(ctx_));
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      PyObject* one = gradient_object(gradients[i]);
      if (one == nullptr) throw PythonError();
      PyTuple_SET_ITEM(arguments.get(), static_cast<Py_ssize_t>(i + 1), one);
    }
    const Running entered(*this);
    Owned result(PyObject_CallObject(backward_, arguments.get()));
    if (!result) throw PythonError();
    return read(result.get());
  }

 private:
  struct Running {
    explicit Running(PythonFunctionNode& node) : outer(running) {
      node.outer_ = running;
      running = &node;
    }
    ~Running() { running = outer; }
    PythonFunctionNode* outer;
  };

  Gradients read(PyObject* result) const {
    Gradients gradients;
    const bool is_one = is_tensor(result) || result == Py_None;
    Owned all(is_one ? PyTuple_Pack(1, result) : PySequence_Tuple(result));
    if (!all) throw PythonError();
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(all.get()); ++i) {
      PyObject* one = PyTuple_GET_ITEM(all.get(), i);
      if (one == Py_None) {
        gradients.push_back({});
        continue;
      }
      if (!is_tensor(one)) {
        PyErr_Format(PyExc_TypeError, "%s returned a %s as gradient %zd, and not a Tensor or None",
                     name().c_str(), Py_TYPE(one)->tp_name, i);
        throw PythonError();
      }
      gradients.push_back(tensor_of(one));
    }
    return gradients;
  }

  static thread_local PythonFunctionNode* running;

  PyObject* backward_;
  PyObject* ctx_;
  PythonFunctionNode* outer_ = nullptr;
};
thread_local PythonFunctionNode* PythonFunctionNode::running = nullptr;

// Reads the tensors of a tuple attribute of `ctx`, None as undefined tensors. Returns false with an
// exception set.
bool read_tensors(PyObject* ctx, const char* attribute, std::vector<TensorBase>& tensors) {
  Owned value(PyObject_GetAttrString(ctx, attribute));
  Owned tuple(value ? PySequence_Tuple(value.get()) : nullptr);
  if (!tuple) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.get()); ++i) {
    PyObject* one = PyTuple_GET_ITEM(tuple.get(), i);
    if (one != Py_None && !is_tensor(one)) {
      PyErr_Format(PyExc_TypeError, "only tensors can be saved or marked, not a %s",
                   Py_TYPE(one)->tp_name);
      return false;
    }
    tensors.push_back(one == Py_None ? TensorBase() : tensor_of(one));
  }
  return true;
}

// Copies what forward() said to the node's context.
bool read_context(PyObject* ctx, autograd::AutogradContext& context) {
  std::vector<TensorBase> saved, dirty, without;
  if (!read_tensors(ctx, "_to_save", saved) || !read_tensors(ctx, "_dirty", dirty) ||
      !read_tensors(ctx, "_non_differentiable", without)) {
    return false;
  }
  Owned materialize(PyObject_GetAttrString(ctx, "_materialize_grads"));
  const int truth = materialize ? PyObject_IsTrue(materialize.get()) : -1;
  if (truth < 0) return false;
  context.save_for_backward(std::move(saved));
  context.mark_dirty(std::move(dirty));
  context.mark_non_differentiable(std::move(without));
  context.set_materialize_grads(truth == 1);
  return true;
}

// Gives each tensor among the outputs its history. Objects whose tensor stays the same are kept.
PyObject* finish(PythonFunctionNode& node, PyObject* output) {
  if (is_tensor(output)) {
    TensorBase tensor = tensor_of(output);
    node.finish({&tensor});
    return tensor.is_same(tensor_of(output)) ? Py_NewRef(output) : new_tensor(std::move(tensor));
  }
  Owned items(PySequence_Tuple(output));
  if (!items) return nullptr;
  const Py_ssize_t count = PyTuple_GET_SIZE(items.get());
  std::vector<TensorBase> tensors;
  tensors.reserve(static_cast<std::size_t>(count));
  std::vector<TensorBase*> handles;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* one = PyTuple_GET_ITEM(items.get(), i);
    if (is_tensor(one)) handles.push_back(&tensors.emplace_back(tensor_of(one)));
  }
  node.finish(handles);
  Owned result(PyTuple_New(count));
  for (Py_ssize_t i = 0, next = 0; result && i < count; ++i) {
    PyObject* one = PyTuple_GET_ITEM(items.get(), i);
    PyObject* made = one;
    if (is_tensor(one)) {
      TensorBase& tensor = tensors[static_cast<std::size_t>(next++)];
      made = tensor.is_same(tensor_of(one)) ? Py_NewRef(one) : new_tensor(std::move(tensor));
      if (made == nullptr) return nullptr;
    } else {
      Py_INCREF(made);
    }
    PyTuple_SET_ITEM(result.get(), i, made);
  }
  return result.release();
}

// _apply_function(name, backward, ctx, forward, arguments)
PyObject* apply_function(PyObject*, PyObject* args) {
  const char* name = nullptr;
  PyObject *backward = nullptr, *ctx = nullptr, *forward = nullptr, *arguments = nullptr;
  if (!PyArg_ParseTuple(args, "sOOOO!:_apply_function", &name, &backward, &ctx, &forward,
                        &PyTuple_Type, &arguments)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    auto node = autograd::make_node<PythonFunctionNode>(name, backward, ctx);
    std::vector<TensorBase> inputs;
    std::vector<bool> is_input;
    const Py_ssize_t count = PyTuple_GET_SIZE(arguments);
    Owned needed(PyTuple_New(count));
    for (Py_ssize_t i = 0; needed && i < count; ++i) {
      PyObject* one = PyTuple_GET_ITEM(arguments, i);
      is_input.push_back(is_tensor(one));
      if (is_tensor(one)) inputs.push_back(tensor_of(one));
      const bool needs =
          is_tensor(one) && GradMode::is_enabled() && autograd::requires_grad(tensor_of(one));
      PyTuple_SET_ITEM(needed.get(), i, PyBool_FromLong(needs ? 1 : 0));
    }
    if (!needed || PyObject_SetAttrString(ctx, "needs_input_grad", needed.get()) != 0) {
      return nullptr;
    }
    node->begin(inputs, std::move(is_input));
    Owned output;
    {
      const NoGradGuard no_grad;
      output = Owned(PyObject_CallObject(forward, arguments));
    }
    if (!output || !read_context(ctx, node->context)) return nullptr;
    return finish(*node, output.get());
  });
}

// _saved_tensors(ctx)
PyObject* saved_tensors(PyObject*, PyObject* ctx) {
  PythonFunctionNode* node = PythonFunctionNode::find_running(ctx);
  if (node == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "saved_tensors can be read while backward() runs only");
    return nullptr;
  }
  return guarded(
      [&] { return tuple_of_tensors(node->context.get_saved_variables<TensorBase>()).release(); });
}

// _stack(tensors, dim): with a history.
PyObject* stack(PyObject*, PyObject* args) {
  PyObject* tensors = nullptr;
  long long dim = 0;
  if (!PyArg_ParseTuple(args, "OL:_stack", &tensors, &dim)) return nullptr;
  Owned tuple(PySequence_Tuple(tensors));
  if (!tuple) return nullptr;
  std::vector<TensorBase> all;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.get()); ++i) {
    PyObject* one = PyTuple_GET_ITEM(tuple.get(), i);
    if (!is_tensor(one)) {
      PyErr_SetString(PyExc_TypeError, "_stack() takes Tensors");
      return nullptr;
    }
    all.push_back(tensor_of(one));
  }
  return guarded([&] { return new_tensor(primitive::stack(all, dim)); });
}
// _clone(tensor): a copy with a history, which is not a view; for dtypes that have gradients.
PyObject* clone(PyObject*, PyObject* tensor) {
  if (!is_tensor(tensor)) {
    PyErr_SetString(PyExc_TypeError, "_clone() takes a Tensor");
    return nullptr;
  }
  return guarded([&] {
    const TensorBase& self = tensor_of(tensor);
    return new_tensor(primitive::add(self, opgen::detail::full(self.sizes(), 0, self.options())));
  });
}
// _select(tensor, dim, index): a view, with a history.
PyObject* select(PyObject*, PyObject* args) {
  PyObject* tensor = nullptr;
  long long dim = 0, index = 0;
  if (!PyArg_ParseTuple(args, "O!LL:_select", types.tensor, &tensor, &dim, &index)) return nullptr;
  return guarded([&] { return new_tensor(primitive::select(tensor_of(tensor), dim, index)); });
}
// _movedim(tensor, from, to): a view, with a history.
PyObject* movedim(PyObject*, PyObject* args) {
  PyObject* tensor = nullptr;
  long long from = 0, to = 0;
  if (!PyArg_ParseTuple(args, "O!LL:_movedim", types.tensor, &tensor, &from, &to)) return nullptr;
  return guarded([&] { return new_tensor(primitive::movedim(tensor_of(tensor), from, to)); });
}

// _unit_like(tensor, i): zeros like it, and 1 at element `i` in row-major order.
PyObject* unit_like(PyObject*, PyObject* args) {
  PyObject* tensor = nullptr;
  long long place = 0;
  if (!PyArg_ParseTuple(args, "O!L:_unit_like", types.tensor, &tensor, &place)) return nullptr;
  return guarded([&] {
    const TensorBase& like = tensor_of(tensor);
    TensorBase unit = opgen::detail::full(like.sizes(), 0, like.options());
    OPGEN_CHECK_INDEX(place >= 0 && place < unit.numel(), "there is no element ", place);
    const TensorBase one = opgen::detail::alias_with_sizes_and_strides(unit, {}, {}, place);
    fill_(one, 1);
    return new_tensor(std::move(unit));
  });
}
// _zeros_of(sizes, tensor): zeros of these sizes, of the dtype and device of the tensor.
PyObject* zeros_of(PyObject*, PyObject* args) {
  PyObject *sizes = nullptr, *tensor = nullptr;
  if (!PyArg_ParseTuple(args, "O!O!:_zeros_of", &PyTuple_Type, &sizes, types.tensor, &tensor)) {
    return nullptr;
  }
  DimVector shape;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sizes); ++i) {
    shape.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(sizes, i)));
  }
  if (PyErr_Occurred() != nullptr) return nullptr;
  return guarded(
      [&] { return new_tensor(opgen::detail::full(shape, 0, tensor_of(tensor).options())); });
}

}  // namespace

PyMethodDef autograd_function_functions[] = {
    {"_apply_function", apply_function, METH_VARARGS, nullptr},
    {"_saved_tensors", saved_tensors, METH_O, nullptr},
    {"_stack", stack, METH_VARARGS, nullptr},
    {"_clone", clone, METH_O, nullptr},
    {"_select", select, METH_VARARGS, nullptr},
    {"_movedim", movedim, METH_VARARGS, nullptr},
    {"_unit_like", unit_like, METH_VARARGS, nullptr},
    {"_zeros_of", zeros_of, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace opgen::python
