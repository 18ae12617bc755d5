# Functions for a folder of frameworks/, besides d5_add_framework. Only in d5's own tree.

# The interpreter with the frameworks' packages: pip builds in an environment without them.
if(NOT D5_FRAMEWORKS_PYTHON)
  set(D5_FRAMEWORKS_PYTHON ${Python3_EXECUTABLE})
endif()

# d5_find_python_package(<variable> <package>)
#
# The package's folder, found without importing it, which would take seconds; empty if it is missing.
function(d5_find_python_package variable package)
  set(folder "")
  if(D5_FRAMEWORKS_PYTHON)
    execute_process(
      COMMAND ${D5_FRAMEWORKS_PYTHON} -c
        "import importlib.util as u; print(u.find_spec('${package}').submodule_search_locations[0])"
      OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(${variable} "${folder}" PARENT_SCOPE)
endfunction()

# d5_framework_finds_libraries(<name> <place>)
#
# For a library outside the system's packages: the installed plug-in finds it at its link-time path, a wheel's plug-in
# in <place>, relative to the folder of packages that contains d5.
function(d5_framework_finds_libraries name place)
  if(SKBUILD)
    set_property(TARGET d5_framework_${name} APPEND PROPERTY INSTALL_RPATH "$ORIGIN/../../../${place}")
  else()
    set_target_properties(d5_framework_${name} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
endfunction()

# d5_add_framework_tests(<name> [<libraries>...])
#
# Builds every tests/*_test.cpp of the calling folder, with D5_<NAME>_TEST_DIR defined as its folder.
function(d5_add_framework_tests name)
  if(NOT D5_BUILD_TESTS)
    return()
  endif()
  string(TOUPPER ${name} upper)
  d5_add_tests(${CMAKE_CURRENT_SOURCE_DIR}/tests LIBRARIES ${ARGN} DEPENDS d5_framework_${name}
    DEFINITIONS D5_${upper}_TEST_DIR="${CMAKE_CURRENT_SOURCE_DIR}/tests")
endfunction()

# d5_add_framework_benchmarks(<name> LIBRARIES <targets>)
#
# Builds every benchmarks/*.cpp of the calling folder as bench_<name>_<file>, which calls the library directly, for
# comparison with the plug-in.
function(d5_add_framework_benchmarks name)
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  if(NOT D5_BUILD_BENCHMARKS)
    return()
  endif()
  find_package(benchmark QUIET)
  if(NOT benchmark_FOUND)
    return()
  endif()
  file(GLOB benchmarks CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/benchmarks/*.cpp)
  foreach(source IN LISTS benchmarks)
    get_filename_component(stem ${source} NAME_WE)
    set(target bench_${name}_${stem})
    add_executable(${target} ${source})
    target_link_libraries(${target} PRIVATE d5::d5 ${arg_LIBRARIES} benchmark::benchmark d5_warnings)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    set_target_properties(${target} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
    add_dependencies(${target} d5_framework_${name})
  endforeach()
endfunction()
