// results.cpp: converts C++ results, exceptions and warnings to Python's.
#include <cxxabi.h>
#include <algorithm>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "objects.h"
#include "opgen/core/named_operator.h"
#include "opgen/registration/loading.h"

namespace opgen::python {

Types types;

void* GilRelease::save() {
  return PyEval_SaveThread();
}
// When Python ends, it unwinds the stacks of threads that wait for the GIL, including C++ frames
// that must not be unwound. Such threads wait here for the end of the process instead, as in Python
// 3.14.
[[noreturn]] static void wait_for_the_end() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

void* let_go_of_the_gil() noexcept {
  return PyGILState_Check() != 0 ? GilRelease::save() : nullptr;
}

void GilRelease::restore(void* state) noexcept {
  try {
    PyEval_RestoreThread(static_cast<PyThreadState*>(state));
  } catch (...) {
    wait_for_the_end();
  }
}

GilHeld::GilHeld() {
  try {
    state_ = PyGILState_Ensure();
  } catch (...) {
    wait_for_the_end();
  }
}
GilHeld::~GilHeld() {
  PyGILState_Release(state_);
}

struct PythonError::Raised {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;

  Raised() {
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  }
  Raised(const Raised&) = delete;
  Raised& operator=(const Raised&) = delete;
  ~Raised() {
    give_back([this] {
      Py_XDECREF(type);
      Py_XDECREF(value);
      Py_XDECREF(traceback);
    });
  }
};

PythonError::PythonError() : raised_(std::make_shared<Raised>()) {}
void PythonError::restore() const noexcept {
  PyErr_Restore(Py_XNewRef(raised_->type), Py_XNewRef(raised_->value),
                Py_XNewRef(raised_->traceback));
}

namespace {

// The exception that a warning of this thread has become, and the text of the Error that is thrown
// in its place: another framework than Python may catch that one.
struct RaisedWarning {
  PythonError exception;
  std::string text;
};
thread_local std::optional<RaisedWarning> raised_warning;

}  // namespace

PyObject* raise_current(const char* where) {
  const auto raise_text = [](PyObject* kind, const char* what, const char* place) -> PyObject* {
    const std::optional<RaisedWarning> warning = std::exchange(raised_warning, std::nullopt);
    if (warning && std::string_view(what).starts_with(warning->text)) {
      warning->exception.restore();
      return nullptr;
    }
    return PyErr_Occurred() != nullptr ? nullptr : PyErr_Format(kind, "%s%s", what, place);
  };
  const auto raise = [&](PyObject* kind, const Error& error) {
    const char* text = error.what();
    // Errors of the runtime's checks already name the operators.
    if (std::strcmp(text, error.msg()) != 0 || opgen::detail::begins_with_operator(text, where)) {
      return raise_text(kind, text, "");
    }
    return raise_text(kind, text + opgen::detail::length_of_operator_before_colon(text, where),
                      where);
  };
  try {
    throw;
  } catch (const PythonError& error) {
    error.restore();
    return nullptr;
  } catch (const IndexError& error) {
    return raise(PyExc_IndexError, error);
  } catch (const ValueError& error) {
    return raise(PyExc_ValueError, error);
  } catch (const TypeError& error) {
    return raise(PyExc_TypeError, error);
  } catch (const NotImplementedError& error) {
    return raise(PyExc_NotImplementedError, error);
  } catch (const OutOfMemoryError& error) {
    return raise(PyExc_MemoryError, error);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (const Error& error) {
    return raise(PyExc_RuntimeError, error);
  } catch (const std::exception& error) {
    return raise_text(PyExc_RuntimeError, error.what(), where);
#ifdef __GLIBCXX__
  } catch (const abi::__forced_unwind&) {
    wait_for_the_end();
#endif
  } catch (...) {
    return raise_text(PyExc_RuntimeError, "an exception that is not a std::exception", where);
  }
}

namespace {

// Warnings from libraries that are being loaded. They are issued later: an exception would end the
// process there, and the thread holds the loader's lock, under which it must not wait for the GIL.
struct KeptWarnings {
  std::mutex mutex;
  std::vector<std::string> all;
};
KeptWarnings& kept_warnings() {
  static KeptWarnings* const kept = new KeptWarnings;
  return *kept;
}

int give_kept_warnings(void*) {
  std::vector<std::string> all;
  {
    const std::lock_guard lock(kept_warnings().mutex);
    all.swap(kept_warnings().all);
  }
  int raised = 0;
  for (std::size_t i = 0; i < all.size() && raised == 0; ++i) {
    raised = PyErr_WarnEx(PyExc_UserWarning, all[i].c_str(), 1);
  }
  return raised;
}

}  // namespace

// Issues a C++ warning as a Python warning, or as an exception if Python's filters say so. A thread
// that Python does not know must not wait for the GIL: the thread that holds the GIL may be waiting
// for it.
void warn_in_python(const char* text) {
  if (PyGILState_GetThisThreadState() == nullptr) {
    std::fprintf(stderr, "opgen warning: %s\n", text);
    return;
  }
  if (LoadingScope::is_alive()) {
    {
      const std::lock_guard lock(kept_warnings().mutex);
      kept_warnings().all.emplace_back(text);
    }
    Py_AddPendingCall(&give_kept_warnings, nullptr);  // as soon as the main thread runs Python
    return;
  }
  const PyGILState_STATE state = PyGILState_Ensure();
  const int raised = PyErr_WarnEx(PyExc_UserWarning, text, 1);
  if (raised != 0) raised_warning = RaisedWarning{PythonError(), text};
  PyGILState_Release(state);
  if (raised != 0) throw Error(text);
}

namespace {

// Returns the object of this tensor: the argument itself, or one of its elements if it is a list;
// null if it is none of them.
PyObject* find_object(const TensorBase& tensor, PyObject* argument) {
  const auto holds = [&](PyObject* object) {
    return is_tensor(object) && tensor_of(object).is_same(tensor);
  };
  if (holds(argument)) return argument;
  if (!PyList_Check(argument) && !PyTuple_Check(argument)) return nullptr;
  PyObject** items = PySequence_Fast_ITEMS(argument);
  PyObject** end = items + PySequence_Fast_GET_SIZE(argument);
  PyObject** found = std::find_if(items, end, holds);
  return found == end ? nullptr : *found;
}

}  // namespace

// If the result is one of the arguments, as for contiguous() of a contiguous tensor, returns the
// same Python object. A tensor with a single owner cannot be an argument.
PyObject* wrap_tensor(TensorBase tensor, const Call& call) {
  if (!tensor.defined()) Py_RETURN_NONE;
  const std::size_t searched = tensor.use_count() == 1 ? 0 : call.count;
  for (std::size_t i = 0; i < searched; ++i) {
    PyObject* argument = call.slots[i].object;
    if (PyObject* object = argument == nullptr ? nullptr : find_object(tensor, argument)) {
      Py_INCREF(object);
      return object;
    }
  }
  return new_tensor(std::move(tensor));
}

PyObject* wrap_given(const TensorBase& tensor, const Call& call) {
  for (std::size_t i = 0; i < call.count; ++i) {
    PyObject* object = call.slots[i].object;
    if (object != nullptr && &tensor_of(object) == &tensor) {
      Py_INCREF(object);
      return object;
    }
  }
  return new_tensor(tensor);
}

PyObject* wrap_bool(bool value) {
  return PyBool_FromLong(value ? 1 : 0);
}
PyObject* wrap_int(std::int64_t value) {
  return PyLong_FromLongLong(value);
}
PyObject* wrap_double(double value) {
  return PyFloat_FromDouble(value);
}
PyObject* wrap_dtype(ScalarType value) {
  PyObject* object = dtype_object(value);
  Py_INCREF(object);
  return object;
}
PyObject* wrap_scalar(const Scalar& value) {
  if (value.isBoolean()) return wrap_bool(value.toBool());
  if (value.isIntegral(false)) return wrap_int(value.toLong());
  if (value.isFloatingPoint()) return wrap_double(value.toDouble());
  const complex<double> number = value.toComplexDouble();
  return PyComplex_FromDoubles(number.real_, number.imag_);
}
PyObject* wrap_none(const Call& call) {
  PyObject* object = call.overload->returns == Returns::Self ? call.slots[0].object : Py_None;
  Py_INCREF(object);
  return object;
}

PyObject* wrap_tuple(PyObject** items, std::size_t count, const Call* call) {
  Owned tuple(PyTuple_New(static_cast<Py_ssize_t>(count)));
  bool good = static_cast<bool>(tuple);
  for (std::size_t i = 0; i < count; ++i) {
    good = good && items[i] != nullptr;
    if (tuple) {
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), items[i]);
    } else {
      Py_XDECREF(items[i]);
    }
  }
  if (!good) return nullptr;
  if (call == nullptr || call->result_type == nullptr || *call->result_type == nullptr) {
    return tuple.release();
  }
  return PyObject_CallObject(*call->result_type, tuple.get());
}

}  // namespace opgen::python
