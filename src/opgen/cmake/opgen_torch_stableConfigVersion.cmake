# opgen_torch_stableConfigVersion.cmake: includes the file beside the runtime's sources, like opgen_torch_stableConfig.cmake.
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgen_torch_stableConfigVersion.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgen_torch_stableConfigVersion.cmake")
else()
  include("${CMAKE_CURRENT_LIST_DIR}/../../../runtime/cmake/opgen_torch_stableConfigVersion.cmake")
endif()
