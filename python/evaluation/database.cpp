// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/core/trace/timeline.hpp"
#include "d5/evaluation/accuracy/sample_answer.hpp"
#include "d5/evaluation/analysis/result_history.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"
#include "d5/evaluation/load/query_record.hpp"
#include "declared_keywords.hpp"
#include "evaluation/evaluation_module.hpp"
#include "row_dicts.hpp"
#include "use.hpp"

namespace d5::python {
namespace {

/// A database that is opened at its first use: reading makes no file.
class Database {
 public:
  explicit Database(std::string address) : address_(std::move(address)) {}

  /// Throws: NotFound if there is none.
  EvaluationDatabase& to_read() {
    if (!opened_) open(EvaluationDatabase::Access::read);
    return *opened_;
  }
  EvaluationDatabase& to_write() {
    if (!opened_ || !writes_) open(EvaluationDatabase::Access::write);
    return *opened_;
  }
  /// An address may hold a password.
  [[nodiscard]] std::string shown() const {
    return address_.find("://") == std::string::npos ? printable(address_)
                                                     : address_.substr(0, address_.find("://"));
  }
  /// The next use opens it again.
  void close() { opened_.reset(); }

 private:
  void open(EvaluationDatabase::Access access) {
    opened_.reset();
    opened_ = EvaluationDatabase::open(address_, {.access = access});
    writes_ = access == EvaluationDatabase::Access::write;
  }

  std::string address_;
  std::unique_ptr<EvaluationDatabase> opened_;
  bool writes_ = false;
};

/// Holds a database while it is used: only one thread at a time may call it.
template <class Work>
auto at_work(Database& database, const Work& work) {
  const Use use(&database, "the database");
  const py::gil_scoped_release released;
  return work();
}

template <class Work>
auto read(Database& database, const Work& work) {
  return at_work(database, [&] { return work(database.to_read()); });
}

/// The texts of a field that some record has.
std::vector<std::string> values_of(Database& database, const std::string& field) {
  std::vector<std::string> values;
  read(database, [&](EvaluationDatabase& opened) {
    opened.sql(
        fmt::format("SELECT DISTINCT {} FROM measurement", field),
        [](const std::vector<std::string>&) {},
        [&](const std::vector<std::string>& row) { values.push_back(row.front()); });
    return true;
  });
  return values;
}

/// Throws: NotFound if no run's id begins with one of these.
void expect_runs(Database& database, const std::vector<std::string>& runs) {
  for (const auto& run : runs) {
    if (run.find('*') != std::string::npos) continue;
    read(database, [&](EvaluationDatabase& opened) {
      if (opened.runs({.run = run}, {.limit = 1}).items.empty()) (void)opened.run_id(run);
      return true;
    });
  }
}

/// The rows with this process's environment. Equal rows have the one in which they were first
/// stored, so that they are one run, whose id follows from its bytes. The GIL guards the map.
Results results_of(const std::vector<Measurement>& rows) {
  static std::map<std::size_t, Environment> environments;
  Results results{.environment = {}, .measurements = rows};
  const std::size_t key = std::hash<std::string>()(to_json(results));
  results.environment = environments.try_emplace(key, environment()).first->second;
  return results;
}

/// Throws: UnknownOption, TypeError and ValueError for words that can match no record, as
/// `rows.where`; NotFound for an unknown run.
RecordFilter filter_of(Database& database, const char* method, const Options& words) {
  static const std::vector<std::pair<const char*, std::string RecordFilter::*>> members{
      {"run", &RecordFilter::run},
      {"key", &RecordFilter::key},
      {"subject", &RecordFilter::subject},
      {"level", &RecordFilter::level},
      {"framework", &RecordFilter::framework},
      {"device", &RecordFilter::device},
      {"metric", &RecordFilter::metric},
      {"status", &RecordFilter::status},
      {"hostname", &RecordFilter::hostname},
      {"artefact", &RecordFilter::artefact},
      {"since", &RecordFilter::since},
      {"until", &RecordFilter::until}};
  const std::string who = std::string("d5.Database.") + method;
  std::vector<std::string> names;
  for (const auto& [name, member] : members) names.emplace_back(name);
  const py::cpp_function values(
      [&](const std::string& field) { return values_of(database, field); });
  auto texts = py::module_::import("d5._measurements")
                   .attr("filter_texts")(who, names, words, values)
                   .cast<std::map<std::string, std::vector<std::string>>>();
  RecordFilter filter;
  for (const auto& [name, member] : members) {
    filter.*member = fmt::format("{}", fmt::join(texts[name], "\n"));  // any of its lines
  }
  expect_runs(database, texts["run"]);
  return filter;
}

RowDicts runs_of_python(Database& database, const Options& words) {
  const RecordFilter filter = filter_of(database, "runs", words);
  const auto all = read(database, [&](EvaluationDatabase& opened) { return opened.runs(filter); });
  return rows_of(all, [](Values& row, const StoredRun& run) {
    row["id"] = run.id;
    row["key"] = run.key;
    row["time"] = run.time;
    row["title"] = run.title;
    row["command"] = run.command;
    row["hostname"] = run.hostname;
    row["cpu"] = run.cpu;
    row["records"] = run.records;
    row["not_passed"] = run.not_passed;
  });
}

Measurements stored_measurements(Database& database, const Options& words) {
  const RecordFilter filter = filter_of(database, "measurements", words);
  std::vector<Measurement> rows;
  for (auto& stored : read(database, [&](EvaluationDatabase& opened) {
         return opened.measurements(filter, EvaluationDatabase::Samples::with);
       })) {
    rows.push_back(std::move(stored.record));
  }
  return Measurements(rows);
}

/// Measurements over time, oldest first.
struct History {
  std::vector<HistoryEntry> entries;
};

History history_of(Database& database, const Options& words) {
  const RecordFilter filter = filter_of(database, "history", words);
  return {read(database,
               [&](EvaluationDatabase& opened) { return stored_history(opened, filter).entries; })};
}

RowDicts rows_of_history(const History& history) {
  return rows_of(history.entries, [](Values& row, const HistoryEntry& entry) {
    row["time"] = entry.stored.time;
    row["run"] = entry.stored.run;
    row["hostname"] = entry.stored.hostname;
    row["subject"] = entry.stored.record.subject;
    row["framework"] = entry.stored.record.framework;
    row["metric"] = entry.stored.record.metric;
    row["value"] = entry.stored.estimate.value;
    row["status"] = std::string(name_of(entry.stored.record.status));
    row["series"] = entry.series;
    row["is_record"] = entry.is_record;
    row["is_best"] = entry.is_best;
  });
}

RowDicts pieces_of_run(Database& database, const std::string& run) {
  const auto all =
      read(database, [&](EvaluationDatabase& opened) { return opened.pieces(opened.run_id(run)); });
  return rows_of(all, [](Values& row, const auto& piece) {
    row["name"] = piece.name;
    row["kind"] = piece.kind;
    row["count"] = piece.count;
  });
}

/// The whole id of a run that has a piece of this name and kind. Throws: NotFound.
std::string run_with(const EvaluationDatabase& database, const std::string& run,
                     const std::string& piece, const std::string& kind) {
  const std::string id = database.run_id(run);
  std::vector<std::string> names;
  for (const auto& one : database.pieces(id)) {
    if (one.kind == kind) names.push_back(one.name);
  }
  if (std::ranges::find(names, piece) == names.end()) {
    throw_unknown_name("piece of " + kind, piece, names);
  }
  return id;
}

RowDicts answers_of_piece(Database& database, const std::string& run, const std::string& piece) {
  const auto all = read(database, [&](EvaluationDatabase& opened) {
    return opened.answers(run_with(opened, run, piece, "answers"), piece);
  });
  return rows_of(all, [](Values& row, const auto& answer) {
    row["sample"] = answer.sample;
    row["answer"] = answer.answer;
    row["score"] = answer.score;
  });
}

RowDicts queries_of_piece(Database& database, const std::string& run, const std::string& piece) {
  const auto all = read(database, [&](EvaluationDatabase& opened) {
    return opened.queries(run_with(opened, run, piece, "queries"), piece);
  });
  return rows_of(all, [](Values& row, const auto& query) {
    row["id"] = query.id;
    row["sample"] = query.sample;
    row["batch"] = query.batch;
    row["scheduled"] = query.scheduled;
    row["issued"] = query.issued;
    row["begun"] = query.begun;
    row["first"] = query.first;
    row["answered"] = query.answered;
    row["ended"] = query.ended;
    row["tokens"] = query.tokens;
    row["status"] = std::string(name_of(query.status));
  });
}

}  // namespace

void bind_database(py::module_& m) {
  py::class_<History>(m, "ResultHistory", "Measurements over time, and the best version.")
      .def("rows", &rows_of_history,
           "A dict per record, oldest first. is_record: better than all before it in its series "
           "(one subject without its version); is_best: the last of these.")
      .def(
          "table", [](const History& history) { return history_table(history.entries); },
          "A row per record, as `d5 eval history` prints it.")
      .def(
          "plots", [](const History& history) { return history_plots(history.entries); },
          "A plot per metric: values over runs, a line per series.")
      .def("__len__", [](const History& history) { return history.entries.size(); })
      .def("__repr__", [](const History& history) {
        return fmt::format("<d5.ResultHistory of {} records; see .table(), .plots()>",
                           history.entries.size());
      });
  py::class_<Database>(
      m, "Database",
      "A database of results: every run with its environment, records, queries, answers and "
      "traces.\n\n"
      "    with d5.Database(\"results.db\") as database:\n"
      "        database.add(rows)\n"
      "        database.measurements(subject=\"lenet@*\", metric=\"latency\")\n"
      "        database.sql(\"SELECT framework, COUNT(*) FROM measurement GROUP BY framework\")\n\n"
      "The address is a file (SQLite), which `add` creates, or \"postgresql://user@host/name\". "
      "Reading a missing file raises NotFound.")
      .def(py::init([](const std::optional<Path>& address) {
             return std::make_unique<Database>(address ? address->string() : usual_database());
           }),
           py::arg("address") = py::none(), "Names the user's own database if no address is given.")
      .def(
          "__enter__", [](Database& database) { return &database; },
          py::return_value_policy::reference)
      .def("__exit__", [](Database& database, const py::args&) { database.close(); })
      .def(
          "close", [](Database& database) { at_work(database, [&] { database.close(); }); },
          "Closes the file or the connection; the next call opens it again.")
      .def("__repr__",
           [](const Database& database) {
             return fmt::format("<d5.Database {}>", database.shown());
           })
      .def(
          "add",
          [](Database& database, const std::vector<Measurement>& rows, const std::string& command) {
            if (rows.empty()) {
              throw ValueError(
                  "d5.Database.add: measurements is [], expected one or more of a run");
            }
            const Results results = results_of(rows);
            return at_work(database, [&] { return database.to_write().add(results, command); });
          },
          py::arg("measurements"), py::arg("command") = "",
          "Stores rows as one run. Returns its id.")
      .def("runs", &runs_of_python,
           "A dict per run, newest first; keywords filter, as in measurements.")
      .def("measurements", &stored_measurements,
           "Records with their samples, oldest first. Keywords filter: run, key, subject, level, "
           "framework, device, metric, status, hostname, artefact, since, until; a list matches "
           "any of "
           "its texts, \"*\" any text. Times are in UTC, \"2026-11-26\". Raises: as "
           "d5.Measurements.where; NotFound for an unknown run.")
      .def(
          "results",
          [](Database& database, const std::string& run) {
            return Measurements(read(database, [&](EvaluationDatabase& opened) {
                                  return opened.results(opened.run_id(run));
                                }).measurements);
          },
          py::arg("run"), "All results of a run; its id may be cut short.")
      .def("history", &history_of,
           "Records over time; keywords filter, as in measurements: `d5 eval history`.")
      .def("pieces", &pieces_of_run, py::arg("run"), "A dict per piece that a run wrote.")
      .def("answers", &answers_of_piece, py::arg("run"), py::arg("piece"), "A dict per sample.")
      .def("queries", &queries_of_piece, py::arg("run"), py::arg("piece"),
           "A dict per query; times in ns, 0 for what did not happen.")
      .def(
          "write_trace",
          [](Database& database, const std::string& run, const std::string& piece,
             const Path& path) {
            read(database, [&](EvaluationDatabase& opened) {
              write_timeline(opened.trace(run_with(opened, run, piece, "trace"), piece),
                             path.string());
            });
          },
          py::arg("run"), py::arg("piece"), py::arg("path"),
          "The timeline of a piece, which ui.perfetto.dev opens.")
      .def(
          "sql",
          [](Database& database, const std::string& statement) {
            return read(database,
                        [&](EvaluationDatabase& opened) { return opened.sql(statement); });
          },
          py::arg("statement"), "The table that an SQL statement returns; it may only read.");
}

}  // namespace d5::python
