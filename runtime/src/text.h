// text.h: what can be written into a message, as a string. Internal.
#pragma once

#include <string>

#include "opgen/error.h"

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

}  // namespace opgen
