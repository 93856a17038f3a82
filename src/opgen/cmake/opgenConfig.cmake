# opgenConfig.cmake: what find_package(opgen) finds among Python's packages: the one with the runtime's
# sources, which a wheel has beside this folder and a checkout at its top.
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgenConfig.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/../runtime/cmake/opgenConfig.cmake")
else()
  include("${CMAKE_CURRENT_LIST_DIR}/../../../runtime/cmake/opgenConfig.cmake")
endif()
