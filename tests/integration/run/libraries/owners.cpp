// owners.cpp: a program that loads two owners of class Tensor, and is terminated for that.
#include <cstdio>

int main() {
  std::printf("loaded\n");
}
