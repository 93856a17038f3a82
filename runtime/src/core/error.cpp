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

[[noreturn]] void throw_kind(detail::ErrorKind kind, const std::string& text) {
  switch (kind) {
    case detail::ErrorKind::Index:
      throw IndexError(text.data(), text.size());
    case detail::ErrorKind::Value:
      throw ValueError(text.data(), text.size());
    case detail::ErrorKind::Type:
      throw TypeError(text.data(), text.size());
    case detail::ErrorKind::NotImplemented:
      throw NotImplementedError(text.data(), text.size());
    case detail::ErrorKind::OutOfMemory:
      throw OutOfMemoryError(text.data(), text.size());
    case detail::ErrorKind::Error:
      break;
  }
  throw Error(text.data(), text.size());
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

  // Returns null without memory.
  static Text* make(std::string_view message, std::string_view operators) noexcept {
    const std::size_t whole = message.size() + operators.size() + 1;
    const std::size_t alone = operators.empty() ? 0 : message.size() + 1;
    void* block = std::malloc(sizeof(Text) + whole + alone);
    if (block == nullptr) return nullptr;
    Text* made = ::new (block) Text{1, operators.empty() ? 0 : whole, {}};
    char* end = std::copy(message.begin(), message.end(), static_cast<char*>(made->text));
    end = std::copy(operators.begin(), operators.end(), end);
    *end++ = '\0';
    if (alone != 0) *std::copy(message.begin(), message.end(), end) = '\0';
    return made;
  }
  static void release(Text* text) noexcept {
    if (text == nullptr || text->count.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    text->~Text();
    std::free(text);
  }
  static void replace(Error& error, std::string_view message, std::string_view operators) noexcept {
    if (Text* made = make(message, operators)) release(std::exchange(error.text_, made));
  }
};

Error::Error(const char* text, std::size_t size) : text_(Text::make({text, size}, {})) {}
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
  Text::release(text_);
}
const char* Error::what() const noexcept {
  return text_ != nullptr ? text_->text : "out of memory";
}

const char* Error::msg() const noexcept {
  return text_ != nullptr ? text_->text + text_->message : "out of memory";
}

void Error::append(const char* text, std::size_t size) noexcept {
  try {
    const std::string message = std::string(msg()).append(text, size);
    Text::replace(*this, message, what() + std::strlen(msg()));
  } catch (const std::bad_alloc&) {
    return;
  }
}

void Error::add_operator(const char* line, std::size_t size) noexcept {
  const std::string_view added(line, size);
  std::string_view message = msg();
  const std::string_view operators = what() + message.size();
  if (operators.ends_with(added)) return;
  if (operators.empty()) {
    message.remove_prefix(detail::length_of_operator_before_colon(message, added));
    if (detail::begins_with_operator(message, added)) return Text::replace(*this, message, {});
  }
  try {
    Text::replace(*this, message, std::string(operators).append(added));
  } catch (const std::bad_alloc&) {
    return;
  }
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
