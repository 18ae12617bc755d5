# How everything is compiled.
include(GNUInstallDirs)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Who links a shared library is linked again when a header says something else, not for each new body.
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)

# Programs, libraries and plug-ins find each other in the build tree as they do when installed.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${CMAKE_INSTALL_BINDIR})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
# So do the data and recipes that d5 carries, and the headers that operators are compiled against.
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include
     ${CMAKE_CURRENT_BINARY_DIR}/${CMAKE_INSTALL_INCLUDEDIR} SYMBOLIC)
set(d5_share ${CMAKE_INSTALL_DATADIR}/d5)
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${d5_share})
foreach(carried data recipes)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${carried}
       ${CMAKE_CURRENT_BINARY_DIR}/${d5_share}/${carried} SYMBOLIC)
endforeach()

# Files of a target are compiled several at once, which costs less than half of one by one: they read
# the same headers, and ask for the same templates. Preset dev does without, so that a changed line
# compiles one file, and a file that forgets an #include is found.
option(D5_UNITY "Compile several files of a target at once" ${PROJECT_IS_TOP_LEVEL})
set(CMAKE_UNITY_BUILD ${D5_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

# For code whose own speed nobody measures (tests, the program's commands): it compiles in half of the
# time.
add_library(d5_not_measured INTERFACE)
target_compile_options(d5_not_measured INTERFACE $<$<CONFIG:Release>:-Og>)

if(D5_NATIVE)
  add_library(d5_native INTERFACE)
  target_compile_options(d5_native INTERFACE -march=native)
endif()
