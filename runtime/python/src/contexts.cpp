// contexts.cpp: the dispatcher's services from Python: dispatch tables, graphs, autocast, vmap,
// profiles.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "objects.h"
#include "opgen/transforms/autocast.h"
#include "opgen/transforms/profiler.h"
#include "opgen/transforms/tracer.h"
#include "opgen/transforms/vmap.h"
#include "values.h"

namespace opgen::python {

namespace {

template <class T>
struct Holder {
  PyObject_HEAD T* held;
};
template <class T>
T*& held(PyObject* self) {
  return reinterpret_cast<Holder<T>*>(self)->held;
}
template <class T>
void free_holder(PyObject* self) {
  delete held<T>(self);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// Collects the tensors of a result: one, or a sequence of tensors. Returns false with an exception
// set for anything else.
bool read_tensors(PyObject* object, const char* what, std::vector<TensorBase>& tensors) {
  const bool one = is_tensor(object);
  if (!one && !is_sequence(object)) {
    PyErr_Format(PyExc_TypeError, "%s must be a Tensor or a sequence of Tensors, not %s", what,
                 Py_TYPE(object)->tp_name);
    return false;
  }
  const Py_ssize_t count = one ? 1 : PySequence_Fast_GET_SIZE(object);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = one ? object : PySequence_Fast_GET_ITEM(object, i);
    if (!is_tensor(item)) {
      PyErr_Format(PyExc_TypeError, "%s must be Tensors, but item %zd is %s", what, i,
                   Py_TYPE(item)->tp_name);
      return false;
    }
    tensors.push_back(tensor_of(item));
  }
  return true;
}

PyObject* tuple_of_tensors(std::vector<TensorBase> tensors) {
  Owned tuple(PyTuple_New(static_cast<Py_ssize_t>(tensors.size())));
  for (std::size_t i = 0; tuple && i < tensors.size(); ++i) {
    PyObject* one = new_tensor(std::move(tensors[i]));
    if (one == nullptr) return nullptr;
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), one);
  }
  return tuple.release();
}

PyObject* text_of(const std::string& text) {
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

// ---- dump_table ---------------------------------------------------------------------------------

// dump_table("aten::add.Tensor"), or "add.Tensor", or "add" for all overloads; whole=True prints
// one line for each key.
PyObject* dump_table(PyObject*, PyObject* args, PyObject* keywords) {
  PyObject* operator_name = nullptr;
  int whole = 0;
  const char* names[] = {"", "whole", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$p:dump_table", const_cast<char**>(names),
                                   &operator_name, &whole)) {
    return nullptr;
  }
  Owned name(PyUnicode_Check(operator_name) ? (Py_INCREF(operator_name), operator_name)
                                            : PyObject_GetAttrString(operator_name, "__name__"));
  const char* words = name ? PyUnicode_AsUTF8(name.get()) : nullptr;
  if (words == nullptr) return nullptr;
  const std::string wanted = words;
  return guarded([&]() -> PyObject* {
    std::string text;
    for (const OperatorHandle& op : Dispatcher::singleton().operators()) {
      const std::string full = op.full_name();
      const std::string inner = full.substr(full.find("::") + 2);
      const std::string base = op.name().substr(op.name().find("::") + 2);
      if (wanted != full && wanted != inner && wanted != base && wanted != op.name()) continue;
      text += full + "\n" + op.dump_table(whole != 0);
    }
    if (!text.empty()) return text_of(text);
    return PyErr_Format(PyExc_ValueError, "no imported library has an operator '%s'", words);
  });
}

// ---- Tracer -------------------------------------------------------------------------------------

struct Traced {
  Graph graph;
  bool single;  // the function returned a tensor, not a sequence
};
PyTypeObject* graph_type;

// record_graph(function, *inputs)
PyObject* trace_call(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count == 0) {
    PyErr_SetString(PyExc_TypeError, "record_graph() takes a function and its inputs");
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    std::vector<TensorBase> inputs;
    for (Py_ssize_t i = 1; i < count; ++i) {
      if (!read_tensors(args[i], "the inputs of record_graph()", inputs)) return nullptr;
      if (!is_tensor(args[i])) {
        PyErr_SetString(PyExc_TypeError, "record_graph() takes its inputs as separate Tensors");
        return nullptr;
      }
    }
    Trace recording(inputs);
    Owned result(
        PyObject_Vectorcall(args[0], args + 1, static_cast<std::size_t>(count - 1), nullptr));
    std::vector<TensorBase> outputs;
    if (!result || !read_tensors(result.get(), "the result of the function", outputs))
      return nullptr;
    auto traced =
        std::make_unique<Traced>(Traced{recording.finish(outputs), is_tensor(result.get())});
    PyObject* self = graph_type->tp_alloc(graph_type, 0);
    if (self != nullptr) held<Traced>(self) = traced.release();
    return self;
  });
}

PyObject* graph_text(PyObject* self) {
  return guarded([&] { return text_of(held<Traced>(self)->graph.str()); });
}
Py_ssize_t graph_length(PyObject* self) {
  return static_cast<Py_ssize_t>(held<Traced>(self)->graph.nodes().size());
}
PyObject* graph_operators(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    Owned list(PyList_New(0));
    for (const Graph::Node& node : held<Traced>(self)->graph.nodes()) {
      Owned name(text_of(node.op.full_name()));
      if (!list || !name || PyList_Append(list.get(), name.get()) != 0) return nullptr;
    }
    return list.release();
  });
}
PyObject* graph_replay(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    std::vector<TensorBase> inputs;
    if (!read_tensors(args, "the inputs of a graph", inputs)) return nullptr;
    const Traced& traced = *held<Traced>(self);
    std::vector<TensorBase> outputs = traced.graph.replay(inputs);
    if (traced.single) return new_tensor(std::move(outputs[0]));
    return tuple_of_tensors(std::move(outputs));
  });
}

PyGetSetDef graph_attributes[] = {{"operators", graph_operators, nullptr,
                                   "The names of the called operators, in order.", nullptr},
                                  {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef graph_methods[] = {{"replay", graph_replay, METH_VARARGS,
                                "replay(*inputs): calls the operators again. Meta inputs give Meta "
                                "outputs, which have shapes but no elements."},
                               {nullptr, nullptr, 0, nullptr}};
PyType_Slot graph_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(&free_holder<Traced>)},
                             {Py_tp_str, reinterpret_cast<void*>(&graph_text)},
                             {Py_tp_repr, reinterpret_cast<void*>(&graph_text)},
                             {Py_sq_length, reinterpret_cast<void*>(&graph_length)},
                             {Py_tp_getset, graph_attributes},
                             {Py_tp_methods, graph_methods},
                             {0, nullptr}};
PyType_Spec graph_spec = {"opgen.Graph", sizeof(Holder<Traced>), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, graph_slots};

// ---- Autocast -----------------------------------------------------------------------------------

struct Autocast {
  DeviceType device;
  ScalarType dtype;
  bool enabled;
  bool cache_enabled;
};

// The scopes that this thread has entered. A Mode restores the previous state, so scopes must end
// in reverse order.
struct Entered {
  PyObject* by;
  std::unique_ptr<autocast::Mode> mode;
};
std::vector<Entered>& entered() {
  thread_local std::vector<Entered> all;
  return all;
}

// Registers wrappers for the operators of packages imported since the last call.
void register_wrappers(DeviceType device) {
  static std::array<std::size_t, kMaxDeviceTypes> seen;
  static std::vector<RegistrationHandle> kept;
  std::size_t& packages = seen[static_cast<std::size_t>(device)];
  if (packages == imported_packages) return;
  for (RegistrationHandle& handle : autocast::register_defaults("aten", device)) {
    kept.push_back(std::move(handle));
  }
  packages = imported_packages;
}

// autocast(device_type="cpu", dtype=None, enabled=True, cache_enabled=True)
PyObject* make_autocast(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"device_type", "dtype", "enabled", "cache_enabled", nullptr};
  const char* device = "cpu";
  PyObject* dtype = Py_None;
  int enabled = 1;
  int cache_enabled = 1;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|sOpp:autocast", const_cast<char**>(names),
                                   &device, &dtype, &enabled, &cache_enabled)) {
    return nullptr;
  }
  ScalarType lower = ScalarType::Undefined;
  if (dtype != Py_None && !find_dtype(dtype, lower)) {
    PyErr_SetString(PyExc_TypeError, unknown_dtype(dtype).c_str());
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    const DeviceType on = Device(std::string_view(device)).type();
    (void)autocast::key_of(on);  // throws Error for a device without such a key
    PyObject* self = type->tp_alloc(type, 0);
    if (self != nullptr) {
      held<Autocast>(self) = new Autocast{on, lower, enabled != 0, cache_enabled != 0};
    }
    return self;
  });
}
PyObject* enter_autocast(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Autocast& wanted = *held<Autocast>(self);
    register_wrappers(wanted.device);
    entered().push_back(
        {self, std::make_unique<autocast::Mode>(wanted.device, wanted.dtype, wanted.enabled,
                                                wanted.cache_enabled)});
    Py_INCREF(self);  // the scope owns it
    Py_INCREF(self);
    return self;
  });
}
PyObject* exit_autocast(PyObject* self, PyObject*) {
  if (entered().empty() || entered().back().by != self) {
    PyErr_SetString(
        PyExc_RuntimeError,
        "leave an autocast scope in the thread that entered it, the innermost scope first");
    return nullptr;
  }
  entered().pop_back();
  Py_DECREF(self);
  Py_RETURN_NONE;
}
PyMethodDef autocast_methods[] = {{"__enter__", enter_autocast, METH_NOARGS, nullptr},
                                  {"__exit__", exit_autocast, METH_VARARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
PyType_Slot autocast_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(&make_autocast)},
    {Py_tp_dealloc, reinterpret_cast<void*>(&free_holder<Autocast>)},
    {Py_tp_methods, autocast_methods},
    {Py_tp_doc,
     const_cast<char*>("autocast(device_type='cpu', dtype=None, enabled=True, cache_enabled=True): "
                       "computes in mixed precision in a with block.")},
    {0, nullptr}};
PyType_Spec autocast_spec = {"opgen.autocast", sizeof(Holder<Autocast>), 0, Py_TPFLAGS_DEFAULT,
                             autocast_slots};

// ---- Profiler -----------------------------------------------------------------------------------

PyObject* make_profile(PyTypeObject* type, PyObject* args, PyObject*) {
  if (!PyArg_ParseTuple(args, ":profile")) return nullptr;
  return type->tp_alloc(type, 0);
}
PyObject* enter_profile(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    delete std::exchange(held<Profiler>(self), nullptr);
    held<Profiler>(self) = new Profiler;
    Py_INCREF(self);
    return self;
  });
}
PyObject* exit_profile(PyObject* self, PyObject*) {
  if (held<Profiler>(self) != nullptr) held<Profiler>(self)->stop();
  Py_RETURN_NONE;
}
PyObject* profile_table(PyObject* self, PyObject*) {
  return guarded([&] {
    return text_of(held<Profiler>(self) == nullptr ? "" : held<Profiler>(self)->table());
  });
}
PyObject* profile_rows(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Owned list(PyList_New(0));
    if (held<Profiler>(self) == nullptr) return list.release();
    for (const Profiler::Row& row : held<Profiler>(self)->rows()) {
      Owned one(Py_BuildValue("{s:s,s:L,s:L,s:L}", "op", row.op.c_str(), "calls",
                              static_cast<long long>(row.calls), "total_ns",
                              static_cast<long long>(row.total), "own_ns",
                              static_cast<long long>(row.own)));
      if (!list || !one || PyList_Append(list.get(), one.get()) != 0) return nullptr;
    }
    return list.release();
  });
}
PyMethodDef profile_methods[] = {
    {"__enter__", enter_profile, METH_NOARGS, nullptr},
    {"__exit__", exit_profile, METH_VARARGS, nullptr},
    {"table", profile_table, METH_NOARGS,
     "Formats the calls of each operator, their number and their times, as a table."},
    {"rows", profile_rows, METH_NOARGS, "Returns the same as dicts: op, calls, total_ns, own_ns."},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot profile_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(&make_profile)},
    {Py_tp_dealloc, reinterpret_cast<void*>(&free_holder<Profiler>)},
    {Py_tp_methods, profile_methods},
    {Py_tp_doc, const_cast<char*>("profile(): counts and times the operators that any thread calls "
                                  "in a with block.")},
    {0, nullptr}};
PyType_Spec profile_spec = {"opgen.profile", sizeof(Holder<Profiler>), 0, Py_TPFLAGS_DEFAULT,
                            profile_slots};

// ---- vmap ---------------------------------------------------------------------------------------

using BatchDims = std::vector<std::optional<std::int64_t>>;

bool find_dim(PyObject* object, std::optional<std::int64_t>& dim) {
  if (object == Py_None) return true;
  dim = PyLong_AsLongLong(object);
  return PyErr_Occurred() == nullptr;
}

// Reads the batch dimension of each argument: one number for all, or a sequence. None means no
// batch.
bool find_dims(PyObject* in_dims, BatchDims& dims) {
  if (!is_sequence(in_dims)) {
    std::optional<std::int64_t> dim;
    if (!find_dim(in_dims, dim)) return false;
    std::fill(dims.begin(), dims.end(), dim);
    return true;
  }
  const OwnedItems items(in_dims);
  if (items.size() != dims.size()) {
    PyErr_Format(PyExc_ValueError, "vmap: %zu in_dims for %zu arguments", items.size(),
                 dims.size());
    return false;
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (!find_dim(items[i], dims[i])) return false;
  }
  return true;
}

PyObject* enter_argument(batching::Scope& scope, PyObject* argument,
                         std::optional<std::int64_t> dim, Py_ssize_t i) {
  if (is_tensor(argument)) return new_tensor(scope.enter(tensor_of(argument), dim));
  if (dim.has_value()) {
    return PyErr_Format(
        PyExc_TypeError,
        "vmap: argument %zd is %s: pass None in in_dims for an argument that is not a Tensor", i,
        Py_TYPE(argument)->tp_name);
  }
  Py_INCREF(argument);
  return argument;
}

// _vmap_call(function, in_dims, out_dim, different, *arguments)
PyObject* vmap_call(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count < 4) {
    return PyErr_Format(PyExc_TypeError,
                        "_vmap_call() takes a function, in_dims, out_dim, different and the "
                        "arguments, not %zd in all",
                        count);
  }
  return guarded([&]() -> PyObject* {
    const std::int64_t out_dim = PyLong_AsLongLong(args[2]);
    if (PyErr_Occurred() != nullptr) return nullptr;
    const Py_ssize_t inputs = count - 4;
    BatchDims dims(static_cast<std::size_t>(inputs));
    if (!find_dims(args[1], dims)) return nullptr;
    batching::Scope scope(args[3] == Py_True ? batching::Randomness::Different
                                             : batching::Randomness::Error);
    Owned entered_all(PyTuple_New(inputs));
    for (Py_ssize_t i = 0; entered_all && i < inputs; ++i) {
      PyObject* one = enter_argument(scope, args[4 + i], dims[static_cast<std::size_t>(i)], i);
      if (one == nullptr) return nullptr;
      PyTuple_SET_ITEM(entered_all.get(), i, one);
    }
    if (!entered_all) return nullptr;
    Owned result(PyObject_CallObject(args[0], entered_all.get()));
    std::vector<TensorBase> outputs;
    if (!result || !read_tensors(result.get(), "the result of the function of vmap()", outputs)) {
      return nullptr;
    }
    for (TensorBase& output : outputs) output = scope.leave(output, out_dim);
    return is_tensor(result.get()) ? new_tensor(std::move(outputs[0]))
                                   : tuple_of_tensors(std::move(outputs));
  });
}

// vmap(function, in_dims=0, out_dims=0, randomness="error"): a functools.partial of _vmap_call.
PyObject* make_vmap(PyObject* module, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"function", "in_dims", "out_dims", "randomness", nullptr};
  PyObject* function = nullptr;
  PyObject* in_dims = nullptr;
  long long out_dim = 0;
  const char* randomness = "error";
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OLs:vmap", const_cast<char**>(names),
                                   &function, &in_dims, &out_dim, &randomness)) {
    return nullptr;
  }
  const bool different = std::string_view(randomness) == "different";
  if (!different && std::string_view(randomness) != "error") {
    return PyErr_Format(PyExc_ValueError, "randomness must be 'error' or 'different', not '%s'",
                        randomness);
  }
  Owned zero(PyLong_FromLong(0));
  Owned functools(PyImport_ImportModule("functools"));
  Owned call(PyObject_GetAttrString(module, "_vmap_call"));
  if (!zero || !functools || !call) return nullptr;
  return PyObject_CallMethod(functools.get(), "partial", "OOOLO", call.get(), function,
                             in_dims == nullptr ? zero.get() : in_dims, out_dim,
                             different ? Py_True : Py_False);
}

template <class F>
PyCFunction fast(F function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

}  // namespace

std::size_t imported_packages = 0;

int make_context_types(PyObject* module, const char* package) {
  static PyTypeObject* autocast_type;
  static PyTypeObject* profile_type;
  if (graph_type == nullptr) {
    Owned name(PyUnicode_FromString(package));
    graph_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&graph_spec));
    autocast_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&autocast_spec));
    profile_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&profile_spec));
    for (PyTypeObject* type : {graph_type, autocast_type, profile_type}) {
      PyObject* object = reinterpret_cast<PyObject*>(type);
      if (!name || type == nullptr ||
          PyObject_SetAttrString(object, "__module__", name.get()) != 0) {
        return -1;
      }
    }
  }
  for (PyTypeObject* type : {graph_type, autocast_type, profile_type}) {
    if (PyModule_AddType(module, type) != 0) return -1;
  }
  ++imported_packages;
  return 0;
}

PyMethodDef context_functions[] = {
    {"dump_table", as_method(&dump_table), METH_VARARGS | METH_KEYWORDS,
     "dump_table(operator, *, whole=False): shows which kernel a call reaches for each dispatch "
     "key, and why."},
    {"record_graph", fast(&trace_call), METH_FASTCALL,
     "record_graph(function, *inputs): returns the Graph of the operators that the function "
     "calls."},
    {"vmap", as_method(&make_vmap), METH_VARARGS | METH_KEYWORDS,
     "vmap(function, in_dims=0, out_dims=0, randomness='error'): turns a function of one example "
     "into a function of a batch."},
    {"_vmap_call", fast(&vmap_call), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace opgen::python
