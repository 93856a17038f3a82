// calls.cpp: `calls FORM COUNT` runs a loop of C++ calls and prints nanoseconds of processor time
// per call.
#include <called/Functions.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace {

template <class Call>
double timed(long count, Call&& call) {
  const std::clock_t start = std::clock();
  for (long i = 0; i < count; ++i) call();
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return 1e9 * seconds / static_cast<double>(count);
}

double run(std::string_view form, long count) {
  at::Tensor a = at::empty({1}), b = at::empty({1}), out = at::empty({1});
  *a.mutable_data_ptr<float>() = 0;
  *b.mutable_data_ptr<float>() = 0;
  if (form == "noop(a, b)") return timed(count, [&] { at::noop(a, b); });
  if (form == "add(a, b)") return timed(count, [&] { static_cast<void>(at::add(a, b)); });
  if (form == "add(a, b, out=o)") return timed(count, [&] { at::add_out(out, a, b); });
  if (form == "a.add_(b)") return timed(count, [&] { a.add_(b); });
  if (form == "empty((2, 3))") {
    return timed(count, [] { static_cast<void>(at::empty({2, 3})); });
  }
  return -1;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  const double nanoseconds = run(words[1], std::strtol(words[2], nullptr, 10));
  std::printf("%f\n", nanoseconds);
  return nanoseconds < 0 ? 2 : 0;
}
