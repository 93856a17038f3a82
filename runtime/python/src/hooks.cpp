// hooks.cpp: Python functions that backward() calls during the backward pass, and the handles that
// remove them.
#include "opgen/autograd/hooks.h"

#include <memory>
#include <new>
#include <string>
#include <utility>

#include "objects.h"

namespace opgen::python {

namespace {

using autograd::Gradients;
using autograd::HookHandle;

// ---- Handles ------------------------------------------------------------------------------------

struct HandleObject {
  PyObject_HEAD HookHandle handle;
  long long id;
};
HandleObject* handle_of(PyObject* self) {
  return reinterpret_cast<HandleObject*>(self);
}
PyTypeObject* handle_type;

PyObject* new_handle(HookHandle handle) {
  static long long next_id = 0;
  PyObject* self = handle_type->tp_alloc(handle_type, 0);
  if (self == nullptr) return nullptr;
  new (&handle_of(self)->handle) HookHandle(std::move(handle));
  handle_of(self)->id = next_id++;
  return self;
}
void free_handle(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  handle_of(self)->handle.~HookHandle();
  type->tp_free(self);
  Py_DECREF(type);
}
PyObject* remove_hook(PyObject* self, PyObject*) {
  return guarded([&] {
    handle_of(self)->handle.remove();
    return Py_NewRef(Py_None);
  });
}
PyObject* enter_handle(PyObject* self, PyObject*) {
  return Py_NewRef(self);
}
PyObject* handle_id(PyObject* self, void*) {
  return PyLong_FromLongLong(handle_of(self)->id);
}
PyGetSetDef handle_attributes[] = {
    {"id", handle_id, nullptr, "The handle's unique number.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef handle_methods[] = {
    {"remove", remove_hook, METH_NOARGS, "Removes the hook, if it is still there."},
    {"__enter__", enter_handle, METH_NOARGS, nullptr},
    {"__exit__", remove_hook, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot handle_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(&free_handle)},
    {Py_tp_getset, handle_attributes},
    {Py_tp_methods, handle_methods},
    {Py_tp_doc, const_cast<char*>("Removes a hook: call remove(), or leave the with block.")},
    {0, nullptr}};
PyType_Spec handle_spec = {"opgen.RemovableHandle", sizeof(HandleObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, handle_slots};

// ---- Calls --------------------------------------------------------------------------------------

// A Python function. C++ code may copy and destroy it on any thread, without the GIL.
class Callable {
 public:
  explicit Callable(PyObject* function)
      : function_(Py_NewRef(function),
                  [](PyObject* held) { give_back([held] { Py_DECREF(held); }); }) {}

  // Calls the function. Throws PythonError if it raises. Needs the GIL.
  template <class... A>
  [[nodiscard]] Owned call(const A&... arguments) const {
    if (!(... && static_cast<bool>(arguments))) throw PythonError();
    Owned result(PyObject_CallFunctionObjArgs(function_.get(), arguments.get()..., nullptr));
    if (!result) throw PythonError();
    return result;
  }
  // Throws a Python exception.
  [[noreturn]] void fail(PyObject* kind, const std::string& text) const {
    PyErr_SetString(kind, text.c_str());
    throw PythonError();
  }
  [[nodiscard]] std::string name() const {
    Owned name(PyObject_GetAttrString(function_.get(), "__name__"));
    const char* text = name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8(name.get()) : nullptr;
    PyErr_Clear();
    return text != nullptr ? text : Py_TYPE(function_.get())->tp_name;
  }

 private:
  std::shared_ptr<PyObject> function_;
};

PyObject* gradient_object(const TensorBase& gradient) {
  return gradient.defined() ? new_tensor(gradient) : Py_NewRef(Py_None);
}
Owned tuple_of_gradients(const Gradients& gradients) {
  Owned tuple(PyTuple_New(static_cast<Py_ssize_t>(gradients.size())));
  for (std::size_t i = 0; tuple && i < gradients.size(); ++i) {
    PyObject* one = gradient_object(gradients[i]);
    if (one == nullptr) return {};
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), one);
  }
  return tuple;
}

std::string type_of(const TensorBase& tensor) {
  return std::string(toString(tensor.scalar_type())) + " on " + toString(tensor.device().type());
}

// Reads the gradient that a hook returned to replace `before`.
TensorBase read_gradient(const Callable& hook, PyObject* object, const TensorBase& before) {
  if (object == Py_None) return {};
  if (!is_tensor(object)) {
    hook.fail(PyExc_TypeError, std::string("expected Variable, but hook returned '") +
                                   Py_TYPE(object)->tp_name + "'");
  }
  const TensorBase& after = tensor_of(object);
  if (!before.defined()) return after;
  if (after.scalar_type() != before.scalar_type() || after.device() != before.device()) {
    hook.fail(PyExc_RuntimeError, "hook '" + hook.name() + "' has changed the type of value (was " +
                                      type_of(before) + " got " + type_of(after) + ")");
  }
  if (after.sizes() != before.sizes()) {
    hook.fail(PyExc_RuntimeError, "hook '" + hook.name() + "' has changed the size of value");
  }
  return after;
}

// Reads the gradients that a hook returned to replace `before`. Returns none if it returned None.
Gradients read_gradients(const Callable& hook, PyObject* object, const Gradients& before) {
  Gradients after;
  if (object == Py_None) return after;
  if (is_tensor(object) && before.size() == 1) {
    after.push_back(read_gradient(hook, object, before[0]));
    return after;
  }
  if (!PyTuple_Check(object)) {
    hook.fail(PyExc_TypeError,
              std::string("expected tuple, but hook returned '") + Py_TYPE(object)->tp_name + "'");
  }
  const std::size_t count = static_cast<std::size_t>(PyTuple_GET_SIZE(object));
  if (count != before.size()) {
    hook.fail(PyExc_RuntimeError,
              "hook '" + hook.name() + "' has returned an incorrect number of values (got " +
                  std::to_string(count) + ", but expected " + std::to_string(before.size()) + ")");
  }
  for (std::size_t i = 0; i < count; ++i) {
    after.push_back(
        read_gradient(hook, PyTuple_GET_ITEM(object, static_cast<Py_ssize_t>(i)), before[i]));
  }
  return after;
}

bool check_callable(PyObject* hook) {
  if (PyCallable_Check(hook) != 0) return true;
  PyErr_Format(PyExc_TypeError, "a hook must be callable, not %s", Py_TYPE(hook)->tp_name);
  return false;
}

template <class Work>
PyObject* registered(PyObject* hook, Work&& work) {
  if (!check_callable(hook)) return nullptr;
  return guarded([&] { return new_handle(work(Callable(hook))); });
}

void check_requires_grad(const TensorBase& tensor) {
  OPGEN_CHECK(autograd::requires_grad(tensor),
              "cannot register a hook on a tensor that doesn't require gradient");
}

// ---- Methods of Tensor --------------------------------------------------------------------------

PyObject* register_hook(PyObject* self, PyObject* hook) {
  return registered(hook, [&](Callable callable) {
    const TensorBase& tensor = tensor_of(self);
    check_requires_grad(tensor);
    return autograd::register_hook(
        tensor, [callable = std::move(callable)](const TensorBase& gradient) {
          const GilHeld held;
          const Owned result = callable.call(Owned(gradient_object(gradient)));
          return read_gradient(callable, result.get(), gradient);
        });
  });
}

PyObject* register_post_accumulate_grad_hook(PyObject* self, PyObject* hook) {
  return registered(hook, [&](Callable callable) {
    const TensorBase& tensor = tensor_of(self);
    check_requires_grad(tensor);
    OPGEN_CHECK(autograd::is_leaf(tensor),
                "post accumulate grad hooks cannot be registered on non-leaf tensors");
    return autograd::register_post_accumulate_grad_hook(tensor, [callable = std::move(callable)](
                                                                    const TensorBase& leaf) {
      const GilHeld held;
      const Owned result = callable.call(Owned(new_tensor(leaf)));
      if (read_gradient(callable, result.get(), TensorBase()).defined()) {
        callable.fail(PyExc_RuntimeError, "Tensor post accumulate grad hooks should return None.");
      }
    });
  });
}

PyObject* retain_grad(PyObject* self, PyObject*) {
  return guarded([&] {
    const TensorBase& tensor = tensor_of(self);
    OPGEN_CHECK(autograd::requires_grad(tensor),
                "can't retain_grad on Tensor that has requires_grad=False");
    autograd::retain_grad(tensor);
    return Py_NewRef(Py_None);
  });
}
PyObject* retains_grad(PyObject* self, void*) {
  return PyBool_FromLong(autograd::retains_grad(tensor_of(self)) ? 1 : 0);
}

}  // namespace

// ---- Methods of Node ----------------------------------------------------------------------------

PyObject* register_node_prehook(autograd::Node& node, PyObject* hook) {
  return registered(hook, [&](Callable callable) {
    return autograd::register_pre_hook(
        node, [callable = std::move(callable)](const Gradients& outputs) {
          const GilHeld held;
          const Owned result = callable.call(tuple_of_gradients(outputs));
          return read_gradients(callable, result.get(), outputs);
        });
  });
}
PyObject* register_node_hook(autograd::Node& node, PyObject* hook) {
  return registered(hook, [&](Callable callable) {
    return autograd::register_post_hook(
        node, [callable = std::move(callable)](const Gradients& inputs, const Gradients& outputs) {
          const GilHeld held;
          const Owned result =
              callable.call(tuple_of_gradients(inputs), tuple_of_gradients(outputs));
          return read_gradients(callable, result.get(), inputs);
        });
  });
}

int make_handle_type() {
  handle_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&handle_spec));
  types.handle = handle_type;
  return handle_type == nullptr ? -1 : 0;
}

PyGetSetDef hook_attributes[] = {
    {"retains_grad", retains_grad, nullptr,
     "Whether backward() keeps the gradient of this non-leaf tensor in .grad.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef hook_methods[] = {
    {"register_hook", register_hook, METH_O,
     "Makes backward() call hook(grad) as soon as the tensor's gradient is known. If the hook "
     "returns a tensor, that replaces the gradient. Returns a handle with remove()."},
    {"register_post_accumulate_grad_hook", register_post_accumulate_grad_hook, METH_O,
     "Makes backward() call hook(tensor) after it has added to the .grad of this leaf. Returns a "
     "handle with remove()."},
    {"retain_grad", retain_grad, METH_NOARGS,
     "Makes backward() keep the gradient of a non-leaf tensor in .grad."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace opgen::python
