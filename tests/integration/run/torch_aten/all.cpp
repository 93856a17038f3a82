// all.cpp: the sources of the whole slice.
#include "few.cpp"
#include "pointwise.cpp"
