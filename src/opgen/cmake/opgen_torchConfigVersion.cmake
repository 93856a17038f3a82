# opgen_torchConfigVersion.cmake: includes the file beside the runtime's sources, like opgen_torchConfig.cmake.
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgen_torchConfigVersion.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgen_torchConfigVersion.cmake")
else()
  include("${CMAKE_CURRENT_LIST_DIR}/../../../runtime/cmake/opgen_torchConfigVersion.cmake")
endif()
