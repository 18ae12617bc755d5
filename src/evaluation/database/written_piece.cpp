// SPDX-License-Identifier: Apache-2.0
#include "evaluation/database/written_piece.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "evaluation/database/packed_queries.hpp"
#include "evaluation/database/stored_rows.hpp"

namespace d5::detail {
namespace {

void add_artefacts(SqlConnection& connection, const std::string& run,
                   std::span<const Measurement> records) {
  std::set<std::vector<std::string>> once;
  for (const auto& record : records) {
    for (const auto& [name, version, sha256] : record.artefacts) {
      const std::vector<std::string> row = {sha256, name, version};
      if (sha256.empty() || !once.insert(row).second) continue;
      connection.change(
          "INSERT INTO artefact (run, sha256, name, version) VALUES ($1, $2, $3, $4) ON CONFLICT "
          "DO NOTHING",
          {run, stored_text(sha256), stored_text(name), stored_text(version)});
    }
  }
}

}  // namespace

bool WrittenPiece::begin(const std::string& kind, std::size_t count) {
  if (connection_.query("SELECT 1 FROM run WHERE id = $1", {run_}).rows.empty()) {
    throw NotFound(fmt::format("database: run '{}' does not exist; write it before its pieces",
                               printable(run_)));
  }
  return connection_.change(
             "INSERT INTO piece (run, name, kind, number, count) SELECT $1, $2, $3, COUNT(*), $4 "
             "FROM piece WHERE run = $1 ON CONFLICT DO NOTHING",
             {run_, piece_, kind, std::int64_t(count)}) == 1;
}

void WrittenPiece::add(std::span<const Measurement> records) {
  static const std::vector<std::string> kColumns = [] {
    std::vector<std::string> columns = {"run", "piece", "number"};
    columns.insert(columns.end(), kTextColumns.begin(), kTextColumns.end());
    for (const char* name :
         {"conditions", "artefacts", "value", "low", "high", "confidence", "count", "samples"}) {
      columns.emplace_back(name);
    }
    return columns;
  }();
  connection_.append("measurement", kColumns, records.size(), [&](std::size_t i, SqlRow& row) {
    const Measurement& record = records[i];
    const Estimate number = estimate(record);
    row = {run_, piece_, std::int64_t(count_ + i)};
    for (auto& text : record_texts(record)) row.push_back(std::move(text));
    for (const double value :
         {number.value, number.interval.low, number.interval.high, number.confidence}) {
      row.emplace_back(value);
    }
    row.emplace_back(std::int64_t(record.samples.size()));
    row.emplace_back(pack_numbers(record.samples));
  });
  add_artefacts(connection_, run_, records);
  count_ += records.size();
}

void WrittenPiece::add(std::span<const QueryRecord> records) {
  constexpr std::size_t kBlock = kQueriesInBlock;
  const std::size_t blocks = (records.size() + kBlock - 1) / kBlock;
  connection_.append("query_block", {"run", "piece", "block", "count", "records"}, blocks,
                     [&](std::size_t i, SqlRow& row) {
                       const std::size_t count = std::min(kBlock, records.size() - i * kBlock);
                       row = {run_, piece_, std::int64_t(count_ / kBlock + i), std::int64_t(count),
                              SqlBytes{pack_queries(records.subspan(i * kBlock, count))}};
                     });
  count_ += records.size();
}

void WrittenPiece::add(std::span<const SampleAnswer> answers) {
  connection_.append("answer", {"run", "piece", "number", "sample", "answer", "score"},
                     answers.size(), [&](std::size_t i, SqlRow& row) {
                       const auto& [sample, answer, score] = answers[i];
                       row = {run_, piece_, std::int64_t(count_ + i), sample, stored_text(answer),
                              score};
                     });
  count_ += answers.size();
}

}  // namespace d5::detail
