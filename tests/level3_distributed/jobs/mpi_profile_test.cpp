// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "d5/core/results/results.hpp"
#include "tests/level3_distributed/jobs/job.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

Job run_profiled(int ranks, const std::string& file, const std::string& program) {
  const std::string with =
      "-x LD_PRELOAD=" D5_PMPI + (file.empty() ? "" : " -x D5_PMPI_OUT=" + file) + " ";
  return run_ranks(ranks, with + program);
}

/// One number of a call of `rank`; 0 without a record.
double value(const Results& results, const std::string& subject, const std::string& metric,
             int rank) {
  const auto place = std::ranges::find_if(results.measurements, [&](const Measurement& m) {
    return m.subject == subject && m.metric == metric &&
           m.conditions.at("rank") == std::to_string(rank);
  });
  return place == results.measurements.end() ? 0 : place->samples.at(0);
}

/// Calls, bytes sent, bytes received.
using Counts = std::array<double, 3>;
Counts counts(const Results& results, const std::string& subject, int rank) {
  return {value(results, subject, "calls", rank), value(results, subject, "bytes_sent", rank),
          value(results, subject, "bytes_received", rank)};
}

}  // namespace

TEST_CASE("the calls of an MPI program are counted to the byte, by call, peer and communicator") {
  const int n = GENERATE(2, 4);
  const d5::testing::TemporaryFolder folder;
  const std::string file = folder / "profile.json";
  const Job job = run_profiled(n, file, D5_PROFILED);
  INFO(n << " ranks: " << job.output);
  REQUIRE(job.status == 0);
  CHECK_THAT(job.output, !Catch::Contains("WRONG"));
  CHECK_THAT(job.output, Catch::Contains("MPI of " + std::to_string(n) + " ranks"));
  CHECK_THAT(job.output, Catch::Contains("records written to " + file));

  const Results results = read_results(file);
  for (int rank = 0; rank < n; ++rank) {
    INFO("rank " << rank);
    const int right = (rank + 1) % n, left = (rank + n - 1) % n;
    const auto with = [&](const char* call, int peer) {
      return counts(
          results, std::string(call) + ", rank " + std::to_string(peer) + ", MPI_COMM_WORLD", rank);
    };
    // ints of 4 bytes: 10 and 5 around the ring, in buffers for 100; 3 both ways at once
    CHECK(with("MPI_Isend", right) == Counts{1, 40, 0});
    CHECK(with("MPI_Irecv", left) == Counts{2, 0, 60});
    CHECK(with("MPI_Ssend", right) == Counts{1, 20, 0});
    if (left == right) {
      CHECK(with("MPI_Sendrecv", right) == Counts{1, 12, 12});
    } else {
      CHECK(with("MPI_Sendrecv", right) == Counts{1, 12, 0});
      CHECK(with("MPI_Sendrecv", left) == Counts{0, 0, 12});
    }
    CHECK(counts(results, "MPI_Irecv, MPI_COMM_WORLD", rank) == Counts{1, 0, 0});  // from no rank

    // by two requests, each started three times
    CHECK(with("MPI_Send_init", right) == Counts{3, 3 * 28, 0});
    CHECK(with("MPI_Recv_init", left) == Counts{3, 0, 3 * 28});

    // doubles of 8 bytes; by `Traffic`'s table
    const auto among_all = [&](const char* call) {
      return counts(results, std::string(call) + ", copy", rank);
    };
    const bool root = rank == 0;
    const double others = n - 1, sum = n * (n + 1) / 2, mine = rank + 1;
    CHECK(among_all("MPI_Barrier") == Counts{1, 0, 0});
    CHECK(among_all("MPI_Bcast") == Counts{1, root ? 32 * others : 0, root ? 0 : 32.});
    CHECK(among_all("MPI_Reduce") == Counts{1, root ? 0 : 32., root ? 32 * others : 0});
    const double summed = 2 * others / n * 32;
    CHECK(among_all("MPI_Allreduce") == Counts{1, summed, summed});
    CHECK(among_all("MPI_Allgather") == Counts{1, 32 * others, 32 * others});
    CHECK(among_all("MPI_Alltoall") == Counts{1, 16 * others, 16 * others});
    CHECK(among_all("MPI_Gatherv") == Counts{1, root ? 0 : 8 * mine, root ? 8 * (sum - mine) : 0});
    CHECK(among_all("MPI_Scatter") == Counts{1, root ? 24 * others : 0, root ? 0 : 24.});
    CHECK(among_all("MPI_Reduce_scatter") == Counts{1, 8 * (sum - mine), 8 * mine * others});
    CHECK(among_all("MPI_Iallreduce") == Counts{1, summed, summed});

    // 16 bytes over each inner end of a line, 24 to the right in a ring
    const double beside = 16. * ((rank > 0) + (rank < n - 1));
    CHECK(counts(results, "MPI_Neighbor_alltoall, line", rank) == Counts{1, beside, beside});
    CHECK(counts(results, "MPI_Ineighbor_allgather, ring", rank) == Counts{1, 24, 24});
    // r + 1 elements for rank r, of 8 bytes where it is even, else of 4
    const auto part = [](int r) { return (r + 1) * (r % 2 ? 4. : 8.); };
    double to_others = 0;
    for (int r = 0; r < n; ++r) to_others += r == rank ? 0 : part(r);
    CHECK(counts(results, "MPI_Alltoallw, MPI_COMM_WORLD", rank) ==
          Counts{1, to_others, others * part(rank)});

    // words of 8 bytes; by `MemoryWindow`'s table
    const auto at = [&](const char* call, int target) {
      return counts(results, std::string(call) + ", rank " + std::to_string(target) + ", parts",
                    rank);
    };
    CHECK(at("MPI_Put", right) == Counts{1, 24, 0});
    CHECK(at("MPI_Put", rank) == Counts{1, 0, 0});
    CHECK(at("MPI_Get", right) == Counts{1, 0, 16});
    CHECK(at("MPI_Accumulate", right) == Counts{1, 8, 0});
    CHECK(at("MPI_Fetch_and_op", right) == Counts{2, 8, 16});
    CHECK(at("MPI_Compare_and_swap", right) == Counts{1, 16, 8});
    CHECK(at("MPI_Rget", right) == Counts{1, 0, 24});
    for (const char* call : {"MPI_Win_lock", "MPI_Win_flush", "MPI_Win_unlock"}) {
      CHECK(at(call, right) == Counts{1, 0, 0});
    }
    CHECK(counts(results, "MPI_Win_fence, parts", rank) == Counts{2, 0, 0});
  }
  for (const Measurement& m : results.measurements) {
    if (m.metric == "time" && m.conditions.count("rank")) CHECK(m.samples.at(0) >= 0);
    CHECK(m.conditions.at("ranks") == std::to_string(n));
    CHECK_THAT(m.command, Catch::Contains("test_profiled"));
  }
}

TEST_CASE("a program with the profile prints, and ends, as without") {
  const auto lines_of_program = [](const std::string& output) {
    int lines = 0;
    for (int rank = 0; rank < 2; ++rank) {
      const std::string line = "rank " + std::to_string(rank) + " came to the end\n";
      lines += output.find(line) != std::string::npos;
    }
    return lines;
  };
  const Job without = run_ranks(2, D5_PROFILED);
  const Job nowhere = run_profiled(2, "/no/such/folder/profile.json", D5_PROFILED);
  const Job shown = run_profiled(2, "", D5_PROFILED);
  INFO(nowhere.output << shown.output);
  for (const Job* job : {&without, &nowhere, &shown}) {
    CHECK(job->status == 0);
    CHECK(lines_of_program(job->output) == 2);
  }
  CHECK_THAT(nowhere.output, Catch::Contains("d5: no records in '/no/such/folder/profile.json'"));
  CHECK_THAT(shown.output, Catch::Contains("D5_PMPI_OUT=FILE.json"));

  const Job failing = run_profiled(3, "", D5_FAILING_RANK " exits");
  INFO(failing.output);
  CHECK(failing.status == 3);
  CHECK_THAT(failing.output, Catch::Contains("rank 1: exited with status 3"));
}

TEST_CASE("d5's own calls are counted, too") {
  const Job job = run_profiled(2, "", D5_FAILING_RANK " none");
  INFO(job.output);
  CHECK(job.status == 0);
  CHECK_THAT(job.output, Catch::Contains("MPI_Barrier"));
}

TEST_CASE("mpi4py's calls are counted") {
  const std::string python = std::getenv("D5_PYTHON");
  if (run_line(python + " -c 'import mpi4py, numpy'").status != 0) {
    WARN("no mpi4py");
    return;
  }
  const d5::testing::TemporaryFolder folder;
  const std::string file = folder / "profile.json";
  const std::string program =
      std::getenv("D5_SOURCE_DIR") + std::string("/tests/level3_distributed/jobs/profiled.py");
  const Job job = run_profiled(2, file, python + " " + program);
  INFO(job.output);
  REQUIRE(job.status == 0);
  const Results results = read_results(file);
  // 10 doubles summed, 5 from rank 0 to rank 1, 3 put into rank 0 by rank 1
  for (int rank = 0; rank < 2; ++rank) {
    CHECK(counts(results, "MPI_Allreduce, MPI_COMM_WORLD", rank) == Counts{1, 80, 80});
  }
  CHECK(counts(results, "MPI_Send, rank 1, MPI_COMM_WORLD", 0) == Counts{1, 40, 0});
  CHECK(counts(results, "MPI_Recv, rank 0, MPI_COMM_WORLD", 1) == Counts{1, 0, 40});
  CHECK(counts(results, "MPI_Put, rank 0, parts", 1) == Counts{1, 24, 0});
  // A pickled object, whose size mpi4py asks for first
  CHECK(counts(results, "MPI_Isend, rank 0, MPI_COMM_WORLD", 1)[1] ==
        counts(results, "MPI_Mrecv, rank 1, MPI_COMM_WORLD", 0)[2]);
  CHECK(counts(results, "MPI_Mrecv, rank 1, MPI_COMM_WORLD", 0)[0] == 1);
}

TEST_CASE("a job that bypasses the profile is reported") {
  const Job job = run_profiled(2, "", D5_PROFILED " unseen");
  INFO(job.output);
  CHECK(job.status == 0);
  const std::string line = "started MPI without libd5_pmpi.so";
  const auto place = job.output.find(line);
  REQUIRE(place != std::string::npos);
  CHECK(job.output.find(line, place + 1) == std::string::npos);  // printed by the first rank only
}

TEST_CASE("the sums say that MPI's Fortran calls are not among them if it is loaded") {
  const Job job = run_ranks(2, "-x LD_PRELOAD=" D5_PMPI ":libmpi_mpifh.so.40 " D5_PROFILED);
  INFO(job.output);
  CHECK(job.status == 0);
  if (job.output.find("cannot be preloaded") != std::string::npos) {
    WARN("no libmpi_mpifh.so.40");
    return;
  }
  CHECK_THAT(job.output, Catch::Contains("calls from Fortran are not included"));
}
