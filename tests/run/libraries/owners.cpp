// owners.cpp: a program that loads two owners of class Tensor and comes no further.
#include <cstdio>

int main() {
  std::printf("loaded\n");
}
