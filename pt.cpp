#include <torch/library.h>
void f1(std::optional<long double>);
void f2(std::vector<std::int16_t>);
void f3(std::vector<float>);
void f4(std::optional<int>);
void f5(std::optional<float>);
void f6(std::vector<int>);
void f7(std::array<int,2>);
#line 1 "lines"
void r1(torch::Library& m) { m.impl("f", &f1); }
void r2(torch::Library& m) { m.impl("f", &f2); }
void r3(torch::Library& m) { m.impl("f", &f3); }
void r4(torch::Library& m) { m.impl("f", &f4); }
void r5(torch::Library& m) { m.impl("f", &f5); }
void r6(torch::Library& m) { m.impl("f", &f6); }
void r7(torch::Library& m) { m.impl("f", &f7); }
