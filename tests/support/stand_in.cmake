# Takes the place of the runtime in tests that only count compiled sources: its headers, and nothing
# to build or link. Passed as CMAKE_PROJECT_INCLUDE.
add_library(opgen::runtime INTERFACE IMPORTED)
target_include_directories(opgen::runtime INTERFACE "${RUNTIME_INCLUDE}")
add_library(opgen::python INTERFACE IMPORTED)
target_include_directories(opgen::python INTERFACE "${RUNTIME_INCLUDE}/../python/include")
