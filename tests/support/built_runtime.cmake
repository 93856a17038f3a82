# Lets find_package(opgen) of a user's project find the runtime, and the common part of Python modules, that the tests have
# built, instead of building them. Passed as CMAKE_PROJECT_INCLUDE, so that the projects need no change.
foreach(part core kernels runtime)
  string(REPLACE libopgen_runtime libopgen_${part} library "${RUNTIME_LIBRARY}")
  add_library(opgen::${part} SHARED IMPORTED)
  set_target_properties(opgen::${part} PROPERTIES
    IMPORTED_LOCATION "${library}"
    INTERFACE_INCLUDE_DIRECTORIES "${RUNTIME_INCLUDE}"
    INTERFACE_COMPILE_FEATURES cxx_std_20)
endforeach()
target_link_libraries(opgen::kernels INTERFACE opgen::core)
target_link_libraries(opgen::runtime INTERFACE opgen::core)
if(PYTHON_PART)
  add_library(opgen::python SHARED IMPORTED)
  set_target_properties(opgen::python PROPERTIES
    IMPORTED_LOCATION "${PYTHON_PART}"
    INTERFACE_INCLUDE_DIRECTORIES "${PYTHON_PART_INCLUDE}"
    INTERFACE_LINK_LIBRARIES opgen::runtime)
endif()
