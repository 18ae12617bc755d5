// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "core/files/scratch_folder.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"

namespace d5::detail {

/// Results that arrive as pieces of a database file, until they are adopted.
class SpoolIntake {
 public:
  /// Throws: IoError; ValueError for more bytes than any evaluation has.
  void add(std::string_view bytes);
  /// Copies the only run of the file to `results` under the id `as`. Throws: FormatError for a
  /// wrong digest, a file that is no d5 database, or another number of runs.
  void adopt_into(EvaluationDatabase& results, const std::string& as, const std::string& sha256);
  /// Discards what arrived.
  void forget();

 private:
  std::unique_ptr<ScratchFolder> folder_;
  std::ofstream file_;
  std::uint64_t bytes_ = 0;
};

}  // namespace d5::detail
