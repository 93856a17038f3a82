// boxed_call.cpp: _call_operator, which calls any operator of a loaded library by its name, also
// those that the package has no function for.
#include <string>
#include <vector>

#include "library_operator.h"
#include "objects.h"
#include "opgen/dispatch/dispatcher.h"
#include "opgen/schema/function_schema.h"
#include "opgen/tensor/empty.h"
#include "values.h"

namespace opgen::python {

namespace {

// Returns false, and sets no exception, for an object that is no value of the schema language.
bool find_value(PyObject* object, IValue& value) {
  if (object == Py_None) return true;
  if (is_tensor(object)) {
    value = IValue(tensor_of(object));
    return true;
  }
  if (PyBool_Check(object)) {
    value = IValue(object == Py_True);
    return true;
  }
  if (PyUnicode_Check(object)) {
    value = IValue(text_of(object));
    return true;
  }
  if (is_sequence(object)) {
    const OwnedItems items(object);
    std::vector<IValue> list(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!find_value(items[i], list[i])) return false;
    }
    value = IValue(std::move(list));
    return true;
  }
  ScalarType dtype{};
  if (find_dtype(object, dtype)) {
    value = IValue(dtype);
    return true;
  }
  std::int64_t constant = 0;
  if (find_constant(object, types.layout, constant) ||
      find_constant(object, types.memory_format, constant)) {
    value = IValue(constant);
    return true;
  }
  if (Py_TYPE(object) == types.device) {
    value = IValue(reinterpret_cast<DeviceObject*>(object)->device);
    return true;
  }
  if (Py_TYPE(object) == types.generator) {
    value = IValue(reinterpret_cast<GeneratorObject*>(object)->generator);
    return true;
  }
  Scalar number;
  if (!find_scalar(object, number)) return false;
  value = IValue(number);
  return true;
}

PyObject* object_of(const IValue& value) {
  switch (value.tag()) {
    case IValue::Tag::None:
      return Py_NewRef(Py_None);
    case IValue::Tag::Bool:
      return PyBool_FromLong(value.toBool() ? 1 : 0);
    case IValue::Tag::Int:
      return PyLong_FromLongLong(value.toInt());
    case IValue::Tag::Double:
      return PyFloat_FromDouble(value.toDouble());
    case IValue::Tag::Complex: {
      const complex<double> number = value.toComplexDouble();
      return PyComplex_FromDoubles(number.real(), number.imag());
    }
    case IValue::Tag::Tensor: {
      TensorBase tensor = value.toTensor();
      return tensor.defined() ? new_tensor(std::move(tensor)) : Py_NewRef(Py_None);
    }
    default:
      break;
  }
  OPGEN_CHECK_TYPE(value.has_elements(), "a result is neither a tensor nor a number");
  const std::vector<IValue>& elements = value.elements();
  Owned list(PyList_New(static_cast<Py_ssize_t>(elements.size())));
  for (std::size_t i = 0; list && i < elements.size(); ++i) {
    PyObject* one = object_of(elements[i]);
    if (one == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), one);
  }
  return list.release();
}

// _call_operator(name, overload, arguments): arguments by name; those with a default may be left
// out. Returns a list of results.
PyObject* call_operator(PyObject*, PyObject* args) {
  const char *name = nullptr, *overload = nullptr;
  PyObject* given = nullptr;
  if (!PyArg_ParseTuple(args, "ssO!:_call_operator", &name, &overload, &PyDict_Type, &given)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow(name, overload);
    Stack stack;
    Py_ssize_t used = 0;
    for (const SchemaArgument& argument : op.schema().arguments) {
      PyObject* object = PyDict_GetItemString(given, argument.name.c_str());
      if (object == nullptr) {
        OPGEN_CHECK_TYPE(argument.default_value.has_value(), name, " needs an argument ",
                         argument.name);
        stack.push_back(*argument.default_value);
        continue;
      }
      ++used;
      if (!find_value(object, stack.emplace_back())) {
        return PyErr_Format(PyExc_TypeError, "%s: argument '%s' is a %s", name,
                            argument.name.c_str(), Py_TYPE(object)->tp_name);
      }
    }
    OPGEN_CHECK_TYPE(used == PyDict_GET_SIZE(given), name,
                     " has no argument of a name that is given");
    op.call_boxed(stack);
    return object_of(IValue(std::vector<IValue>(stack.begin(), stack.end())));
  });
}

PyObject* object_of(const std::string& text) {
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

// Returns (name, type, is_written, is_alias, is_keyword_only, has_default) for each of them.
Owned rows_of(const std::vector<SchemaArgument>& arguments) {
  Owned rows(PyTuple_New(static_cast<Py_ssize_t>(arguments.size())));
  for (std::size_t i = 0; rows && i < arguments.size(); ++i) {
    const SchemaArgument& one = arguments[i];
    PyObject* row = Py_BuildValue(
        "(NNNNNN)", object_of(one.name), object_of(one.type.str()),
        PyBool_FromLong(one.is_written()), PyBool_FromLong(!one.aliases.empty()),
        PyBool_FromLong(one.kwarg_only), PyBool_FromLong(one.default_value.has_value()));
    if (row == nullptr) return {};
    PyTuple_SET_ITEM(rows.get(), static_cast<Py_ssize_t>(i), row);
  }
  return rows;
}

// _schemas(name): returns (operator, overload, arguments, returns, tags) for each operator of this
// name in any namespace.
PyObject* schemas(PyObject*, PyObject* arg) {
  return guarded([&]() -> PyObject* {
    const std::string name = std::string("::").append(text_of(arg));
    Owned found(PyList_New(0));
    for (const OperatorHandle& op : Dispatcher::singleton().operators()) {
      const FunctionSchema& schema = op.schema();
      if (!found || !schema.name.ends_with(name)) continue;
      Owned arguments = rows_of(schema.arguments), returns = rows_of(schema.returns);
      Owned tags(PyList_New(0));
      for (const std::string& tag : op.tags()) {
        const Owned text(object_of(tag));
        if (!tags || !text || PyList_Append(tags.get(), text.get()) != 0) return nullptr;
      }
      if (!arguments || !returns || !tags) return nullptr;
      const Owned row(Py_BuildValue("(NNNNN)", object_of(schema.name),
                                    object_of(schema.overload_name), arguments.release(),
                                    returns.release(), tags.release()));
      if (!row || PyList_Append(found.get(), row.get()) != 0) return nullptr;
    }
    return found.release();
  });
}

// _meta(sizes, dtype): returns a tensor without bytes, on the device "meta".
PyObject* make_meta(PyObject*, PyObject* args) {
  PyObject *sizes = nullptr, *type = nullptr;
  if (!PyArg_ParseTuple(args, "O!O:_meta", &PyTuple_Type, &sizes, &type)) return nullptr;
  return guarded([&]() -> PyObject* {
    ScalarType dtype{};
    OPGEN_CHECK_TYPE(find_dtype(type, dtype), "_meta() takes a dtype");
    DimVector shape;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sizes); ++i) {
      shape.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(sizes, i)));
      if (PyErr_Occurred() != nullptr) return nullptr;
    }
    return new_tensor(opgen::detail::empty_contiguous(shape, dtype, Device(kMeta)));
  });
}

}  // namespace

PyMethodDef boxed_call_functions[] = {{"_call_operator", call_operator, METH_VARARGS, nullptr},
                                      {"_schemas", schemas, METH_O, nullptr},
                                      {"_meta", make_meta, METH_VARARGS, nullptr},
                                      {nullptr, nullptr, 0, nullptr}};

}  // namespace opgen::python
