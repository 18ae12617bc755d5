// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario/find_peak.hpp"

#include <fmt/format.h>

#include <optional>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/measuring/work_list.hpp"
#include "d5/evaluation/run/peak_work.hpp"
#include "declared_keywords.hpp"
#include "evaluation/evaluation_module.hpp"
#include "evaluation/python_system.hpp"
#include "long_call.hpp"
#include "row_dicts.hpp"

namespace d5::python {
namespace {

const char* word_of_verdict(PeakStep::Verdict verdict) {
  switch (verdict) {
    case PeakStep::Verdict::holds:
      return "holds";
    case PeakStep::Verdict::misses:
      return "misses";
    case PeakStep::Verdict::undecided:
      return "undecided";
  }
  return "undecided";
}

RowDicts steps_of_peak(const Peak& peak) {
  return rows_of(peak.steps, [](Values& row, const PeakStep& step) {
    row["rate"] = step.rate;
    row["queries"] = step.queries;
    const Estimate number = estimate(step.numbers.front());
    row["latency"] = number.value;
    row["interval"] = std::pair(number.interval.low, number.interval.high);
    row["verdict"] = word_of_verdict(step.verdict);
    row["reason"] = step.reason;
  });
}

PeakOptions search_for(PeakOptions search, const std::string& objective) {
  search.objectives = objectives_of_words(objective);
  return search;
}

Peak peak_of_function(const Answer& answer, PeakOptions search, const EntryChoice& scenario,
                      std::int64_t samples, const std::string& name) {
  PythonSystem system(answer, name, samples);
  Peak peak;
  long_call([&](const Interrupt& interrupt) {
    search.run.interrupt = interrupt;
    peak = find_peak(
        [&](double rate, const ScenarioOptions& options) {
          Settings settings = scenario.settings;
          settings.set("rate", fmt::format("{}", rate));
          return scenarios().at(scenario.name).make(settings)->run(system, options);
        },
        search);
  });
  return peak;
}

Measurements peaks_of_evaluation(const Manifest& what, const std::string& objective,
                                 PeakWorkOptions options, const Settings& changes,
                                 const std::optional<Path>& out, bool resume) {
  EvaluationManifest manifest = manifest_of(what);
  WorkDone done;
  long_call([&](const Interrupt& interrupt) {
    options.search.run.interrupt = interrupt;
    const FixedEvaluation evaluation = fixed_evaluation(manifest, changes);
    done = run_work(peak_work(evaluation, options), {.what = "",
                                                     .how = objective + " " + evaluation.key,
                                                     .out = out ? out->string() : "",
                                                     .resume = resume,
                                                     .interrupt = interrupt});
  });
  if (done.unwritten) std::rethrow_exception(done.unwritten);
  return Measurements(done.results.measurements);
}

/// An evaluation's fields without its scenarios (a peak has one), and the search's options.
std::vector<Option> options_of_both() {
  std::vector<Option> options = options_of<EvaluationManifest>();
  std::erase_if(options, [](const Option& option) { return option.name == "scenarios"; });
  for (const Option& option : options_of<PeakOptions>()) options.push_back(option);
  return options;
}

}  // namespace

void bind_find_peak(py::module_& m) {
  py::class_<Peak>(m, "Peak", "The highest rate of queries that meets a latency objective.")
      .def_readonly("rate", &Peak::rate, "Highest rate that held, in queries/s; 0 if none did.")
      .def_readonly("missed", &Peak::missed, "Lowest rate above it that missed.")
      .def_readonly("cut", &Peak::cut, "Why the search ended early; empty if it did not.")
      .def("steps", &steps_of_peak,
           "A dict per run, in order: rate, queries, latency (s) of the first objective with its "
           "interval, verdict (holds, misses, undecided), reason.")
      .def("__repr__",
           [](const Peak& peak) { return fmt::format("<d5.Peak: {:.4g} queries/s>", peak.rate); });
  m.def(
      "find_peak",
      [](const Answer& answer, const std::string& slo, std::int64_t samples,
         const std::string& name, const std::string& scenario, double seconds, std::int64_t queries,
         std::uint64_t seed, const Options& keywords) {
        PeakOptions search = search_for(read_keywords<PeakOptions>(keywords, "d5.find_peak"), slo);
        search.run.least_seconds = seconds;
        if (queries > 0) search.run.least_queries = queries;
        search.run.seed = seed;
        return peak_of_function(answer, search, entry_of_words("scenario", scenario), samples,
                                name);
      },
      py::arg("answer"), py::arg("slo"), py::kw_only(), py::arg("samples") = 1,
      py::arg("name") = "python", py::arg("scenario") = "poisson",
      py::arg("seconds") = PeakOptions().run.least_seconds, py::arg("queries") = 0,
      py::arg("seed") = 0,
      "Finds the highest rate at which answer(sample) meets an objective such as \"p99<=50ms\": "
      "doubles the rate until it misses, then bisects to the tolerance. `seconds` and `queries` "
      "are minima of each run; with 0 it has what the scenario needs for a verdict.");
  tell_keywords(m, "find_peak", options_of<PeakOptions>());
  m.def(
      "evaluate_peak",
      [](const Manifest& what, const std::string& slo, const std::string& scenario,
         const std::optional<Path>& out, bool resume, const Options& keywords) {
        const std::string who = "d5.evaluate_peak";
        const Settings given = declared_settings(keywords, who, options_of_both());
        const PeakWorkOptions how{
            .scenario = entry_of_words("scenario", scenario),
            .search = search_for(read_shared_options<PeakOptions>(given), slo)};
        Settings changes = given;
        for (const Option& option : options_of<PeakOptions>()) (void)changes.take(option.name, "");
        return peaks_of_evaluation(what, slo, how, changes, out, resume);
      },
      py::arg("what"), py::arg("slo"), py::kw_only(), py::arg("scenario") = "poisson",
      py::arg("out") = py::none(), py::arg("resume") = false,
      "Finds the peak rate of each model, framework and batch size: `d5 eval find-peak`. Returns "
      "the row peak_rate, and latency_at_rate for each rate that was tried. `what` is as in "
      "d5.evaluate.");
  tell_keywords(m, "evaluate_peak", options_of_both(), Untold::as_file_says);
}

}  // namespace d5::python
