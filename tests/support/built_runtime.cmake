# What the tests have built already, for a project of a user: without it find_package(opgen) builds the runtime.
# Passed as CMAKE_PROJECT_INCLUDE, so that the projects themselves say nothing of it.
add_library(opgen::runtime SHARED IMPORTED)
set_target_properties(opgen::runtime PROPERTIES
  IMPORTED_LOCATION "${RUNTIME_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${RUNTIME_INCLUDE}"
  INTERFACE_COMPILE_FEATURES cxx_std_20)
