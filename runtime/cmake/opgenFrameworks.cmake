# opgenFrameworks.cmake: the parts of a Python package that other frameworks than PyTorch load.

include_guard(GLOBAL)

# Compile what the FRAMEWORK loads of the PACKAGE of library `target`: libopgen_jax.so, in the package's folder. The
# sources are the same for every library; they find operators by their names.
function(opgen_add_framework target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FRAMEWORK;PACKAGE" "")
  set(folder "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../frameworks")
  set(asked "import jax.ffi; print(jax.ffi.include_dir())")
  execute_process(COMMAND "${Python_EXECUTABLE}" -c "${asked}"
    OUTPUT_VARIABLE headers OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    message(FATAL_ERROR "the framework jax needs the package jax, with its headers, in the Python that builds: "
      "${Python_EXECUTABLE} -m pip install jax")
  endif()
  set(part ${target}_${arg_FRAMEWORK})
  add_library(${part} MODULE "${folder}/${arg_FRAMEWORK}.cpp" "${folder}/operator_call.cpp")
  set_target_properties(${part} PROPERTIES
    PREFIX lib
    OUTPUT_NAME opgen_${arg_FRAMEWORK}
    SUFFIX .so
    LIBRARY_OUTPUT_DIRECTORY "${arg_PACKAGE}"
    CXX_VISIBILITY_PRESET hidden)
  target_include_directories(${part} SYSTEM PRIVATE "${headers}")
  opgen_provide(runtime)
  target_link_libraries(${part} PRIVATE opgen::runtime)
  set_property(TARGET ${target} APPEND PROPERTY OPGEN_FRAMEWORK_PARTS ${part})
endfunction()
