// SPDX-License-Identifier: Apache-2.0
// Copying runs from one database to another.
#include <fmt/format.h>

#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"
#include "evaluation/database/packed_queries.hpp"
#include "evaluation/database/written_piece.hpp"

namespace d5 {
namespace {

/// A page of records without the columns that only a database has.
StoredPage<Measurement> records_of(StoredPage<StoredMeasurement> stored) {
  StoredPage<Measurement> page{.items = {}, .next = std::move(stored.next)};
  for (auto& one : stored.items) page.items.push_back(std::move(one.record));
  return page;
}

}  // namespace

void EvaluationDatabase::adopt(const EvaluationDatabase& other, const std::string& run,
                               const std::string& as) {
  write([&] {
    if (!connection_->query("SELECT 1 FROM run WHERE id = $1", {as}).rows.empty()) return;
    adopting_ = true;
    try {
      copy_run(other, run, as);
    } catch (...) {
      adopting_ = false;
      throw;
    }
    adopting_ = false;
  });
}

void EvaluationDatabase::copy_from(const EvaluationDatabase& other, const std::string& run) {
  copy_run(other, run, run);
}

void EvaluationDatabase::copy_run(const EvaluationDatabase& other, const std::string& run,
                                  const std::string& as) {
  EvaluationRun told = other.run(run);
  told.id = as;
  evaluation(told);
  for (const StoredPiece& piece : other.pieces(run)) {
    if (piece.kind == "trace") {
      trace(as, piece.name, other.trace(run, piece.name));
    } else {
      write([&] { copy_list(other, run, piece, as); });
    }
  }
}

void EvaluationDatabase::copy_list(const EvaluationDatabase& other, const std::string& run,
                                   const StoredPiece& piece, const std::string& as) {
  detail::WrittenPiece written(*connection_, as, piece.name);
  if (piece.count < 0 || !written.begin(piece.kind, std::size_t(piece.count))) return;
  const auto add = [&](const auto& items) { written.add(items); };
  if (piece.kind == "measurements") {
    constexpr std::size_t kAtOnce = 1000;
    const RecordFilter filter{.run = run, .piece = piece.name};
    const auto read = [&](const PageAsked& asked) {
      return records_of(other.measurements(filter, Samples::with, asked));
    };
    for_each_stored_page(read, add, kAtOnce);
  } else if (piece.kind == "queries") {
    const auto read = [&](const PageAsked& asked) { return other.queries(run, piece.name, asked); };
    for_each_stored_page(read, add, detail::kQueriesInBlock);
  } else if (piece.kind == "answers") {
    constexpr std::size_t kAtOnce = 10'000;
    const auto read = [&](const PageAsked& asked) {
      return other.answers(run, piece.name, Answers::all, asked);
    };
    for_each_stored_page(read, add, kAtOnce);
  }
  if (written.count() == std::size_t(piece.count)) return;
  throw FormatError(fmt::format("database: '{}' of run '{}' claims {} {}, and has {}",
                                printable(piece.name), printable(run), piece.count,
                                printable(piece.kind), written.count()));
}

}  // namespace d5
