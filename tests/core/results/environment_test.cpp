// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <regex>

#include "core/machine/instruction_sets.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/version.hpp"

using namespace d5;

TEST_CASE("the record agrees with what the system says") {
  const Environment record = environment();
  CHECK(std::regex_match(record.time, std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")));
  // A container may show fewer than the machine has.
  CHECK(record.hardware_threads >= 1);
  CHECK(record.hardware_threads <= sysconf(_SC_NPROCESSORS_ONLN));
  CHECK(record.cores >= 1);
  CHECK(record.cores <= record.hardware_threads);
  CHECK(record.memory_bytes > 1e8);
  CHECK(record.cpu != "");
  CHECK(record.os.find("Linux") == 0);
  CHECK(record.compiler.find("g++ ") == 0);
  CHECK(record.d5_version == D5_VERSION);
  CHECK(record.threads == threads());
  CHECK(record.libraries.contains("glibc"));
  CHECK(record.clock_seconds_per_read > 0);
}

TEST_CASE("the record says what the code was compiled from and for") {
  const Environment record = environment();
  CHECK(record.os.find(record.architecture) != std::string::npos);
  CHECK(std::is_sorted(record.instruction_sets.begin(), record.instruction_sets.end()));
  CHECK(std::regex_match(record.source_commit, std::regex("unknown|[0-9a-f]{40}(-dirty)?")));
  CHECK(record.devices.contains("cpu"));
}

TEST_CASE("instruction sets are those that numeric code is compiled for") {
  CHECK(detail::instruction_sets("\t\t: fpu vme sse sse4_2 hypervisor avx avx2 fma f16c avx512f") ==
        std::vector<std::string>{"avx", "avx2", "avx512f", "f16c", "fma", "sse4_2"});
  CHECK(detail::instruction_sets(": fp asimd evtstrm aes sve2 bf16") ==
        std::vector<std::string>{"asimd", "bf16", "sve2"});
}

TEST_CASE("variables that change results are recorded, others are not") {
  setenv("OPENBLAS_CORETYPE", "Prescott", 1);
  setenv("OMP_NUM_THREADS", "2", 1);
  setenv("MALLOC_TRIM_THRESHOLD_", "1", 1);
  setenv("PRIVATE_TOKEN", "secret", 1);
  const auto variables = environment().variables;
  CHECK(variables.at("OPENBLAS_CORETYPE") == "Prescott");
  CHECK(variables.at("OMP_NUM_THREADS") == "2");
  CHECK(variables.at("MALLOC_TRIM_THRESHOLD_") == "1");
  CHECK_FALSE(variables.contains("PRIVATE_TOKEN"));
  CHECK_FALSE(variables.contains("PATH"));
}

TEST_CASE("a level adds the libraries that it links") {
  note_library("imaginary", "1.2");
  CHECK(environment().libraries.at("imaginary") == "1.2");
}

TEST_CASE("unpinned threads are warned of") {
  const auto warnings = environment().warnings;
  CHECK(std::count(warnings.begin(), warnings.end(), "threads are not pinned to cores") == 1);
}
