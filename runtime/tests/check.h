// check.h: the tests' harness. TEST(name) { CHECK(…); } registers itself. Include it once per
// executable.
#pragma once

#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

namespace check {

struct Test {
  const char* name;
  void (*run)();
};
inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}
inline int failures = 0;
inline bool add(const char* name, void (*run)()) {
  tests().push_back({name, run});
  return true;
}
inline void fail(const char* file, int line, const std::string& what) {
  ++failures;
  std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
}

}  // namespace check

#define TEST(name)                                             \
  static void name();                                          \
  static const bool name##_added = ::check::add(#name, &name); \
  static void name()
#define CHECK(...)                                                                    \
  do {                                                                                \
    if (!(__VA_ARGS__)) ::check::fail(__FILE__, __LINE__, "not true: " #__VA_ARGS__); \
  } while (false)
#define CHECK_EQ(a, b)                                                                 \
  do {                                                                                 \
    if (!((a) == (b))) ::check::fail(__FILE__, __LINE__, "not equal: " #a " and " #b); \
  } while (false)
// Checks that the statement throws `Type` with a message that contains `part`.
#define CHECK_THROWS(Type, part, ...)                                                     \
  do {                                                                                    \
    bool opgen_thrown = false;                                                            \
    try {                                                                                 \
      static_cast<void>(__VA_ARGS__);                                                     \
    } catch (const Type& opgen_error) {                                                   \
      opgen_thrown = true;                                                                \
      if (std::strstr(opgen_error.what(), part) == nullptr) {                             \
        ::check::fail(__FILE__, __LINE__, std::string("text: ") + opgen_error.what());    \
      }                                                                                   \
    }                                                                                     \
    if (!opgen_thrown) ::check::fail(__FILE__, __LINE__, "did not throw: " #__VA_ARGS__); \
  } while (false)

int main(int argc, char** argv) {
  int ran = 0;
  for (const check::Test& test : check::tests()) {
    if (argc > 1 && std::strcmp(argv[1], test.name) != 0) continue;
    int before = check::failures;
    try {
      test.run();
    } catch (const std::exception& error) {
      check::fail(test.name, 0, std::string("exception: ") + error.what());
    }
    ++ran;
    if (check::failures != before) std::fprintf(stderr, "FAILED %s\n", test.name);
  }
  std::printf("%d tests, %d failures\n", ran, check::failures);
  return check::failures == 0 ? 0 : 1;
}
