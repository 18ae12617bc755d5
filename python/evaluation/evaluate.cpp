// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/run/evaluate.hpp"

#include <fmt/format.h>
#include <pybind11/typing.h>

#include <filesystem>
#include <optional>
#include <variant>

#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/work_list.hpp"
#include "d5/core/results/environment.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/run/asked_evaluation.hpp"
#include "d5/evaluation/run/evaluation_lock.hpp"
#include "d5/evaluation/run/run_sink.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "declared_keywords.hpp"
#include "evaluation/evaluation_module.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

std::string json_of(const Values& manifest) {
  return py::module_::import("json").attr("dumps")(manifest).cast<std::string>();
}

/// Throws: TypeError for a text in place of a number in the settings of a scenario.
void expect_numbers_of_scenarios(const Values& dict, const std::string& who) {
  if (!dict.contains("scenarios")) return;
  const py::object given = dict["scenarios"];
  const bool is_list = py::isinstance<py::list>(given) || py::isinstance<py::tuple>(given);
  for (const py::handle one : is_list ? py::list(given) : py::list(py::make_tuple(given))) {
    if (py::isinstance<py::dict>(one)) (void)entry_choice(one, who + ": a scenario", scenarios());
  }
}

/// The manifest of a dict. Throws: TypeError; FormatError with the place of each fault in the dict.
EvaluationManifest evaluation_of(const Values& dict) {
  const std::string who = "the evaluation";
  const py::object written = py::module_::import("d5._recipe_text").attr("text_of")(dict, who);
  const auto [text, places] = written.cast<std::pair<std::string, std::vector<std::string>>>();
  std::string all;
  for (const auto& fault : lint_manifest(text, who)) {
    const auto line = std::size_t(fault.line - 1);
    const bool is_inside = fault.column > 1 && line < places.size();  // else it names its key
    all += (all.empty() ? ": " : "; ") + (is_inside ? places[line] + ": " : "") + fault.what;
  }
  if (!all.empty()) throw FormatError(who + all);
  expect_numbers_of_scenarios(dict, who);
  return parse_manifest<EvaluationManifest>(text, who);
}

/// Throws: ValueError if the call gives more than the file's name.
std::string file_of_lock(const Manifest& what, const Settings& changes) {
  const auto* path = std::get_if<Path>(&what);
  if (path && changes.values().empty()) return path->string();
  throw ValueError(
      "d5.evaluate: with locked=True the lock file fixes what runs; leave out all other options");
}

Measurements run_evaluation(const Manifest& what, const Settings& changes,
                            const std::optional<Path>& out, bool resume,
                            const std::optional<Path>& database, bool steps, bool locked) {
  if (out && out->empty()) throw ValueError("d5.evaluate: out is '', expected a results file");
  if (database && database->empty()) {
    throw ValueError("d5.evaluate: database is '', expected a file, or None for no database");
  }
  const std::string lock = locked ? file_of_lock(what, changes) : "";
  const EvaluationManifest manifest = locked ? EvaluationManifest{} : manifest_of(what);
  std::vector<Measurement> rows;
  long_call([&](const Interrupt& interrupt) {
    EvaluateOptions how;
    if (out) how.out = out->string();
    how.resume = resume;
    how.steps = steps;
    how.interrupt = interrupt;
    const FixedEvaluation evaluation =
        locked ? locked_evaluation(lock) : fixed_evaluation(manifest, changes);
    std::unique_ptr<EvaluationDatabase> kept;
    std::optional<RunSink> run;
    if (database) {
      kept = EvaluationDatabase::open(database->string());
      EvaluationRun told{.key = evaluation.key,
                         .manifest = evaluation.canonical,
                         .command = evaluation_line(evaluation.manifest),
                         .environment = environment()};
      run.emplace(*kept, std::move(told), how.out, resume);
      how.sink = &*run;
      how.run = run->id();
    }
    rows = evaluate(evaluation, how).measurements;
    if (run) run->end();
  });
  return Measurements(rows);
}

using LintFault = std::tuple<int, int, std::string>;

std::vector<LintFault> lint(const std::variant<Values, Path>& what, bool fetched) {
  const auto* path = std::get_if<Path>(&what);
  if (path && std::filesystem::is_directory(*path)) {
    throw ValueError(
        fmt::format("d5.lint_manifest: manifest is '{}', a folder; expected a file: {}",
                    printable(path->string()), printable((*path / "manifest.yaml").string())));
  }
  const std::string text =
      path ? detail::read_manifest_file(path->string()) : json_of(std::get<Values>(what));
  std::vector<LintFault> faults;
  for (const auto& fault : lint_manifest(text, path ? path->string() : "manifest",
                                         fetched ? ManifestOrigin::fetched : ManifestOrigin::own)) {
    faults.emplace_back(fault.line, fault.column, fault.what);
  }
  if (!path || fetched || !faults.empty()) return faults;
  for (const auto& fault : missing_files(text, path->string())) {
    faults.emplace_back(fault.line, fault.column, fault.what);
  }
  return faults;
}

}  // namespace

EvaluationManifest manifest_of(const Manifest& what) {
  if (const auto* dict = std::get_if<Values>(&what)) {
    Values whole(dict->attr("copy")());
    for (const auto& [key, value] : {std::pair("kind", "evaluation"), std::pair("name", "python"),
                                     std::pair("version", "0.0.0-dev")}) {
      whole.attr("setdefault")(key, value);
    }
    return evaluation_of(whole);
  }
  const auto* path = std::get_if<Path>(&what);
  return asked_evaluation(
      path ? std::vector{path->string()} : std::get<std::vector<std::string>>(what), "python");
}

Settings changes_of(const Options& keywords, const std::string& who) {
  return declared_settings(keywords, who, options_of<EvaluationManifest>());
}

FixedEvaluation fixed_evaluation(EvaluationManifest manifest, const Settings& changes) {
  change_evaluation(manifest, changes);
  manifest.frameworks = executor_words(manifest.frameworks);
  return fix_evaluation(manifest);
}

void bind_evaluate(py::module_& m) {
  m.def(
      "evaluate",
      [](const Manifest& what, const std::optional<Path>& out, bool resume,
         const std::optional<Path>& database, bool steps, bool locked, const Options& keywords) {
        return run_evaluation(what, changes_of(keywords, "d5.evaluate"), out, resume, database,
                              steps, locked);
      },
      py::arg("what"), py::kw_only(), py::arg("out") = py::none(), py::arg("resume") = false,
      py::arg("database") = py::none(), py::arg("steps") = false, py::arg("locked") = false,
      "Evaluates models: `d5 eval run`. `what` is a model's manifest (a built-in name, or a file), "
      "several of them, an evaluation's file, or its manifest as a dict. Keywords replace fields "
      "of the manifest; scenarios=[] measures accuracy alone. First comes each model's accuracy in "
      "each framework, then every scenario "
      "with every batch size (1 where it asks for one sample after the other); each number is a "
      "row. `database`: address of a database for queries and answers. With locked=True, `what` is "
      "a file of evaluation_lock.");
  tell_keywords(m, "evaluate", options_of<EvaluationManifest>(), Untold::as_file_says);
  m.def("lint_manifest", &lint, py::arg("manifest"), py::kw_only(), py::arg("fetched") = false,
        "All faults of a file or a dict, as (line, column, message); empty if it is valid.");
}

}  // namespace d5::python
