# d5_add_library(<name> PUBLIC <targets> PRIVATE <targets> [EXCEPT <files, globs>]
#                [PRECOMPILE <headers that every file reads>] [OPTIMIZE few_loops|waits])
#
# The library d5::<name> from the calling folder with all subfolders, and the headers in include/.
function(d5_add_library name)
  cmake_parse_arguments(arg "" "OPTIMIZE" "PUBLIC;PRIVATE;EXCEPT;PRECOMPILE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(arg_EXCEPT)
    file(GLOB exceptions ${arg_EXCEPT})
    list(REMOVE_ITEM sources ${exceptions})
  endif()
  add_library(d5_${name} ${sources})
  add_library(d5::${name} ALIAS d5_${name})
  target_include_directories(d5_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_include_directories(d5_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(d5_${name} PUBLIC cxx_std_20)
  target_link_libraries(d5_${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE}
    $<BUILD_INTERFACE:d5_warnings> $<$<BOOL:${D5_NATIVE}>:$<BUILD_INTERFACE:d5_native>>)
  if(arg_OPTIMIZE)
    target_link_libraries(d5_${name} PRIVATE $<BUILD_INTERFACE:d5_${arg_OPTIMIZE}>)
  endif()
  d5_precompile(d5_${name} <fmt/format.h> ${arg_PRECOMPILE})
  set_target_properties(d5_${name} PROPERTIES EXPORT_NAME ${name}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "$ORIGIN")
  set_property(GLOBAL APPEND PROPERTY D5_LIBRARIES d5_${name})
endfunction()

# d5_load_when_asked(<target> <name> <libraries>)
#
# Builds d5_<name>.so beside the plug-ins, which only links the libraries. <target> loads it as a `SystemLibrary`.
function(d5_load_when_asked target name)
  file(GENERATE OUTPUT d5_${name}.cpp CONTENT "// Only links its libraries.\n")
  add_library(d5_${name} MODULE ${CMAKE_CURRENT_BINARY_DIR}/d5_${name}.cpp)
  target_link_libraries(d5_${name} PRIVATE ${ARGN})
  target_link_options(d5_${name} PRIVATE LINKER:--no-as-needed)
  set_target_properties(d5_${name} PROPERTIES PREFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/d5)
  install(TARGETS d5_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/d5)
  add_dependencies(${target} d5_${name})
endfunction()

# d5_load_package(<target> <name> <package> <file> <file without it>)
#
# Compiles <file> with the headers of pkg-config's <package>, whose library is loaded when asked as d5_<name>.so; where the
# package was not found, the other file.
function(d5_load_package target name package file without)
  if(NOT ${package}_FOUND)
    target_sources(${target} PRIVATE ${without})
    return()
  endif()
  target_sources(${target} PRIVATE ${file})
  target_include_directories(${target} SYSTEM PRIVATE ${${package}_INCLUDE_DIRS})
  d5_load_when_asked(${target} ${name} PkgConfig::${package})
endfunction()

# d5_compile_alone(<file> <property> <value>)   a file with its own flags, outside unity sources
function(d5_compile_alone file property value)
  set_source_files_properties(${file} PROPERTIES ${property} "${value}" SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# d5_optimise_most(<file>...)
#
# Compiles files with loops as level 0's, in a library that is optimised less. GCC crashes if precompiled headers have
# another level, so that these files have none.
function(d5_optimise_most)
  foreach(file IN LISTS ARGN)
    d5_compile_alone(${file} COMPILE_OPTIONS "$<$<CONFIG:Release>:-O3>")
    set_source_files_properties(${file} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
endfunction()

# d5_note_left_out(<file> <what> <target>)
#
# Makes installation report that <what> is omitted if <file> was not built, because target `program` excludes it.
function(d5_note_left_out file what target)
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/note_${target}.cmake CONTENT
    "if(NOT EXISTS \"${file}\")\n  message(STATUS \"Left out, because it was not built: ${what}; cmake --build ${PROJECT_BINARY_DIR} --target ${target} builds it\")\nendif()\n")
  install(SCRIPT ${CMAKE_CURRENT_BINARY_DIR}/note_${target}.cmake)
endfunction()
