// attempt.cpp: matches the arguments of a call with parameters: by position, by name, or left out.
#include "attempt.h"

#include <cstring>
#include <new>

#include "opgen/schema/nearest_name.h"
#include "values.h"

namespace opgen::python {

bool Attempt::parse() {
  PyObject* objects[kMaxSlots];
  std::fill_n(objects, overload.count, nullptr);
  if (!place(objects)) return false;
  for (std::size_t i = 0; i < overload.count; ++i) {
    const Argument& argument = overload.arguments[i];
    const std::size_t width = argument.type == Type::Outs ? argument.size : 1;
    Slot* slot = slots + slot_count;
    slot_count += width;
    PyObject* object = objects[i];
    // The most frequent case. A Tensor argument needs no check with is_of_out().
    if (object != nullptr && argument.type == Type::Tensor && Py_TYPE(object) == types.tensor &&
        out == nullptr && static_cast<int>(i) != overload.out) {
      take_tensor(object, *slot);
      continue;
    }
    // Most factories have these defaults; convert_default() handles the others.
    if (object == nullptr && argument.value.kind == Default::Kind::None &&
        argument.type != Type::Tensor && argument.type != Type::Outs) {
      slot->object = nullptr;
      slot->given = false;
      slot->data = nullptr;
      slot->size = 0;
      continue;
    }
    if (static_cast<int>(i) == overload.out) {
      for (std::size_t k = 0; k < width; ++k) slot[k].object = nullptr;
      if (object == nullptr || object == Py_None) continue;
      out = object;
      if (overload.with_out.thunk == nullptr) return fail("it has no out=");
    }
    if (argument.type == Type::Outs) {
      if (!convert_outs(argument, object, slot)) return false;
      continue;
    }
    slot->object = object;
    slot->given = true;
    if (object == nullptr) {
      if (!convert_default(argument, *slot)) return false;
    } else if (object == Py_None && (argument.flags & kOptional) != 0) {
      slot->given = false;
      slot->data = nullptr;
      slot->size = 0;
      if (argument.type == Type::Tensor) slot->tensor = &scratch.make<TensorBase>();
    } else if (!convert(argument, object, *slot)) {
      return wrong_type(argument, object);
    } else if (out != nullptr && static_cast<int>(i) > overload.out &&
               !is_of_out(argument, *slot)) {
      return fail(quoted(argument.name) + " does not match the tensor given as out=");
    }
  }
  return true;
}

// Returns whether an argument given together with `out` repeats a property of that tensor: dtype,
// layout or device, or pin_memory=False.
bool Attempt::is_of_out(const Argument& argument, const Slot& slot) const {
  const TensorBase& tensor = tensor_of(out);
  switch (argument.type) {
    case Type::ScalarType:
      return slot.integer == static_cast<std::int64_t>(tensor.scalar_type());
    case Type::Layout:
      return slot.integer == static_cast<std::int64_t>(tensor.layout());
    case Type::Device:
      return slot.device.type() == tensor.device().type() &&
             (!slot.device.has_index() || slot.device == tensor.device());
    default:
      return slot.integer == 0;
  }
}

namespace {

// NumPy's names of arguments, which PyTorch accepts too.
struct NumpyName {
  std::string_view numpy, own;
};
constexpr NumpyName kNumpyNames[] = {{"axis", "dim"}, {"keepdims", "keepdim"}, {"x", "input"},
                                     {"a", "input"},  {"x1", "input"},         {"x2", "other"}};

std::size_t index_of(const Overload& overload, std::string_view name) {
  std::size_t i = 0;
  while (i < overload.count && overload.arguments[i].name != name) ++i;
  return i;
}

// "argument 'gama'; did you mean 'gamma'?"
std::string misspelt(const Overload& overload, std::string_view name) {
  opgen::detail::NearestName nearest(name);
  for (std::size_t i = 0; i < overload.count; ++i) nearest.offer(overload.arguments[i].name);
  std::string text = quoted(name);
  if (!nearest.name.empty()) text += "; did you mean '" + std::string(nearest.name) + "'?";
  return text;
}

}  // namespace

bool Attempt::place(PyObject** objects) {
  const std::size_t named =
      given.names == nullptr ? 0 : static_cast<std::size_t>(PyTuple_GET_SIZE(given.names));
  const std::size_t own = given.method ? 1 : 0;
  const std::size_t positional = given.count - own;
  const std::size_t self = given.method ? static_cast<std::size_t>(overload.self) : kMaxSlots;
  if (given.method) {
    if (overload.self < 0) return fail("it is not a method");
    objects[self] = given.values[0];
  }
  const std::size_t room = overload.positional - own;
  // zeros(2, 3) is zeros((2, 3)).
  const std::size_t first = self == 0 ? 1 : 0;
  const bool one_list = room == 1 && positional != 0 && !is_sequence(given.values[own]) &&
                        overload.arguments[first].type == Type::Ints &&
                        overload.arguments[first].size == 0;
  if (positional > room || one_list) {
    std::int64_t ignored = 0;
    if (!one_list || (positional > 1 && !find_integer(given.values[own], ignored))) {
      return fail("it takes " + std::to_string(room) + (room == 1 ? " argument" : " arguments") +
                  " by position, not " + std::to_string(positional));
    }
    if (!find_integer(given.values[own], ignored)) {
      objects[first] = given.values[own];  // so that the message says that it is not a sequence
      return wrong_type(overload.arguments[first], given.values[own]);
    }
    Owned all(PyTuple_New(static_cast<Py_ssize_t>(positional)));
    if (!all) throw std::bad_alloc();
    for (std::size_t i = 0; i < positional; ++i) {
      Py_INCREF(given.values[own + i]);
      PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(i), given.values[own + i]);
    }
    objects[first] = scratch.make<Owned>(std::move(all)).get();
  } else {
    for (std::size_t i = 0; i < positional; ++i) {
      objects[i < self ? i : i + 1] = given.values[own + i];
    }
  }
  for (std::size_t i = 0; i < named; ++i) {
    PyObject* name = PyTuple_GET_ITEM(given.names, static_cast<Py_ssize_t>(i));
    if (!place_keyword(objects, name, given.values[given.count + i])) return false;
  }
  return true;
}

bool Attempt::place_keyword(PyObject** objects, PyObject* name, PyObject* value) {
  const std::string_view text = text_of(name);
  std::size_t i = index_of(overload, text);
  // A function accepts its tensor as `input`, the name in its signature, and as `self`, the name in
  // its schema.
  if (i == overload.count && text == "self" && !given.method && overload.self >= 0) {
    i = static_cast<std::size_t>(overload.self);
  }
  for (const NumpyName& row : kNumpyNames) {
    if (i == overload.count && text == row.numpy) i = index_of(overload, row.own);
  }
  if (i == overload.count) return why != nullptr && fail("it has no " + misspelt(overload, text));
  if (objects[i] != nullptr) return fail(quoted(text) + " is given twice");
  objects[i] = value;
  return true;
}

bool Attempt::convert_default(const Argument& argument, Slot& slot) {
  switch (argument.value.kind) {
    case Default::Kind::Required:
      return fail(quoted(argument.name) + " is missing");
    case Default::Kind::None:  // of a Tensor argument
      slot.given = false;
      slot.tensor = &scratch.make<TensorBase>();
      return true;
    case Default::Kind::Integer:
      slot.integer = argument.value.integer;
      if (argument.type == Type::Float) slot.real = static_cast<double>(argument.value.integer);
      if (argument.type == Type::Scalar) slot.scalar = Scalar(argument.value.integer);
      return true;
    case Default::Kind::Real:
      slot.real = argument.value.real;
      slot.scalar = Scalar(argument.value.real);
      return true;
    case Default::Kind::Text:
      slot.data = argument.value.text;
      slot.size = std::strlen(argument.value.text);
      return true;
    case Default::Kind::Integers:
      slot.data = argument.value.integers;
      slot.size = argument.value.count;
      return true;
  }
  return false;
}

}  // namespace opgen::python
