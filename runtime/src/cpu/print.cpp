// print.cpp: operator<< of tensors.
#include <algorithm>
#include <charconv>
#include <ostream>
#include <string>
#include <vector>

#include "core/text.h"
#include "opgen/cpu/dispatch.h"
#include "opgen/cpu/element.h"
#include "opgen/cpu/print.h"
#include "opgen/tensor.h"
#include "opgen/tensor/copy.h"

namespace opgen {

namespace {

// Longer rows continue on the next line.
constexpr std::size_t kLine = 80;
constexpr int kMostDigits = 40;

template <class T>
std::string number_text(T value, int digits) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else if constexpr (is_complex_type<T>::value) {
    std::string text = number_text(value.real(), digits);
    const std::string imag = number_text(value.imag(), digits);
    if (imag[0] != '-') text += '+';
    return text.append(imag).append("i");
  } else {
    char buffer[kMostDigits + 20];
    const double wide = static_cast<double>(value);
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, wide, std::chars_format::general,
                                   std::clamp(digits, 1, kMostDigits));
    return {buffer, end.ptr};
  }
}

template <class T>
std::string element_text(const char* at, int digits) {
  return number_text(element_at(reinterpret_cast<const T*>(at)), digits);
}

// Appends the texts of all printed elements, in order.
void append_texts(std::vector<std::string>& texts, const TensorBase& tensor, std::size_t dim,
                  const char* data, std::string (*text)(const char* at, int digits), int digits) {
  if (dim == tensor.sizes().size()) {
    texts.push_back(text(data, digits));
    return;
  }
  const std::int64_t stride = tensor.strides()[dim] * static_cast<std::int64_t>(tensor.itemsize());
  detail::for_each_shown(
      tensor, dim,
      [&](std::int64_t i) {
        append_texts(texts, tensor, dim + 1, data + i * stride, text, digits);
      },
      [] {});
}

// Prints the texts in brackets, right-aligned in columns.
class Columns {
 public:
  Columns(const TensorBase& tensor, std::vector<std::string> texts)
      : tensor_(tensor), texts_(std::move(texts)) {
    for (const std::string& text : texts_) width_ = std::max(width_, text.size());
  }

  std::string write() {
    if (tensor_.dim() == 0) return texts_[0];
    append(0);
    return std::move(out_);
  }

 private:
  void append(std::size_t dim) {
    const std::size_t dims = tensor_.sizes().size();
    const bool innermost = dim + 1 == dims;
    // Appends instead of using operator+, for which g++ 12 gives a false warning at -O3.
    std::string indented(1, '\n');
    indented.append(dim + 1, ' ');
    std::string between(1, ',');
    if (innermost) {
      between += ' ';
    } else {
      between.append(dims - dim - 2, '\n').append(indented);
    }
    std::size_t column = dim + 1;
    bool first = true;
    const auto separate = [&](std::size_t width) {
      if (!first) out_ += between;
      first = false;
      if (innermost && column > dim + 1 && column + width + 1 > kLine) {
        out_.pop_back();
        out_ += indented;
        column = dim + 1;
      }
      column += width + 2;
    };
    out_ += '[';
    detail::for_each_shown(
        tensor_, dim,
        [&](std::int64_t) {
          separate(width_);
          if (!innermost) return append(dim + 1);
          const std::string& text = texts_[next_++];
          out_.append(width_ - text.size(), ' ').append(text);
        },
        [&] {
          separate(3);
          out_ += "...";
        });
    out_ += ']';
  }

  const TensorBase& tensor_;
  std::vector<std::string> texts_;
  std::size_t width_ = 0;
  std::size_t next_ = 0;
  std::string out_;
};

std::string elements_text(const TensorBase& tensor, int digits) {
  if (tensor.numel() == 0) return "[]";
  std::vector<std::string> texts;
  const auto text = dispatch<NumberTypes, bool>(tensor.scalar_type(), "operator<<",
                                                []<class T> { return &element_text<T>; });
  append_texts(texts, tensor, 0, static_cast<const char*>(tensor.const_data_ptr()), text, digits);
  return Columns(tensor, std::move(texts)).write();
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const TensorBase& tensor) {
  std::string text = message_text(tensor);
  if (!tensor.defined()) return out << text;
  if (!tensor.is_contiguous()) text += ", strides " + message_text(tensor.strides());
  if (tensor.is_meta()) return out << text;
  if (!tensor.has_storage()) return out << text << ", a batch inside vmap";
  TensorBase read;
  try {
    read = detail::to_device(tensor, kCPU);
  } catch (const Error&) {
    return out << text << ", elements that cannot be copied to the CPU";
  }
  return out << text << '\n' << elements_text(read, static_cast<int>(out.precision()));
}

}  // namespace opgen
