# Every library that d5's own code uses. Frameworks find theirs in their folders.

# Where scripts/setup put what Debian does not have; users with their own installation set
# CMAKE_PREFIX_PATH instead.
if(PROJECT_IS_TOP_LEVEL AND NOT D5_DEPS)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/setup --print
                  OUTPUT_VARIABLE D5_DEPS OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(D5_DEPS ${D5_DEPS} CACHE PATH "Prefix made by scripts/setup")
endif()
if(D5_DEPS AND EXISTS ${D5_DEPS})
  list(APPEND CMAKE_PREFIX_PATH ${D5_DEPS}/onnx ${D5_DEPS}/venv)
  if(NOT Python3_EXECUTABLE AND NOT Python_EXECUTABLE)
    set(Python3_EXECUTABLE ${D5_DEPS}/venv/bin/python)
    set(Python_EXECUTABLE ${D5_DEPS}/venv/bin/python)
  endif()
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json 3 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Eigen3 3.4 REQUIRED)
find_package(Boost 1.70 CONFIG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(CURL REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
# Before ONNX: its own configuration asks for protobuf's targets.
find_package(Protobuf REQUIRED)
find_package(ONNX 1.23 REQUIRED)
if(D5_WITH_MPI)
  find_package(MPI COMPONENTS CXX)
endif()
