// text.cpp: converts elements to lists, and prints tensors.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "objects.h"
#include "opgen/autograd/forward.h"
#include "opgen/cpu/element.h"
#include "opgen/cpu/print.h"
#include "opgen/tensor/copy.h"

namespace opgen::python {

namespace {

Scalar element(ScalarType type, const void* data) {
  switch (type) {
#define OPGEN_CASE(cpp_type, name, number) \
  case ScalarType::name:                   \
    return Scalar(opgen::element_at(static_cast<const cpp_type*>(data)));
    OPGEN_FORALL_SCALAR_TYPES(OPGEN_CASE)
#undef OPGEN_CASE
    case ScalarType::Undefined:
      break;
  }
  return Scalar();
}

// Returns the bytes from one element of a dimension to the next. Strides of a tensor without
// elements, and of dimensions of size one, may have any value.
std::int64_t step_of(const TensorBase& tensor, std::size_t dim) {
  if (tensor.numel() == 0 || tensor.sizes()[dim] == 1) return 0;
  return tensor.strides()[dim] * static_cast<std::int64_t>(tensor.itemsize());
}

PyObject* list_of(const TensorBase& tensor, std::size_t dim, const char* data) {
  if (dim == tensor.sizes().size()) return wrap_scalar(element(tensor.scalar_type(), data));
  const std::int64_t size = tensor.sizes()[dim];
  const std::int64_t step = step_of(tensor, dim);
  Owned list(PyList_New(size));
  if (!list) return nullptr;
  PyObject_GC_UnTrack(list.get());  // the garbage collector must not see it before it is complete
  for (std::int64_t i = 0; i < size; ++i) {
    PyObject* item = list_of(tensor, dim + 1, data + i * step);
    if (item == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), i, item);
  }
  PyObject_GC_Track(list.get());
  return list.release();
}

// What set_printoptions() changes. The GIL protects it.
struct PrintOptions {
  int precision = -1;  // digits after the point; with -1, as many as identify the number
  std::int64_t linewidth = 80;
  opgen::detail::Shown shown;
};
PrintOptions print_options;

// Returns the text of a number; empty, with an exception set, on failure.
std::string float_text(double value, bool is_double) {
  const int precision = print_options.precision;
  const double size = std::fabs(value);
  // Print a float32 with only as many digits as identify it among float32 values.
  char format = is_double ? 'r' : 'g';
  int digits = is_double ? 0 : 6;
  if (precision >= 0 && std::isfinite(value)) {
    format = value == 0 || (size >= 1e-5 && size < 1e8) ? 'f' : 'e';
    digits = precision;
  }
  char* text = PyOS_double_to_string(value, format, digits, Py_DTSF_ADD_DOT_0, nullptr);
  if (text == nullptr) return {};
  std::string result = text;
  PyMem_Free(text);
  return result;
}

std::string element_text(ScalarType type, const char* data) {
  const Owned number(wrap_scalar(element(type, data)));
  if (!number) return {};
  if (PyFloat_Check(number.get())) {
    return float_text(PyFloat_AS_DOUBLE(number.get()), type == kDouble);
  }
  if (PyComplex_Check(number.get()) && print_options.precision >= 0) {
    const Py_complex parts = PyComplex_AsCComplex(number.get());
    const std::string imag = float_text(parts.imag, true);
    return "(" + float_text(parts.real, true) + (imag[0] == '-' ? "" : "+") + imag + "j)";
  }
  const Owned shown(PyObject_Repr(number.get()));
  const char* words = shown ? PyUnicode_AsUTF8(shown.get()) : nullptr;
  return words == nullptr ? std::string() : std::string(words);
}

// Prints the elements in brackets. Those of several rows are right-aligned in columns; rows longer
// than a line continue on the next one.
class ElementsText {
 public:
  explicit ElementsText(const TensorBase& tensor) : tensor_(tensor) {}

  // Returns an empty text, with an exception set, on failure.
  std::string write() {
    if (!collect(0, static_cast<const char*>(tensor_.data_ptr()))) return {};
    if (tensor_.dim() == 0) return texts_[0];
    std::size_t length = kStart;
    for (const std::string& text : texts_) length += text.size() + 2;
    if (rows_ > 1 || length > line()) {
      for (const std::string& text : texts_) width_ = std::max(width_, text.size());
    }
    append(0);
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kStart = 7;  // "tensor("
  [[nodiscard]] static std::size_t line() {
    return static_cast<std::size_t>(print_options.linewidth);
  }

  bool collect(std::size_t dim, const char* data) {
    if (dim == tensor_.sizes().size()) {
      texts_.push_back(element_text(tensor_.scalar_type(), data));
      return !texts_.back().empty();
    }
    rows_ += dim + 1 == tensor_.sizes().size();
    const std::int64_t step = step_of(tensor_, dim);
    bool done = true;
    opgen::detail::for_each_shown(
        tensor_, dim, [&](std::int64_t i) { done = done && collect(dim + 1, data + i * step); },
        [] {}, print_options.shown);
    return done;
  }

  // Appends the part of a row, or a row, of dimension `dim`.
  void append(std::size_t dim) {
    const std::size_t indent = kStart + dim + 1;
    const bool is_row = dim + 1 == tensor_.sizes().size();
    bool is_first = true;
    std::size_t column = indent;
    const auto separate = [&](std::size_t size) {
      if (!is_first) out_ += ',';
      column += 2;
      if (!is_first && (!is_row || column + size + 1 > line())) {
        out_.append("\n").append(indent, ' ');
        column = indent;
      } else if (!is_first) {
        out_ += ' ';
      }
      is_first = false;
      column += size;
    };
    out_ += '[';
    opgen::detail::for_each_shown(
        tensor_, dim,
        [&](std::int64_t) {
          const std::size_t size = is_row ? std::max(width_, texts_[next_].size()) : 0;
          separate(size);
          if (!is_row) return append(dim + 1);
          out_.append(size - texts_[next_].size(), ' ').append(texts_[next_]);
          ++next_;
        },
        [&] {
          separate(3);
          out_ += "...";
        },
        print_options.shown);
    out_ += ']';
  }

  const TensorBase& tensor_;
  std::vector<std::string> texts_;
  std::size_t rows_ = 0;
  std::size_t width_ = 0;
  std::size_t next_ = 0;
  std::string out_;
};

std::string sizes_text(const TensorBase& tensor) {
  std::string text = "(";
  for (std::int64_t size : tensor.sizes()) text += std::to_string(size) + ", ";
  if (tensor.dim() > 1) text.erase(text.size() - 2);
  if (tensor.dim() == 1) text.pop_back();
  return text + ")";
}

// Reads a number that is at least `least`. None leaves the value as it is.
bool read_option(PyObject* object, const char* name, std::int64_t least, std::int64_t& value) {
  if (object == Py_None) return true;
  const std::int64_t number = PyLong_AsLongLong(object);
  if (number == -1 && PyErr_Occurred() != nullptr) return false;
  if (number < least) {
    PyErr_Format(PyExc_ValueError, "%s must be at least %lld, not %lld", name,
                 static_cast<long long>(least), static_cast<long long>(number));
    return false;
  }
  value = number;
  return true;
}

// set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None)
PyObject* set_print_options(PyObject*, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"precision", "threshold", "edgeitems",
                                "linewidth", "profile",   nullptr};
  PyObject* given[] = {Py_None, Py_None, Py_None, Py_None};
  const char* profile = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OOOOz:set_printoptions",
                                   const_cast<char**>(names), &given[0], &given[1], &given[2],
                                   &given[3], &profile)) {
    return nullptr;
  }
  PrintOptions changed = profile == nullptr ? print_options : PrintOptions();
  if (profile != nullptr && std::strcmp(profile, "full") == 0) {
    changed.shown.most = std::numeric_limits<std::int64_t>::max();
  } else if (profile != nullptr && std::strcmp(profile, "default") != 0) {
    return PyErr_Format(PyExc_ValueError, "profile must be 'default' or 'full', not '%s'", profile);
  }
  std::int64_t precision = changed.precision;
  if (!read_option(given[0], "precision", 0, precision) ||
      !read_option(given[1], "threshold", 0, changed.shown.most) ||
      !read_option(given[2], "edgeitems", 1, changed.shown.edge) ||
      !read_option(given[3], "linewidth", 1, changed.linewidth)) {
    return nullptr;
  }
  changed.precision = static_cast<int>(std::min<std::int64_t>(precision, 40));
  print_options = changed;
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef text_functions[] = {
    {"set_printoptions", as_method(&set_print_options), METH_VARARGS | METH_KEYWORDS,
     "set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, "
     "profile=None): changes how tensors are printed: the digits after the point, from how many "
     "elements on only `edgeitems` at each end of a dimension are shown, and the length of a line. "
     "profile='default' resets all of these, and 'full' shows all elements."},
    {nullptr, nullptr, 0, nullptr}};

PyObject* to_list(const TensorBase& tensor) {
  OPGEN_CHECK_NOT_IMPLEMENTED(tensor.is_cpu(), "tolist() of a tensor on ", tensor.device(),
                              ": its elements are not in the memory of the CPU");
  OPGEN_CHECK_NOT_IMPLEMENTED(
      tensor.has_storage(),
      "tolist() does not work inside vmap, where a tensor stands for a whole batch");
  if (tensor.dim() == 0) return list_of(tensor, 0, static_cast<const char*>(tensor.data_ptr()));
  // Creating lists may run finalizers, which may change or resize the tensor.
  const TensorBase copy = opgen::detail::clone(tensor);
  return list_of(copy, 0, static_cast<const char*>(copy.data_ptr()));
}

PyObject* show_tensor(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const TensorBase& tensor = tensor_of(self);
    std::string text = "tensor(";
    if (!tensor.defined()) return PyUnicode_FromString("tensor(undefined)");
    const bool batched = !tensor.has_storage();
    const bool shown = tensor.is_cpu() && tensor.numel() != 0 && !batched;
    if (shown) {
      const std::string elements = ElementsText(tensor).write();
      if (elements.empty()) return nullptr;
      text += elements;
    } else {
      text += tensor.is_cpu() && !batched ? "[], size=" : "..., size=";
      text += sizes_text(tensor);
    }
    const ScalarType type = tensor.scalar_type();
    // Elements show whether a tensor is Long or Bool.
    if (type != kFloat && !(shown && (type == kLong || type == kBool))) {
      text += std::string(", dtype=") + dtype_name(type);
    }
    if (!tensor.is_cpu())
      text += std::string(", device='") + toString(tensor.device().type()) + "'";
    if (!autograd::is_leaf(tensor)) {
      text += ", grad_fn=<" + autograd::grad_fn(tensor)->name() + ">";
    } else if (autograd::requires_grad(tensor)) {
      text += ", requires_grad=True";
    }
    if (const TensorBase tangent = autograd::tangent_of(tensor); tangent.defined()) {
      Owned other(new_tensor(tangent));
      Owned shown_tangent(other ? PyObject_Repr(other.get()) : nullptr);
      const char* words = shown_tangent ? PyUnicode_AsUTF8(shown_tangent.get()) : nullptr;
      if (words == nullptr) return nullptr;
      text += std::string(", tangent=") + words;
    }
    return PyUnicode_FromString((text + ")").c_str());
  });
}

}  // namespace opgen::python
