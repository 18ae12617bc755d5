# d5_add_library(<name> <folder> PUBLIC <targets> PRIVATE <targets> [PARTS <sub-folders>]
#                [PRECOMPILE <headers that every file reads>])
#
# The library d5::<name> from src/<folder>/*.cpp, those of the sub-folders, and include/d5/<folder>.
function(d5_add_library name folder)
  cmake_parse_arguments(arg "" "" "PUBLIC;PRIVATE;PARTS;PRECOMPILE" ${ARGN})
  list(TRANSFORM arg_PARTS REPLACE ".+" "${PROJECT_SOURCE_DIR}/src/${folder}/\\0/*.cpp")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp ${arg_PARTS})
  add_library(d5_${name} ${sources})
  add_library(d5::${name} ALIAS d5_${name})
  target_include_directories(d5_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_include_directories(d5_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(d5_${name} PUBLIC cxx_std_20)
  target_link_libraries(d5_${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE}
    $<BUILD_INTERFACE:d5_warnings> $<$<BOOL:${D5_NATIVE}>:$<BUILD_INTERFACE:d5_native>>)
  d5_precompile(d5_${name} <fmt/format.h> ${arg_PRECOMPILE})
  set_target_properties(d5_${name} PROPERTIES EXPORT_NAME ${name}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "$ORIGIN")
  set_property(GLOBAL APPEND PROPERTY D5_LIBRARIES d5_${name})
endfunction()
