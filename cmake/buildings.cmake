# Optional components on top of the levels ("buildings"). A folder with a building's name (src/serving, apps/serving,
# python/tests/serving ...) belongs to it; a folder no_<building> has the replacement for a build without it.
option(D5_BUILD_PREDICTION "Build src/prediction: simulation of training on larger machines" ON)
option(D5_BUILD_EVALUATION "Build src/evaluation: evaluation of models in load scenarios, with a database" ON)
option(D5_BUILD_SERVING "Build src/serving: serving of evaluations and models over HTTP and gRPC" ON)
if(D5_BUILD_SERVING AND NOT D5_BUILD_EVALUATION)
  message(STATUS "Serving is left out: it needs evaluation, and D5_BUILD_EVALUATION is OFF")
  set(D5_BUILD_SERVING OFF)
endif()

set(d5_all_buildings prediction evaluation serving)  # in the order of src/README.md's tree
set(d5_buildings "")
set(d5_left_out "")
set(d5_other_folders "")  # as a regular expression
foreach(building IN LISTS d5_all_buildings)
  string(TOUPPER ${building} name)
  if(D5_BUILD_${name})
    list(APPEND d5_buildings ${building})
    list(APPEND d5_other_folders no_${building})
  else()
    list(APPEND d5_left_out ${building})
    list(APPEND d5_other_folders ${building})
  endif()
endforeach()
list(JOIN d5_other_folders "|" d5_other_folders)
list(JOIN d5_all_buildings "|" d5_building_folders)

# d5_glob(<variable> <pattern>...)
#
# Files and folders below the calling folder, except those of a disabled building, and the replacement of an enabled
# one. A building's files are last, so that the others form the same unity sources for any choice of buildings.
function(d5_glob variable)
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${ARGN})
  list(FILTER files EXCLUDE REGEX "(^|/)(${d5_other_folders})(/|$)")
  set(own ${files})
  list(FILTER own INCLUDE REGEX "(^|/)(no_)?(${d5_building_folders})(/|$)")
  list(REMOVE_ITEM files ${own})
  list(APPEND files ${own})
  list(TRANSFORM files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(${variable} ${files} PARENT_SCOPE)
endfunction()

# d5/buildings.hpp: the umbrella headers of all enabled buildings.
set(includes "")
foreach(building IN LISTS d5_buildings)
  string(APPEND includes "#include \"d5/${building}/${building}.hpp\"\n")
endforeach()
set(d5_buildings_header ${PROJECT_BINARY_DIR}/generated/d5/buildings.hpp)
file(CONFIGURE OUTPUT ${d5_buildings_header} CONTENT
  "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n\n${includes}")
