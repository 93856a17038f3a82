// error.cpp: messages of exceptions and warnings.
#include "opgen/core/error.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "dispatch/operator_trace.h"
#include "opgen/core/named_operator.h"

namespace opgen {

namespace {

class StringMessage final : public Message {
 public:
  using Message::append;
  void append(const char* text, std::size_t size) override { text_.append(text, size); }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

void print_warning(const char* text) {
  std::fprintf(stderr, "opgen warning: %s\n", text);
}

std::atomic<WarningHandler> warning_handler{&print_warning};

// Names the innermost operator once: in the text, or in its line of `operators`.
void name_once(std::string& text, std::string& operators) {
  const std::size_t line_end = std::min(operators.find('\n', 1), operators.size());
  const std::string_view line = std::string_view(operators).substr(0, line_end);
  // Keep the line of a kernel that several operators share: it names more than the message.
  if (line.find(" or ") != std::string_view::npos) return;
  text.erase(0, detail::length_of_operator_before_colon(text, line));
  if (detail::begins_with_operator(text, line)) operators.erase(0, line_end);
}

[[noreturn]] void throw_kind(detail::ErrorKind kind, std::string text) {
  std::string operators = detail::operator_trace();
  name_once(text, operators);
  switch (kind) {
    case detail::ErrorKind::Index:
      throw IndexError(text.data(), text.size(), operators.c_str());
    case detail::ErrorKind::Value:
      throw ValueError(text.data(), text.size(), operators.c_str());
    case detail::ErrorKind::Type:
      throw TypeError(text.data(), text.size(), operators.c_str());
    case detail::ErrorKind::NotImplemented:
      throw NotImplementedError(text.data(), text.size(), operators.c_str());
    case detail::ErrorKind::OutOfMemory:
      throw OutOfMemoryError(text.data(), text.size(), operators.c_str());
    case detail::ErrorKind::Error:
      break;
  }
  throw Error(text.data(), text.size(), operators.c_str());
}

template <class T>
void append_number(Message& message, T value) {
  char buffer[24];  // 64 bits have at most 20 digits
  const char* end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  message.append(buffer, static_cast<std::size_t>(end - buffer));
}

}  // namespace

void Message::append(const char* text) {
  append(text, std::strlen(text));
}

void Message::append_integer(long long value) {
  append_number(*this, value);
}

void Message::append_unsigned(unsigned long long value) {
  append_number(*this, value);
}

void Message::append_double(double value) {
  // Writes the shortest digits that read back as the same value, in the format of printf's %g.
  char buffer[40];
  const char* end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const char* e = std::find(static_cast<const char*>(buffer), end, 'e');
  if (e != end) {  // neither inf nor nan
    const auto digits = std::count_if(static_cast<const char*>(buffer), e,
                                      [](char c) { return c >= '0' && c <= '9'; });
    int exponent = 0;
    std::from_chars(e + (e[1] == '+' ? 2 : 1), end, exponent);
    if (exponent >= -4 && exponent < std::max<std::ptrdiff_t>(6, digits)) {
      end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed).ptr;
    }
  }
  append(buffer, static_cast<std::size_t>(end - buffer));
}

struct Error::Text {
  std::atomic<int> count;
  std::size_t message;  // offset of the message without the operators
  char text[1];
};

Error::Error(const char* text, std::size_t size, const char* operators) {
  std::size_t added = std::strlen(operators);
  std::size_t whole = size + added + 1;
  std::size_t alone = added == 0 ? 0 : size + 1;
  text_ = static_cast<Text*>(std::malloc(offsetof(Text, text) + whole + alone));
  if (text_ == nullptr) return;
  ::new (static_cast<void*>(text_)) Text{1, added == 0 ? 0 : whole, {}};
  std::memcpy(text_->text, text, size);
  std::memcpy(text_->text + size, operators, added + 1);
  if (alone == 0) return;
  std::memcpy(text_->text + whole, text, size);
  text_->text[whole + size] = '\0';
}
Error::Error(const char* text, std::size_t size) : Error(text, size, "") {}
Error::Error(const char* text) : Error(text, std::strlen(text)) {}
Error::Error(const Error& other) noexcept : std::exception(other), text_(other.text_) {
  if (text_ != nullptr) text_->count.fetch_add(1, std::memory_order_relaxed);
}
Error& Error::operator=(const Error& other) noexcept {
  Error copy(other);
  std::swap(text_, copy.text_);
  return *this;
}
Error::~Error() {
  if (text_ != nullptr && text_->count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    text_->~Text();
    std::free(text_);
  }
}
const char* Error::what() const noexcept {
  return text_ != nullptr ? text_->text : "out of memory";
}

const char* Error::msg() const noexcept {
  return text_ != nullptr ? text_->text + text_->message : "out of memory";
}

// These are the key functions, so that the vtable and type_info of each class are only in this
// library.
IndexError::~IndexError() = default;
ValueError::~ValueError() = default;
TypeError::~TypeError() = default;
NotImplementedError::~NotImplementedError() = default;
OutOfMemoryError::~OutOfMemoryError() = default;

WarningHandler set_warning_handler(WarningHandler handler) noexcept {
  return warning_handler.exchange(handler != nullptr ? handler : &print_warning);
}

namespace detail {

void throw_error(ErrorKind kind, const char* condition, std::initializer_list<MessagePart> parts) {
  StringMessage message;
  for (const MessagePart& part : parts) part.append_to(message);
  if (parts.size() == 0) {
    message.append("expected ");
    message.append(condition);
    message.append(", which is false");
  }
  throw_kind(kind, message.text());
}

void throw_internal_error(const char* condition, const char* file, int line,
                          std::initializer_list<MessagePart> parts) {
  StringMessage message;
  message.append("internal error at ");
  message.append(file);
  message.append(":");
  message.append_integer(line);
  message.append(": ");
  message.append(condition);
  message.append(" is false. ");
  for (const MessagePart& part : parts) part.append_to(message);
  throw_kind(ErrorKind::Error, message.text());
}

void warn(std::initializer_list<MessagePart> parts) {
  StringMessage message;
  for (const MessagePart& part : parts) part.append_to(message);
  warning_handler.load()(message.text().c_str());
}
void warn_once(Atomic<bool>& warned, std::initializer_list<MessagePart> parts) {
  if (warned.replace_null(true)) return;
  try {
    warn(parts);
  } catch (...) {
    warned.store_release(false);
    throw;
  }
}

}  // namespace detail
}  // namespace opgen
