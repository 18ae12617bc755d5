# Compiler and linker settings of all targets.
include(GNUInstallDirs)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)  # no file is a module; newer compilers would read each file twice to find out
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Relinks dependents of a shared library only if headers change, not for each change of its sources.
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)

# Programs, libraries and plug-ins find each other in the build tree as in an installation.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${CMAKE_INSTALL_BINDIR})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
# They also find the shipped data and recipes, and the headers for compiling operators.
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include
     ${CMAKE_CURRENT_BINARY_DIR}/${CMAKE_INSTALL_INCLUDEDIR} SYMBOLIC)
set(d5_share ${CMAKE_INSTALL_DATADIR}/d5)
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${d5_share})
foreach(carried data recipes)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${carried}
       ${CMAKE_CURRENT_BINARY_DIR}/${d5_share}/${carried} SYMBOLIC)
endforeach()

# Unity builds: compiling several files of a target together costs less than half, because they share headers and
# templates. Preset dev has none, so that a changed line recompiles one file, and missing includes are found.
option(D5_UNITY "Compile several files of a target together (unity builds)" ${PROJECT_IS_TOP_LEVEL})
set(CMAKE_UNITY_BUILD ${D5_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

# For libraries whose loops lie in few files. GCC needs a sixth less time for -O2 with the vectoriser of -O3 than for
# -O3, and two fifths less for -O1, which is for libraries that wait for others: for networks, files, sockets.
add_library(d5_few_loops INTERFACE)
target_compile_options(d5_few_loops INTERFACE
  $<$<CONFIG:Release>:-O2;$<$<CXX_COMPILER_ID:GNU>:-fvect-cost-model=dynamic>>)
add_library(d5_waits INTERFACE)
target_compile_options(d5_waits INTERFACE $<$<CONFIG:Release>:-O1>)

# For code whose speed does not matter (tests, the program's commands): compiles in half the time. With -Og, GCC 12
# has false warnings about std::stop_source.
add_library(d5_not_measured INTERFACE)
target_compile_options(d5_not_measured INTERFACE $<$<CONFIG:Release>:-Og;$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>>)

if(D5_NATIVE)
  add_library(d5_native INTERFACE)
  target_compile_options(d5_native INTERFACE -march=native)
endif()
