// SPDX-License-Identifier: Apache-2.0
// Converts the counts of the library d5_pmpi to d5's records.
#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <iterator>
#include <string>

#include "d5/core/results/results.hpp"
#include "mpi_runtime.hpp"
#include "profile/profile_row.hpp"

namespace d5::mpi {
namespace {

/// The command line of this process, from the system.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::string line{std::istreambuf_iterator<char>(file), {}};
  while (!line.empty() && line.back() == '\0') line.pop_back();
  for (char& letter : line) letter = letter == '\0' ? ' ' : letter;
  return line;
}

/// "MPI_Send, rank 1, MPI_COMM_WORLD"
std::string subject_of(const ProfileRow& row) {
  const std::string peer = row.peer < 0 ? "" : fmt::format(", rank {}", row.peer);
  return fmt::format("{}{}, {}", row.call, peer, row.communicator);
}

void add_records(std::vector<Measurement>& records, const ProfileRow& row,
                 const Measurement& common) {
  const auto add = [&](const char* metric, const char* unit, Quantity quantity, double value) {
    Measurement& record = records.emplace_back(common);
    record.subject = subject_of(row);
    record.metric = metric;
    record.unit = unit;
    record.quantity = quantity;
    record.samples = {value};
    record.conditions["rank"] = identity(row.rank);
  };
  add("time", "s", Quantity::time, row.seconds);
  add("calls", "1", Quantity::count, static_cast<double>(row.calls));
  if (row.bytes_sent > 0) {
    add("bytes_sent", "byte", Quantity::bytes, static_cast<double>(row.bytes_sent));
  }
  if (row.bytes_received > 0) {
    add("bytes_received", "byte", Quantity::bytes, static_cast<double>(row.bytes_received));
  }
}

}  // namespace
}  // namespace d5::mpi

extern "C" __attribute__((visibility("default"))) const char* d5_write_mpi_profile(
    const d5::mpi::ProfileRow* rows, std::int64_t count, int ranks, const char* file) {
  static std::string wrong;
  try {
    const d5::Measurement common{.command = d5::mpi::command_line(),
                                 .level = "distributed",
                                 .framework = "mpi",
                                 .framework_version = d5::mpi::library(),
                                 .conditions = {{"ranks", d5::identity(ranks)}}};
    d5::Results results{d5::environment(), {}};
    for (std::int64_t i = 0; i < count; ++i) {
      d5::mpi::add_records(results.measurements, rows[i], common);
    }
    d5::write_results(results, file);
    return nullptr;
  } catch (const std::exception& error) {
    wrong = error.what();
  } catch (...) {
    wrong = "the exception is not a std::exception";
  }
  return wrong.c_str();
}
