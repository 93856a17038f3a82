# opgenConfig.cmake: found by find_package(opgen) in an installed Python package. Includes the file beside the
# runtime's sources, which are beside this folder in a wheel, and at the top of a checkout.
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgenConfig.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgenConfig.cmake")
else()
  include("${CMAKE_CURRENT_LIST_DIR}/../../../runtime/cmake/opgenConfig.cmake")
endif()
