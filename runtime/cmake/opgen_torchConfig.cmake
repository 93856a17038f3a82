# opgen_torchConfig.cmake: find_package(opgen_torch) — the torch of a Python environment, and
# opgen_add_torch_library().
#
#   opgen_add_torch_library(mylib TREE folder SOURCES src/RegisterCPU.cpp ... [KERNELS a.cpp ...])
#
# compiles a tree that `opgen generate --target torch` wrote into a shared library, for
# torch.ops.load_library. The torch is that of Python_EXECUTABLE, unless Torch_DIR says otherwise.
#
#   opgen_add_operators(mylib OPGEN_TARGET torch YAML native_functions.yaml [KERNELS a.cpp ...] ...)
#
# generates that tree, too (opgenConfig.cmake says what else it takes).

include_guard(GLOBAL)

if(NOT TARGET torch)
  if(NOT Torch_DIR)
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
    # Found, not imported: that takes seconds.
    execute_process(
      COMMAND "${Python_EXECUTABLE}" -c
        "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE opgen_torch_folder OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT opgen_torch_folder)
      message(FATAL_ERROR "torch is not installed for ${Python_EXECUTABLE}: pip install torch, or set Torch_DIR")
    endif()
    list(PREPEND CMAKE_PREFIX_PATH "${opgen_torch_folder}")
  endif()
  find_package(Torch REQUIRED)
endif()

include("${CMAKE_CURRENT_LIST_DIR}/opgenOperators.cmake")
set(opgen_torch_include "${CMAKE_CURRENT_LIST_DIR}/../torch/include")

function(opgen_add_torch_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TREE" "SOURCES;KERNELS")
  list(TRANSFORM arg_SOURCES PREPEND "${arg_TREE}/")
  # TorchConfig.cmake enables CUDA and finds c10_cuda where torch has it. Elsewhere nobody can reach
  # a CUDA kernel: those in .cu files are left out, and their stubs stand in.
  if(NOT C10_CUDA_LIBRARY)
    list(FILTER arg_KERNELS EXCLUDE REGEX "[.]cu$")
  endif()
  add_library(${target} SHARED ${arg_SOURCES} ${arg_KERNELS})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC "${arg_TREE}/include" "${opgen_torch_include}")
  # A base class of the author (structured_inherits) has a header beside the kernels. Not by -I: a
  # math.h there is none of the system's.
  foreach(kernel IN LISTS arg_KERNELS)
    get_filename_component(kernel "${kernel}" ABSOLUTE)
    get_filename_component(folder "${kernel}" DIRECTORY)
    target_compile_options(${target} PRIVATE "SHELL:-iquote \"${folder}\"")
  endforeach()
  target_link_libraries(${target} PUBLIC torch)
  if(C10_CUDA_LIBRARY)
    target_compile_definitions(${target} PUBLIC OPGEN_TORCH_CUDA)
    target_link_libraries(${target} PUBLIC ${TORCH_LIBRARIES})
  endif()
  # ATen's headers cost seconds in every unit, what is generated next to nothing: few units. Stubs
  # stay apart from the calls of what they stand for, and kernels from both.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source IN LISTS arg_SOURCES)
    if(source MATCHES "/stubs/[^/]*$")
      set_property(SOURCE "${source}" PROPERTY UNITY_GROUP stubs)
    else()
      set_property(SOURCE "${source}" PROPERTY UNITY_GROUP registrations)
    endif()
  endforeach()
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(${target} PRIVATE "LINKER:-z,defs")
  endif()
endfunction()
