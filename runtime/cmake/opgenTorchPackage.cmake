# opgenTorchPackage.cmake: the Python packages of libraries that PyTorch loads.

include_guard(GLOBAL)

# opgen_make_torch_package(mylib TREE folder [NAME name] [FOLDER folder] BUILT_FOR line ...)
#
# The package contains its Python files and the library, which __init__.py loads as lib<name>.so on every system.
# BUILT_FOR are the lines of its _built_for.py, to which CUDA's release is added.
function(opgen_make_torch_package target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TREE;NAME;FOLDER" "BUILT_FOR")
  if(NOT arg_NAME)
    set(arg_NAME ${target})
  endif()
  set(package "${CMAKE_BINARY_DIR}/python/${arg_NAME}")
  # CMake runs again if one is added or removed (opgen_copy_author_files).
  set(ops "")
  foreach(file IN ITEMS ops/__init__.py ops.py)
    if(NOT ops AND arg_FOLDER AND EXISTS "${arg_FOLDER}/${file}")
      set(ops OPS "${arg_FOLDER}/${file}")
    endif()
  endforeach()
  opgen_copy_package(copies FROM "${arg_TREE}/python/${arg_NAME}" TO "${package}" ${ops})
  target_sources(${target} PRIVATE ${copies})
  if(arg_FOLDER)
    opgen_copy_author_files(own FROM "${arg_FOLDER}" TO "${package}" TREE "${arg_TREE}/python/${arg_NAME}")
    target_sources(${target} PRIVATE ${own})
  endif()
  get_target_property(cuda ${target} OPGEN_BUILT_FOR_CUDA)
  if(NOT cuda)
    set(cuda "")
  endif()
  list(JOIN arg_BUILT_FOR "\n" lines)
  file(CONFIGURE OUTPUT "${package}/_built_for.py" @ONLY CONTENT "@lines@\nCUDA = \"@cuda@\"\n")
  set_target_properties(${target} PROPERTIES
    PREFIX lib
    OUTPUT_NAME "${arg_NAME}"
    SUFFIX .so
    LIBRARY_OUTPUT_DIRECTORY "${package}"
    OPGEN_PACKAGE "${arg_NAME}"
    OPGEN_INSTALL opgen_install_torch_package)
endfunction()

function(opgen_install_torch_package target destination)
  get_target_property(package ${target} OPGEN_PACKAGE)
  # libtorch is already in the process: __init__.py imports torch first.
  install(TARGETS ${target} LIBRARY DESTINATION "${destination}")
  install(DIRECTORY "${CMAKE_BINARY_DIR}/python/${package}/" DESTINATION "${destination}"
    PATTERN "*.so" EXCLUDE PATTERN "__pycache__" EXCLUDE)
endfunction()
