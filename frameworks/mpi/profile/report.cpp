// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "recorder.hpp"

namespace d5::mpi {
namespace {

std::chrono::steady_clock::time_point begin;

/// All ranks' rows, on rank 0.
std::vector<ProfileRow> gather_rows(int rank, int ranks) {
  const std::vector<ProfileRow> own = Recorder::here().rows();
  const int bytes = static_cast<int>(own.size() * sizeof(ProfileRow));
  std::vector<int> counts(static_cast<std::size_t>(ranks)), begins(counts.size());
  PMPI_Gather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::int64_t all = 0;
  for (std::size_t i = 0; i < counts.size() && rank == 0; ++i) {
    begins[i] = static_cast<int>(all);
    all += counts[i];
  }
  std::vector<ProfileRow> rows(static_cast<std::size_t>(all) / sizeof(ProfileRow));
  PMPI_Gatherv(own.data(), bytes, MPI_BYTE, rows.data(), counts.data(), begins.data(), MPI_BYTE, 0,
               MPI_COMM_WORLD);
  return rows;
}

void print_summary(const std::vector<ProfileRow>& rows, int ranks, double seconds) {
  constexpr std::size_t kMost = 16;  // lines of one screen
  struct Sum {
    std::string call;
    std::int64_t calls = 0, sent = 0, received = 0;
    double seconds = 0;
  };
  std::map<std::string, Sum> by_call;
  std::vector<double> by_rank(static_cast<std::size_t>(ranks));
  for (const ProfileRow& row : rows) {
    Sum& sum = by_call[row.call];
    sum.call = row.call;
    sum.calls += row.calls;
    sum.sent += row.bytes_sent;
    sum.received += row.bytes_received;
    sum.seconds += row.seconds;
    by_rank[static_cast<std::size_t>(row.rank)] += row.seconds;
  }
  std::vector<Sum> sums;
  for (auto& [call, sum] : by_call) sums.push_back(sum);
  std::ranges::stable_sort(sums, std::greater(), &Sum::seconds);
  const auto slowest = std::ranges::max_element(by_rank);
  std::fprintf(
      stderr,
      "d5: MPI of %d ranks in %.3g s: rank %d was in it longest, %.3g s; sums over ranks:\n"
      "%-26s %12s %16s %16s %12s\n",
      ranks, seconds, static_cast<int>(slowest - by_rank.begin()), *slowest, "call", "calls",
      "bytes sent", "bytes received", "seconds");
  for (std::size_t i = 0; i < std::min(sums.size(), kMost); ++i) {
    std::fprintf(stderr, "%-26s %12lld %16lld %16lld %12.3g\n", sums[i].call.c_str(),
                 static_cast<long long>(sums[i].calls), static_cast<long long>(sums[i].sent),
                 static_cast<long long>(sums[i].received), sums[i].seconds);
  }
  if (sums.size() > kMost) std::fprintf(stderr, "and %zu more\n", sums.size() - kMost);
}

/// Null, or what went wrong.
const char* write_records(const std::vector<ProfileRow>& rows, int ranks, const char* file) {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&report), &info) || !info.dli_fname) {
    return "the path of this library is unknown";
  }
  const auto plugin =
      std::filesystem::absolute(info.dli_fname).parent_path() / "d5" / "d5_framework_mpi.so";
  void* library = dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
  void* found = dlsym(library, "d5_write_mpi_profile");
  if (!found) return dlerror();
  return reinterpret_cast<decltype(&d5_write_mpi_profile)>(found)(
      rows.data(), static_cast<std::int64_t>(rows.size()), ranks, file);
}

}  // namespace

void begin_report() { begin = std::chrono::steady_clock::now(); }

void report() {
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  int rank = 0, ranks = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto rows = gather_rows(rank, ranks);
  if (rank != 0) return;
  print_summary(rows, ranks, seconds);
  if (dlsym(RTLD_DEFAULT, "mpi_send_")) {
    std::fprintf(stderr, "calls from Fortran are not included: they bypass libd5_pmpi.so\n");
  }
  const char* file = std::getenv("D5_PMPI_OUT");
  if (!file || !*file) {
    std::fprintf(stderr, "by rank, peer and communicator: D5_PMPI_OUT=FILE.json\n");
  } else if (const char* wrong = write_records(rows, ranks, file)) {
    std::fprintf(stderr, "d5: no records in '%s': %s\n", file, wrong);
  } else {
    std::fprintf(stderr, "records written to %s\n", file);
  }
}

}  // namespace d5::mpi
