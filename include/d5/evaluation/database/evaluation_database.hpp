// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/results/results.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/evaluation/accuracy/answer_comparison.hpp"
#include "d5/evaluation/accuracy/sample_answer.hpp"
#include "d5/evaluation/database/evaluation_sink.hpp"
#include "d5/evaluation/load/query_record.hpp"

namespace d5 {

namespace detail {
class SqlConnection;
}

/// Selects records; an empty field selects all. "*" in a text matches any characters.
struct RecordFilter {
  std::string run = {};    ///< an id, or its beginning
  std::string key = {};    ///< key of the evaluation, or its beginning
  std::string model = {};  ///< a subject in all versions: "lenet" includes "lenet@1.2.0"
  std::string subject = {}, level = {}, framework = {}, device = {}, metric = {}, status = {};
  std::string hostname = {};
  std::string artefact = {};           ///< SHA-256 of a file that the run used, or its beginning
  std::string since = {}, until = {};  ///< ISO 8601, UTC: "2026-11-26", or with a time
  std::string piece = {};              ///< name of the piece, not a pattern
  bool operator==(const RecordFilter&) const = default;
};

/// A run, without its records.
struct StoredRun {
  std::string id, key, time, command, hostname, cpu;
  std::string system;           ///< digest of the facts about the machine
  std::int64_t records = 0;     ///< number of measurements of all pieces
  std::int64_t not_passed = 0;  ///< number of these that did not pass
  std::string title = {};       ///< subject of its evaluation; empty without a manifest
};

struct StoredMeasurement {
  std::string run, piece, time, hostname;
  Measurement record;  ///< without its samples, unless they are requested
  Estimate estimate;   ///< as it was written
};

/// The data that a run wrote under one name.
struct StoredPiece {
  std::string name;
  std::string kind;  ///< "measurements", "queries", "answers", "trace"
  std::int64_t count = 0;
};

/// A page of a list, and the place of the next one; empty: this is the last.
template <class Item>
struct StoredPage {
  std::vector<Item> items;
  std::string next = {};
};

/// The page to read: a number of items, from a place that an earlier page gave as its `next`.
struct PageAsked {
  std::string from = {};  ///< empty: from the beginning
  std::size_t limit = std::size_t{1} << 40;
};

/// Calls `use` with the items of each page of a list, with one page at a time in memory:
/// `read(asked)` reads a page.
template <class Read, class Use>
void for_each_stored_page(const Read& read, const Use& use, std::size_t at_once) {
  PageAsked asked{.from = {}, .limit = at_once};
  do {
    auto page = read(asked);
    use(page.items);
    asked.from = page.next;
  } while (!asked.from.empty());
}

/// Calls `add` with each item of a list, in the same way.
///
///     for_each_stored([&](const PageAsked& asked) { return database.queries(run, piece, asked); },
///                     [](const QueryRecord& query) { ... });
template <class Read, class Add>
void for_each_stored(const Read& read, const Add& add, std::size_t at_once = 10'000) {
  const auto add_all = [&](auto& items) {
    for (auto& item : items) add(std::move(item));
  };
  for_each_stored_page(read, add_all, at_once);
}

/// The answers that a run wrote under one name.
struct StoredAnswers {
  std::string run;  ///< its whole id
  std::string piece;
};

/// A database of results: every run with its environment, records with all samples, queries,
/// answers and traces. Rows are added, and never changed or removed. Format:
/// docs/reference/file_formats.md, "Database".
///
///     const auto database = EvaluationDatabase::open("results.db");
///     database->evaluation(run);
///     database->measurements(run.id, "piece", records);
///     for (const auto& [run, piece, time, host, record, estimate] :
///          database->measurements({.subject = "efficientnet-lite0@*", .metric = "latency"})) ...
///
/// Thread safety: one call at a time; any number of processes.
/// Throws: IoError if it cannot be reached, another program locks it for ten seconds, or the disk
/// is full; FormatError if it is damaged, not d5's, or of a newer d5; NotFound for unknown ids, and
/// a missing file; Unsupported for a server if d5 was built without its library.
class EvaluationDatabase final : public EvaluationSink {
 public:
  static constexpr int kSchema = 3;
  enum class Access {
    write,  ///< creates a missing file
    read,   ///< requires the file
  };
  struct Options {
    Access access = Access::write;
    double wait_seconds = 10;  ///< for another program that writes
  };

  /// `address`: the path of a file (SQLite), or "postgresql://user@host/name", as libpq reads it.
  [[nodiscard]] static std::unique_ptr<EvaluationDatabase> open(const std::string& address,
                                                                const Options& options);
  [[nodiscard]] static std::unique_ptr<EvaluationDatabase> open(const std::string& address);
  ~EvaluationDatabase() override;
  EvaluationDatabase(const EvaluationDatabase&) = delete;
  EvaluationDatabase& operator=(const EvaluationDatabase&) = delete;

  void evaluation(const EvaluationRun& run) override;
  void measurements(const std::string& run, const std::string& piece,
                    std::span<const Measurement> records) override;
  void queries(const std::string& run, const std::string& piece,
               std::span<const QueryRecord> records) override;
  void answers(const std::string& run, const std::string& piece,
               std::span<const SampleAnswer> answers) override;
  void trace(const std::string& run, const std::string& piece, const Timeline& timeline) override;

  /// Stores a results file as one run, whose id derives from its bytes: the same file twice is one
  /// run. Returns the id.
  std::string add(const Results& results, const std::string& command = {});

  /// Newest first.
  [[nodiscard]] std::vector<StoredRun> runs(const RecordFilter& filter = {}) const;
  /// Completes an id from its beginning. Throws: NotFound if none matches, or several do.
  [[nodiscard]] std::string run_id(const std::string& beginning) const;
  [[nodiscard]] EvaluationRun run(const std::string& id) const;
  [[nodiscard]] std::vector<StoredPiece> pieces(const std::string& run) const;

  enum class Samples { without, with };
  /// The oldest run first, in the order in which the run wrote them.
  [[nodiscard]] std::vector<StoredMeasurement> measurements(
      const RecordFilter& filter, Samples samples = Samples::without) const;
  /// All results of a run, as in its results file.
  [[nodiscard]] Results results(const std::string& run) const;
  [[nodiscard]] std::vector<QueryRecord> queries(const std::string& run,
                                                 const std::string& piece) const;
  [[nodiscard]] std::vector<SampleAnswer> answers(const std::string& run,
                                                  const std::string& piece) const;
  [[nodiscard]] Timeline trace(const std::string& run, const std::string& piece) const;
  /// The same as the text of a trace file (JSON), without parsing it.
  [[nodiscard]] std::string trace_text(const std::string& run, const std::string& piece) const;

  /// The same lists, a page at a time. Throws: ValueError for an unknown place.
  [[nodiscard]] StoredPage<StoredRun> runs(const RecordFilter& filter, const PageAsked& page) const;
  [[nodiscard]] StoredPage<StoredMeasurement> measurements(const RecordFilter& filter,
                                                           Samples samples,
                                                           const PageAsked& page) const;
  [[nodiscard]] StoredPage<QueryRecord> queries(const std::string& run, const std::string& piece,
                                                const PageAsked& page) const;
  enum class Answers { all, wrong };  ///< wrong: with a score below 1/2
  [[nodiscard]] StoredPage<SampleAnswer> answers(const std::string& run, const std::string& piece,
                                                 Answers which, const PageAsked& page) const;

  /// Calls `add` with each record of these metrics that passed, in no order, reduced to what a
  /// history needs: subject, framework, device, metric, statistic, direction and conditions, value
  /// and host; and with whether it comes before `place` in the list of `measurements` (empty: none
  /// does). `add` must not call this database. Throws: as they do.
  void passed_values(
      const RecordFilter& filter, const std::vector<std::string>& metrics, const std::string& place,
      const std::function<void(const StoredMeasurement&, bool is_before)>& add) const;

  /// Compares answers of two runs inside the database, as `compare_answers` does: only the flips
  /// are in memory, at most `most_flips` of those that A has right, and as many of B's. Throws:
  /// ValueError for a sample that is answered twice.
  [[nodiscard]] AnswerComparison compare_answers(const StoredAnswers& a, const StoredAnswers& b,
                                                 std::size_t most_flips) const;

  /// Runs one SQL statement that only reads. Throws: ValueError with the database's message.
  [[nodiscard]] TextTable sql(const std::string& statement) const;
  using Words = std::function<void(std::vector<std::string>)>;
  /// The same, row by row: `titles` is called once, before the first `row`. They must not call this
  /// database.
  void sql(const std::string& statement, const Words& titles, const Words& row) const;

  /// Copies everything of a run that another database has and this one has not, piece by piece,
  /// with a part of a piece at a time in memory. Throws: FormatError for a piece whose length is
  /// wrong.
  void copy_from(const EvaluationDatabase& other, const std::string& run);
  /// Copies another database's run to this one under the id `as`, atomically. An existing run of
  /// that id stays as it is. Throws: as `copy_from`.
  void adopt(const EvaluationDatabase& other, const std::string& run, const std::string& as);

 private:
  void write(const std::function<void()>& work);
  void copy_run(const EvaluationDatabase& other, const std::string& run, const std::string& as);
  void copy_list(const EvaluationDatabase& other, const std::string& run, const StoredPiece& piece,
                 const std::string& as);
  explicit EvaluationDatabase(std::unique_ptr<detail::SqlConnection> connection);
  std::unique_ptr<detail::SqlConnection> connection_;
  bool adopting_ = false;  ///< within the transaction of `adopt`
};

/// The address in $D5_DATABASE; empty without one.
[[nodiscard]] std::string named_database();
/// The default address for reading: $D5_DATABASE, or else `d5.db` in the user's data folder
/// ($XDG_DATA_HOME/d5 or ~/.local/share/d5). Throws: IoError if there is no home folder.
[[nodiscard]] std::string usual_database();

}  // namespace d5
