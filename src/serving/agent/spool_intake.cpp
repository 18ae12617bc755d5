// SPDX-License-Identifier: Apache-2.0
#include "serving/agent/spool_intake.hpp"

#include <fmt/format.h>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

constexpr const char* kName = "results.db";
constexpr std::uint64_t kMostSpoolBytes = std::uint64_t{1} << 33;

/// All tables, indices and triggers.
std::string schema_of(const EvaluationDatabase& database) {
  const TextTable table =
      database.sql("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name, type");
  std::string text;
  for (const auto& row : table.rows()) {
    for (const auto& cell : row) text += cell + '\n';
  }
  return text;
}

/// Refuses a file whose tables are views, or have triggers of their own.
void expect_own_schema(const EvaluationDatabase& database) {
  static const std::string own = [] {
    const ScratchFolder folder("schema");
    return schema_of(*EvaluationDatabase::open(folder / kName));
  }();
  if (schema_of(database) != own) throw FormatError("a spool has other tables than d5's");
}

}  // namespace

void SpoolIntake::add(std::string_view bytes) {
  bytes_ += bytes.size();
  if (bytes_ > kMostSpoolBytes) {
    throw ValueError(fmt::format("a spool has more than {} bytes", kMostSpoolBytes));
  }
  if (!folder_) {
    folder_ = std::make_unique<ScratchFolder>("spool");
    file_.open(*folder_ / kName, std::ios::binary);
  }
  file_.write(bytes.data(), std::streamsize(bytes.size()));
  if (!file_)
    throw IoError("a spool cannot be written to the folder of temporary files: is it full?");
}

void SpoolIntake::adopt_into(EvaluationDatabase& results, const std::string& as,
                             const std::string& sha256) {
  if (!folder_) throw FormatError("no spool arrived");
  file_.close();
  const std::string file = *folder_ / kName;
  if (sha256_of_file(file) != sha256) throw FormatError("a spool arrived with another digest");
  const auto spool = EvaluationDatabase::open(file, {.access = EvaluationDatabase::Access::read});
  expect_own_schema(*spool);
  const auto runs = spool->runs();
  if (runs.size() != 1) {
    throw FormatError(fmt::format("a spool has {} runs, expected one", runs.size()));
  }
  results.adopt(*spool, runs.front().id, as);
}

void SpoolIntake::forget() {
  file_ = {};
  folder_.reset();
  bytes_ = 0;
}

}  // namespace d5::detail
