// call.h: thunk<Signature, …>: makes the typed C++ call from the parsed arguments of a Python call.
// Include after the generated TensorBody.h: Tensor must be complete where a thunk is used.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/core/macros.h"
#include "opgen/dispatch/operator.h"
#include "opgen/python/table.h"
#include "opgen/registration/types.h"
#include "opgen/tensor/tensor.h"

typedef struct _object PyObject;

namespace opgen::python {

// One parsed argument. Its pointers refer to the call's scratch memory or to Python objects that
// the caller keeps alive.
struct Slot {
  PyObject* object;  // the argument, borrowed; null for a default
  bool given;        // false for None
  union {
    std::int64_t integer;
    double real;
    const TensorBase* tensor;
    const void* data;  // of a list or a string
  };
  std::size_t size;  // of a list or a string
  union {
    Scalar scalar;
    Device device;
  };

  // Does not initialise the members: a call has many slots and uses few.
  Slot() noexcept {}  // NOLINT(modernize-use-equals-default)
};

struct Call {
  const Slot* slots;
  std::size_t count;
  const Overload* overload;
  const OperatorSlot* slot;
  PyObject* const* result_type;  // a named tuple, or null
  bool release;                  // the work is long enough to release the GIL
};

// Releases the GIL during its lifetime, if constructed with true.
class OPGEN_API GilRelease {
 public:
  explicit GilRelease(bool release) : state_(release ? save() : nullptr) {}
  ~GilRelease() {
    if (state_ != nullptr) restore(state_);
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

  static void* save();
  static void restore(void* state) noexcept;

 private:
  void* state_;
};

// Converts results to new references. If the operator returns one of its arguments, the result is
// the Python object that was passed.
OPGEN_API PyObject* wrap_tensor(TensorBase tensor, const Call& call);
OPGEN_API PyObject* wrap_given(const TensorBase& tensor, const Call& call);
OPGEN_API PyObject* wrap_scalar(const Scalar& value);
OPGEN_API PyObject* wrap_bool(bool value);
OPGEN_API PyObject* wrap_int(std::int64_t value);
OPGEN_API PyObject* wrap_double(double value);
OPGEN_API PyObject* wrap_dtype(ScalarType value);
OPGEN_API PyObject* wrap_none(const Call& call);
// Takes ownership of the references in `items`.
OPGEN_API PyObject* wrap_tuple(PyObject** items, std::size_t count, const Call* call);

// Converts an argument to the operator's parameter type.
template <class P>
struct Take {
  static P from(const Slot& slot) {
    if constexpr (std::is_same_v<P, bool>) {
      return slot.integer != 0;
    } else if constexpr (std::is_integral_v<P> || std::is_enum_v<P>) {
      return static_cast<P>(slot.integer);
    } else if constexpr (std::is_floating_point_v<P>) {
      return slot.real;
    } else if constexpr (std::is_same_v<P, std::string_view>) {
      return {static_cast<const char*>(slot.data), slot.size};
    } else if constexpr (std::is_same_v<P, Device>) {
      return slot.device;
    } else if constexpr (std::is_same_v<P, Generator>) {
      return *static_cast<const Generator*>(slot.data);
    } else if constexpr (std::is_same_v<P, Scalar>) {
      return slot.scalar;
    } else {
      static_assert(std::is_base_of_v<TensorBase, P>, "no Python argument converts to this type");
      return static_cast<const P&>(*slot.tensor);
    }
  }
};
template <class P>
struct Take<const P&> : Take<P> {};
template <class T>
requires std::is_base_of_v<TensorBase, T>
struct Take<const T&> {
  static const T& from(const Slot& slot) { return static_cast<const T&>(*slot.tensor); }
};
template <class T>
requires std::is_base_of_v<TensorBase, T>
struct Take<T&> {
  static T& from(const Slot& slot) {
    return static_cast<T&>(const_cast<TensorBase&>(*slot.tensor));
  }
};
template <>
struct Take<const Scalar&> {
  static const Scalar& from(const Slot& slot) { return slot.scalar; }
};
template <class T>
struct Take<std::optional<T>> {
  static std::optional<T> from(const Slot& slot) {
    if (!slot.given) return std::nullopt;
    return Take<T>::from(slot);
  }
};
template <class T>
struct Take<ArrayRef<T>> {
  static ArrayRef<T> from(const Slot& slot) {
    return {static_cast<const T*>(slot.data), slot.size};
  }
};
template <class T>
struct Take<OptionalArrayRef<T>> {
  static OptionalArrayRef<T> from(const Slot& slot) {
    if (!slot.given) return std::nullopt;
    return OptionalArrayRef<T>(Take<ArrayRef<T>>::from(slot));
  }
};
template <class T>
struct Take<List<std::optional<T>>> {
  static List<std::optional<T>> from(const Slot& slot) {
    List<std::optional<T>> list;
    list.reserve(slot.size);
    const TensorBase* items = static_cast<const TensorBase*>(slot.data);
    for (std::size_t i = 0; i < slot.size; ++i) {
      list.push_back(items[i].defined() ? std::optional<T>(items[i]) : std::nullopt);
    }
    return list;
  }
};
template <std::size_t N>
struct Take<std::array<bool, N>> {
  static std::array<bool, N> from(const Slot& slot) {
    std::array<bool, N> values;
    for (std::size_t i = 0; i < N; ++i) values[i] = static_cast<const bool*>(slot.data)[i];
    return values;
  }
};

template <class R>
PyObject* wrap(R&& result, const Call& call) {
  using T = std::remove_cvref_t<R>;
  if constexpr (std::is_base_of_v<TensorBase, T>) {
    if constexpr (std::is_lvalue_reference_v<R>) {
      return wrap_given(result, call);
    } else {
      return wrap_tensor(std::move(result), call);
    }
  } else if constexpr (std::is_same_v<T, Scalar>) {
    return wrap_scalar(result);
  } else if constexpr (std::is_same_v<T, bool>) {
    return wrap_bool(result);
  } else if constexpr (std::is_same_v<T, ScalarType>) {
    return wrap_dtype(result);
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return wrap_int(static_cast<std::int64_t>(result));
  } else if constexpr (std::is_floating_point_v<T>) {
    return wrap_double(result);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    constexpr std::size_t count = std::tuple_size_v<T>;
    PyObject* items[count];
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((items[I] = wrap<std::tuple_element_t<I, T>>(
            static_cast<std::tuple_element_t<I, T>&&>(std::get<I>(result)), call)),
       ...);
    }
    (std::make_index_sequence<count>());
    return wrap_tuple(items, count, &call);
  } else {
    std::vector<PyObject*> items;
    items.reserve(result.size());
    for (auto& item : result) items.push_back(wrap_tensor(std::move(item), call));
    return wrap_tuple(items.data(), items.size(), nullptr);
  }
}

namespace detail {

template <class Signature, std::size_t... I>
struct Caller;
template <class R, class... A, std::size_t... I>
struct Caller<R(A...), I...> {
  static R run(const Call& call) {
    GilRelease released(call.release);
    return opgen::detail::call<R, A...>(*call.slot, Take<A>::from(call.slots[I])...);
  }
  static PyObject* thunk(const Call& call) {
    if constexpr (std::is_void_v<R>) {
      run(call);
      return wrap_none(call);
    } else {
      return wrap<R>(run(call), call);
    }
  }
};

}  // namespace detail

// All operators with the same signature share one thunk: PyTorch's 2,300 operators need only 700
// thunks. `I` are the indices of the slots that hold the operator's arguments.
template <class Signature, std::size_t... I>
PyObject* thunk(const Call& call) {
  return detail::Caller<Signature, I...>::thunk(call);
}

}  // namespace opgen::python
