// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator/transport.hpp"

#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/level3_distributed/jobs/job.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using d5::testing::TemporaryFolder;

namespace {

bool is_mpi_loaded() {
  std::ifstream file("/proc/self/maps");
  const std::string maps{std::istreambuf_iterator<char>(file), {}};
  return maps.find("/libmpi") != std::string::npos;
}

/// Path of the library of level 3.
std::string library() {
  Dl_info info{};
  REQUIRE(dladdr(reinterpret_cast<const void*>(&leave_world), &info) != 0);
  return info.dli_fname;
}

}  // namespace

TEST_CASE("d5's library of level 3 needs no MPI") {
  const Job job = run_line("ldd " + library());
  REQUIRE(job.status == 0);
  CHECK_THAT(job.output, Catch::Contains("libd5_level2"));  // it is a list of libraries
  CHECK_THAT(job.output, !Catch::Contains("mpi"));
}

TEST_CASE("MPI is loaded when it is asked for, not where a process is alone") {
  CHECK(world()->size() == 1);
  world()->barrier();
  leave_world(0);
  CHECK_FALSE(is_mpi_loaded());
  CHECK(transport().present);
  CHECK_THAT(transport().description, Catch::StartsWith("Open MPI v"));
  CHECK(is_mpi_loaded());
}

TEST_CASE("if MPI cannot be loaded, several ranks are an error and one is alone") {
  const TemporaryFolder folder;
  const std::string broken = folder / "d5_framework_mpi.so";
  std::ofstream(broken) << "no library";
  std::ofstream(folder / "d5_framework_mpi.needs") << "Open MPI (get it there)\n";
  const std::string path = "D5_PLUGIN_PATH=" + folder.path().string() + " ";

  const Job several = run_ranks(2, D5_FAILING_RANK " none", path);
  INFO(several.output);
  CHECK(several.status != 0);
  CHECK(several.status != 124);
  CHECK_THAT(several.output, Catch::Contains("d5::Unsupported"));
  CHECK_THAT(several.output,
             Catch::Contains("world: started with 2 ranks, but plug-in '" + broken));
  CHECK_THAT(several.output, Catch::Contains("it needs Open MPI (get it there)"));

  const Job one = run_ranks(1, D5_FAILING_RANK " none", path);
  INFO(one.output);
  CHECK(one.status == 0);
  CHECK_THAT(one.output, Catch::Contains("rank 0 came to the end"));
}
