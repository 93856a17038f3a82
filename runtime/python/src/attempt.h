// attempt.h: tries to match the arguments of a call with an overload. Internal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "objects.h"

namespace opgen::python {

inline constexpr std::size_t kMaxSlots = 64;

// Owns the values that slots point to; freed at the end of the call.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    while (boxes_ != nullptr) delete std::exchange(boxes_, boxes_->next);
  }
  std::int64_t* integers(std::size_t count) {
    if (used_ + count <= kInline) return inline_ + std::exchange(used_, used_ + count);
    return make<std::vector<std::int64_t>>(count).data();
  }
  template <class T, class... A>
  T& make(A&&... arguments) {
    auto box = std::make_unique<BoxOf<T>>(std::forward<A>(arguments)...);
    box->next = boxes_;
    boxes_ = box.get();
    return box.release()->value;
  }

 private:
  struct Box {
    virtual ~Box() = default;
    Box* next = nullptr;
  };
  template <class T>
  struct BoxOf final : Box {
    template <class... A>
    explicit BoxOf(A&&... arguments) : value(std::forward<A>(arguments)...) {}
    T value;
  };
  static constexpr std::size_t kInline = 32;
  std::int64_t inline_[kInline];
  std::size_t used_ = 0;
  Box* boxes_ = nullptr;
};

struct Arguments {
  PyObject* const* values;
  std::size_t count;
  PyObject* names;  // names of the last values; null if there are none
  bool method;      // the first value is the object of a method call
};

// One attempt. `why` is null unless the caller wants a message.
struct Attempt {
  const Overload& overload;
  const Arguments& given;
  Scratch& scratch;
  std::string* why;
  Slot* slots;
  std::size_t slot_count = 0;
  std::int64_t work = 0;  // elements of the largest tensor or size argument
  PyObject* out = nullptr;
  bool requires_grad = false;  // the result must require a gradient
  bool too_large = false;      // an int argument is too large, so the call fails

  bool parse();

 private:
  bool place(PyObject** objects);
  bool place_keyword(PyObject** objects, PyObject* name, PyObject* value);
  bool convert(const Argument& argument, PyObject* object, Slot& slot);
  bool convert_default(const Argument& argument, Slot& slot);
  bool convert_tensor(const Argument& argument, PyObject* object, Slot& slot);
  bool convert_integers(const Argument& argument, PyObject* object, Slot& slot);
  bool convert_list(const Argument& argument, PyObject* object, Slot& slot);
  bool convert_tensors(const Argument& argument, PyObject* object, Slot& slot);
  bool convert_outs(const Argument& argument, PyObject* object, Slot* first);
  void take_tensor(PyObject* object, Slot& slot) {
    slot.object = object;
    slot.given = true;
    slot.tensor = &tensor_of(object);
    work = std::max(work, slot.tensor->numel());
  }
  bool is_of_out(const Argument& argument, const Slot& slot) const;
  bool wrong_type(const Argument& argument, PyObject* object);
  bool wrong_item(const Argument& argument, std::size_t index, PyObject* item);
  bool fail(std::string text) {
    if (why != nullptr) *why = std::move(text);
    return false;
  }
};

// Returns the type of `object` as messages spell it: "Tensor".
std::string type_name(PyObject* object);
// Returns "argument 'dim'".
std::string quoted(std::string_view name);

}  // namespace opgen::python
