// main.cpp: depends on operators two and three.
#include <more/ops/three.h>
#include <ops/ops/two.h>

int main() {}
