// few.cpp: the sources of the slice for everyday tests, compiled as one: ATen's headers cost
// seconds in each.
#include "basic.cpp"
#include "reductions.cpp"
#include "shapes.cpp"
#include "unstructured.cpp"
