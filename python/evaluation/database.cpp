// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>

#include "d5/core/results/results.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/core/trace/timeline.hpp"
#include "d5/evaluation/accuracy/sample_answer.hpp"
#include "d5/evaluation/analysis/result_history.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"
#include "d5/evaluation/load/query_record.hpp"
#include "evaluation/evaluation_module.hpp"
#include "row_dicts.hpp"
#include "use.hpp"

namespace d5::python {
namespace {

RecordFilter filter_of(const Options& words) {
  Settings settings = to_settings(words).owned_by("records of a database");
  OptionList list(settings);
  RecordFilter filter;
  const auto add = [&](const char* name, std::string& value) { list.add(name, value, ""); };
  add("run", filter.run), add("key", filter.key), add("subject", filter.subject);
  add("level", filter.level), add("framework", filter.framework), add("device", filter.device);
  add("metric", filter.metric), add("status", filter.status), add("hostname", filter.hostname);
  add("artefact", filter.artefact), add("since", filter.since), add("until", filter.until);
  list.expect_all_known();
  return filter;
}

/// Holds a database while it is used: only one thread at a time may call it.
template <class Work>
auto at_work(EvaluationDatabase& database, const Work& work) {
  const Use use(&database, "the database");
  const py::gil_scoped_release released;
  return work();
}

RowDicts runs_of_python(EvaluationDatabase& database, const Options& words) {
  const RecordFilter filter = filter_of(words);
  const auto all = at_work(database, [&] { return database.runs(filter); });
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

Measurements stored_measurements(EvaluationDatabase& database, const Options& words) {
  const RecordFilter filter = filter_of(words);
  std::vector<Measurement> rows;
  for (auto& stored : at_work(database, [&] {
         return database.measurements(filter, EvaluationDatabase::Samples::with);
       })) {
    rows.push_back(std::move(stored.record));
  }
  return Measurements(rows);
}

/// Measurements over time, oldest first.
struct History {
  std::vector<HistoryEntry> entries;
};

History history_of(EvaluationDatabase& database, const Options& words) {
  const RecordFilter filter = filter_of(words);
  return {at_work(database, [&] { return stored_history(database, filter).entries; })};
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

RowDicts pieces_of_run(EvaluationDatabase& database, const std::string& run) {
  const auto all = at_work(database, [&] { return database.pieces(database.run_id(run)); });
  return rows_of(all, [](Values& row, const auto& piece) {
    row["name"] = piece.name;
    row["kind"] = piece.kind;
    row["count"] = piece.count;
  });
}

RowDicts answers_of_piece(EvaluationDatabase& database, const std::string& run,
                          const std::string& piece) {
  const auto all = at_work(database, [&] { return database.answers(database.run_id(run), piece); });
  return rows_of(all, [](Values& row, const auto& answer) {
    row["sample"] = answer.sample;
    row["answer"] = answer.answer;
    row["score"] = answer.score;
  });
}

RowDicts queries_of_piece(EvaluationDatabase& database, const std::string& run,
                          const std::string& piece) {
  const auto all = at_work(database, [&] { return database.queries(database.run_id(run), piece); });
  return rows_of(all, [](Values& row, const auto& query) {
    row["id"] = query.id;
    row["sample"] = query.sample;
    row["batch"] = query.batch;
    row["scheduled"] = query.scheduled;
    row["issued"] = query.issued;
    row["begun"] = query.begun;
    row["ended"] = query.ended;
    row["status"] = std::string(name_of(query.status));
  });
}

}  // namespace

void bind_database(py::module_& m) {
  py::class_<History>(m, "ResultHistory", "Measurements over time, and the best version.")
      .def("rows", &rows_of_history,
           "A dict per record, oldest first. is_record: better than all before it in its series "
           "(one subject without its version); is_best: the last of these.")
      .def("table", [](const History& history) { return history_table(history.entries); })
      .def(
          "plots", [](const History& history) { return history_plots(history.entries); },
          "A plot per metric: values over runs, a line per series.")
      .def("__len__", [](const History& history) { return history.entries.size(); });
  py::class_<EvaluationDatabase>(
      m, "Database",
      "A database of results: every run with its environment, records, queries, answers and "
      "traces.\n\n"
      "    database = d5.Database(\"results.db\")\n"
      "    database.add(rows)\n"
      "    database.measurements(subject=\"lenet@*\", metric=\"latency\")\n"
      "    database.sql(\"SELECT framework, COUNT(*) FROM measurement GROUP BY framework\")\n\n"
      "The address is a file (SQLite), which is created, or \"postgresql://user@host/name\".")
      .def(py::init([](const std::optional<Path>& address) {
             const py::gil_scoped_release released;
             return EvaluationDatabase::open(address ? address->string() : usual_database());
           }),
           py::arg("address") = py::none(), "Opens the user's own database if no address is given.")
      .def(
          "add",
          [](EvaluationDatabase& database, const std::vector<Measurement>& rows,
             const std::string& command) {
            return at_work(database, [&] {
              return database.add({.environment = environment(), .measurements = rows}, command);
            });
          },
          py::arg("measurements"), py::arg("command") = "",
          "Stores rows as one run. Returns its id.")
      .def("runs", &runs_of_python,
           "A dict per run, newest first; keywords filter, as in measurements.")
      .def("measurements", &stored_measurements,
           "Records with their samples, oldest first. Keywords filter: run, key, subject, level, "
           "framework, device, metric, status, hostname, artefact, since, until; \"*\" matches any "
           "text.")
      .def(
          "results",
          [](EvaluationDatabase& database, const std::string& run) {
            return Measurements(at_work(database, [&] {
                                  return database.results(database.run_id(run));
                                }).measurements);
          },
          py::arg("run"), "All results of a run; its id may be cut short.")
      .def("history", &history_of,
           "Records over time; keywords filter, as in measurements: `d5 eval history`.")
      .def("pieces", &pieces_of_run, py::arg("run"), "A dict per piece that a run wrote.")
      .def("answers", &answers_of_piece, py::arg("run"), py::arg("piece"), "A dict per sample.")
      .def("queries", &queries_of_piece, py::arg("run"), py::arg("piece"),
           "A dict per query; times in ns.")
      .def(
          "write_trace",
          [](EvaluationDatabase& database, const std::string& run, const std::string& piece,
             const Path& path) {
            at_work(database, [&] {
              write_timeline(database.trace(database.run_id(run), piece), path.string());
            });
          },
          py::arg("run"), py::arg("piece"), py::arg("path"),
          "The timeline of a piece, which ui.perfetto.dev opens.")
      .def(
          "sql",
          [](EvaluationDatabase& database, const std::string& statement) {
            return at_work(database, [&] { return database.sql(statement); });
          },
          py::arg("statement"), "The table that an SQL statement returns; it may only read.");
}

}  // namespace d5::python
