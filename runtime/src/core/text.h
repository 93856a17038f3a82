// text.h: formats a value as a string for a message. Internal.
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <string>
#include <typeinfo>

#include "opgen/core/error.h"

namespace opgen {

template <class T>
[[nodiscard]] std::string message_text(const T& value) {
  struct Sink final : Message {
    void append(const char* text, std::size_t size) override { out.append(text, size); }
    std::string out;
  } sink;
  detail::append_any(sink, value);
  return std::move(sink.out);
}

// Returns the C++ name for messages; type_info has the mangled name.
[[nodiscard]] inline std::string readable(const std::type_info& type) {
  int status = 0;
  char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string result = status == 0 ? text : type.name();
  std::free(text);
  return result;
}

}  // namespace opgen
