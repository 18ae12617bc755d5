// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>
#include <catch2/catch.hpp>
#include <string>

#include "tests/level3_distributed/jobs/job.hpp"

namespace {

/// The line of `rank`: "traffic 4000, library 0 4000".
std::string told(const std::string& output, int rank, const std::string& name) {
  const std::string head = fmt::format("{} {}: ", rank, name);
  const std::size_t begin = output.find(head);
  if (begin == std::string::npos) return "nothing";
  return output.substr(begin + head.size(), output.find('\n', begin) - begin - head.size());
}

}  // namespace

TEST_CASE(
    "MPI's own bytes are those of recursive doubling, and d5's algorithms send what they count") {
  const int n = GENERATE(2, 4);
  const Job job = run_ranks(n, D5_LIBRARY_BYTES);
  INFO(job.output);
  REQUIRE(job.status == 0);
  constexpr int kBytes = 4000;  // below the 10 kB from which Open MPI takes a ring
  for (int rank = 0; rank < n; ++rank) {
    std::string doubling, ring;
    for (int other = 0; other < n; ++other) {
      // All bytes to each of the log2 n partners, whose ranks differ in one bit.
      const bool partner = std::has_single_bit(static_cast<unsigned>(rank ^ other));
      doubling += fmt::format(" {}", partner ? kBytes : 0);
      ring += fmt::format(" {}", other == (rank + 1) % n ? 2 * (n - 1) * kBytes / n : 0);
    }
    CHECK(told(job.output, rank, "mpi") ==
          fmt::format("traffic {}, library{}", 2 * (n - 1) * kBytes / n, doubling));
    CHECK(told(job.output, rank, "recursive_doubling") ==
          fmt::format("traffic {}, library{}", kBytes * std::countr_zero(unsigned(n)), doubling));
    CHECK(told(job.output, rank, "ring") ==
          fmt::format("traffic {}, library{}", 2 * (n - 1) * kBytes / n, ring));
    CHECK_THAT(told(job.output, rank, "started"), Catch::Contains(" 4000"));
  }
  CHECK_THAT(job.output, Catch::Contains("refused: count_library_traffic: MPI is running already"));
}

TEST_CASE("MPI's traffic is counted only on request, and the message says how to ask") {
  const Job job = run_ranks(2, D5_LIBRARY_BYTES " unasked");
  INFO(job.output);
  CHECK(job.status == 0);
  CHECK_THAT(job.output, Catch::Contains("MPI's own traffic is not counted") &&
                             Catch::Contains("OMPI_MCA_pml_monitoring_enable=1"));
}
