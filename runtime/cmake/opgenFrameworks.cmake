# opgenFrameworks.cmake: what other frameworks than PyTorch load to call the operators of a library.

include_guard(GLOBAL)

# Compile what each framework of NAMES loads of the library `target`, whose generated files are in TREE: libopgen_jax.so, for
# the package, and lib<target>_tvm_ffi.so. They are in the folder of the package, or beside the library if it has none. All
# sources but those of TREE are the same for every library; they find operators by their names.
function(opgen_add_frameworks target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TREE" "NAMES")
  if(NOT arg_NAMES)
    return()
  endif()
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
  set(folder "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../frameworks")
  set(destination "${CMAKE_BINARY_DIR}")
  get_target_property(package ${target} OPGEN_PACKAGE)
  if(package)
    set(destination "${CMAKE_BINARY_DIR}/python/${package}")
  endif()
  opgen_provide(runtime)
  foreach(name IN LISTS arg_NAMES)
    string(REPLACE "-" "_" file "${name}")
    cmake_language(CALL opgen_find_${file} headers libraries)
    set(part ${target}_${file})
    add_library(${part} MODULE "${folder}/${file}.cpp" "${folder}/operator_call.cpp")
    set(output opgen_${file})
    if(name STREQUAL "tvm-ffi")
      target_sources(${part} PRIVATE "${arg_TREE}/frameworks/tvm_ffi.cpp")
      target_include_directories(${part} PRIVATE "${folder}")
      target_link_libraries(${part} PRIVATE ${target})
      set(output ${target}_tvm_ffi)
    endif()
    set_target_properties(${part} PROPERTIES
      PREFIX lib
      OUTPUT_NAME ${output}
      SUFFIX .so
      LIBRARY_OUTPUT_DIRECTORY "${destination}"
      CXX_VISIBILITY_PRESET hidden)
    target_include_directories(${part} SYSTEM PRIVATE ${headers})
    target_link_libraries(${part} PRIVATE opgen::runtime ${libraries})
    set_property(TARGET ${target} APPEND PROPERTY OPGEN_FRAMEWORK_PARTS ${part})
  endforeach()
endfunction()

# Set `answer` to what Python prints for the CODE, which imports the framework `name` from the distribution `package`.
function(opgen_ask_python answer name package code)
  execute_process(COMMAND "${Python_EXECUTABLE}" -c "${code}"
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    message(FATAL_ERROR "the framework ${name} needs the package ${package}, with its headers, in the Python that builds: "
      "${Python_EXECUTABLE} -m pip install ${package}")
  endif()
  set(${answer} "${found}" PARENT_SCOPE)
endfunction()

function(opgen_find_jax headers libraries)
  opgen_ask_python(found jax jax "import jax.ffi; print(jax.ffi.include_dir())")
  set(${headers} "${found}" PARENT_SCOPE)
  set(${libraries} "" PARENT_SCOPE)
endfunction()

function(opgen_find_tvm_ffi headers libraries)
  set(asked "from tvm_ffi import libinfo as l; print(l.find_include_path(), l.find_dlpack_include_path(), sep=';')")
  opgen_ask_python(found tvm-ffi apache-tvm-ffi "${asked}")
  set(${headers} "${found}" PARENT_SCOPE)
  opgen_ask_python(found tvm-ffi apache-tvm-ffi "from tvm_ffi import libinfo; print(libinfo.find_libtvm_ffi())")
  # Functions that TVM-FFI knows stay valid if their module is closed.
  set(${libraries} "${found}" "-Wl,-z,nodelete" PARENT_SCOPE)
endfunction()
