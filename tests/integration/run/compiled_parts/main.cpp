#include <cstdio>
int value();
int main() { std::printf("%d\n", value()); }
