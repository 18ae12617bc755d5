// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "d5/core/results/measurement.hpp"
#include "d5/evaluation/accuracy/sample_answer.hpp"
#include "d5/evaluation/load/query_record.hpp"
#include "evaluation/database/sql_connection.hpp"

namespace d5::detail {

/// Writes what a run has under one name, as one list or in parts, within a transaction.
class WrittenPiece {
 public:
  WrittenPiece(SqlConnection& connection, const std::string& run, const std::string& piece)
      : connection_(connection), run_(run), piece_(piece) {}

  /// Begins a piece of that many items of a kind. Returns false if it exists already, and nothing
  /// must be added. Throws: NotFound for an unknown run.
  [[nodiscard]] bool begin(const std::string& kind, std::size_t count);
  /// Adds the next items. All parts of queries but the last consist of whole blocks.
  void add(std::span<const Measurement> records);
  void add(std::span<const QueryRecord> records);
  void add(std::span<const SampleAnswer> answers);
  /// Number of items that were added.
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  SqlConnection& connection_;
  const std::string& run_;
  const std::string& piece_;
  std::size_t count_ = 0;
};

}  // namespace d5::detail
