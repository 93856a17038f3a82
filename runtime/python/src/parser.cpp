// parser.cpp: matches a Python call with one overload after the other.
#include <string>

#include "attempt.h"
#include "values.h"

namespace opgen::python {

namespace {

bool fits(const Function& function, const Overload& overload) {
  return !function.method || overload.self >= 0;
}

// Formats the types of a call's arguments: "(Tensor, str, out=Tensor)".
std::string described(const Arguments& given) {
  const std::size_t named =
      given.names == nullptr ? 0 : static_cast<std::size_t>(PyTuple_GET_SIZE(given.names));
  std::string text = "(";
  for (std::size_t i = given.method ? 1 : 0; i < given.count + named; ++i) {
    if (text.back() != '(') text += ", ";
    if (i >= given.count) {
      PyObject* name = PyTuple_GET_ITEM(given.names, static_cast<Py_ssize_t>(i - given.count));
      text += std::string(text_of(name)) + "=";
    }
    text += type_name(given.values[i]);
  }
  return text + ")";
}

// Describes the call after an error message: a check inside a kernel knows sizes, but not the names
// of arguments.
std::string place_of(const OperatorSlot& slot, const Arguments& given) {
  std::string text = std::string("\n  in ") + slot.name;
  if (*slot.overload_name != 0) text += std::string(".") + slot.overload_name;
  return text + described(given);
}

// Returns "(input: Tensor) -> Tensor", without the name, which the message already has.
std::string without_name(std::string_view signature, std::string_view name) {
  const bool is_named = signature.substr(0, name.size()) == name;
  return std::string(signature.substr(is_named ? name.size() : 0));
}

// Raises TypeError. The message names the function and, for each signature, says why the call does
// not match.
PyObject* raise_no_fit(const Function& function, const Arguments& given) {
  std::string message = std::string(function.method ? "Tensor." : "") + function.name +
                        described(given) + " does not match any signature:";
  bool too_large = false;
  for (std::size_t i = 0; i < function.count; ++i) {
    const Overload& overload = *function.overloads[i];
    if (!fits(function, overload)) continue;
    Slot slots[kMaxSlots];
    Scratch scratch;
    std::string why;
    Attempt attempt{overload, given, scratch, &why, slots};
    attempt.parse();
    too_large = too_large || attempt.too_large;
    message += "\n  " + without_name(overload.signature, function.name) + ": " + why;
  }
  PyErr_SetString(too_large ? PyExc_OverflowError : PyExc_TypeError, message.c_str());
  return nullptr;
}

// Makes the result of a factory a leaf that requires a gradient.
PyObject* requiring_grad(PyObject* made) {
  Owned result(made);
  if (result && is_tensor(result.get())) {
    set_requires_grad(tensor_of(result.get()), true, AskedBy::Factory);
  }
  return result.release();
}

}  // namespace

PyObject* call_function(const Function& function, PyObject* const* args, std::size_t nargs,
                        PyObject* names, PyObject** result_types) {
  const Arguments given{args, nargs, names, function.method};
  const OperatorSlot* called = nullptr;
  try {
    Slot slots[kMaxSlots];
    for (std::size_t i = 0; i < function.count; ++i) {
      const Overload& overload = *function.overloads[i];
      if (!fits(function, overload)) continue;
      Scratch scratch;
      Attempt attempt{overload, given, scratch, nullptr, slots};
      if (!attempt.parse()) continue;
      const Operation& operation = attempt.out == nullptr ? overload.base : overload.with_out;
      const Call call{slots,
                      attempt.slot_count,
                      &overload,
                      operation.slot,
                      result_types == nullptr ? nullptr : result_types + i,
                      attempt.work >= kWorthReleasing};
      called = operation.slot;
      PyObject* result = operation.thunk(call);
      if (attempt.requires_grad) return requiring_grad(result);
      return result;
    }
    return raise_no_fit(function, given);
  } catch (...) {
    return raise_current(called == nullptr ? "" : place_of(*called, given).c_str());
  }
}

}  // namespace opgen::python
