// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/find_peak.hpp"

#include <fmt/format.h>

#include <optional>

#include "d5/core/entry_words.hpp"
#include "d5/core/work_list.hpp"
#include "d5/evaluation/peak_work.hpp"
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
    row["latency"] = step.latency.value;
    row["interval"] = std::pair(step.latency.interval.low, step.latency.interval.high);
    row["verdict"] = word_of_verdict(step.verdict);
    row["reason"] = step.reason;
  });
}

struct PeakSearch {
  std::string objective;
  std::string scenario;
  double seconds, first_rate, lowest_rate, highest_rate, tolerance;
  std::int64_t queries;
  std::uint64_t seed;

  [[nodiscard]] PeakOptions options() const {
    const LatencyObjective latency = objective_of_words(objective);
    PeakOptions search;
    search.first_rate = first_rate;
    search.lowest_rate = lowest_rate;
    search.highest_rate = highest_rate;
    search.tolerance = tolerance;
    search.run.least_seconds = seconds;
    if (queries > 0) search.run.least_queries = queries;
    search.run.seed = seed;
    search.run.percentile = latency.percentile;
    search.run.latency_seconds = latency.seconds;
    return search;
  }
};

Peak peak_of_function(const Answer& answer, const PeakSearch& how, std::int64_t samples,
                      const std::string& name) {
  PythonSystem system(answer, name, samples);
  PeakOptions search = how.options();
  const EntryChoice scenario = entry_of_words("scenario", how.scenario);
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

Measurements peaks_of_evaluation(const Manifest& what, const PeakSearch& how,
                                 const EvaluationChanges& changes, const std::optional<Path>& out,
                                 bool resume) {
  EvaluationManifest manifest = manifest_of(what);
  PeakWorkOptions options;
  options.scenario = entry_of_words("scenario", how.scenario);
  options.search = how.options();
  WorkDone done;
  long_call([&](const Interrupt& interrupt) {
    options.search.run.interrupt = interrupt;
    const FixedEvaluation evaluation = fixed_evaluation(manifest, changes);
    done = run_work(peak_work(evaluation, options), {.what = "",
                                                     .how = how.objective + " " + evaluation.key,
                                                     .out = out ? out->string() : "",
                                                     .resume = resume,
                                                     .interrupt = interrupt});
  });
  if (done.unwritten) std::rethrow_exception(done.unwritten);
  return Measurements(done.results.measurements);
}

}  // namespace

void bind_find_peak(py::module_& m) {
  const PeakOptions usual;
  py::class_<Peak>(m, "Peak", "The most queries a second at which an objective of latency holds.")
      .def_readonly("rate", &Peak::rate, "The highest that held; 0: none did.")
      .def_readonly("missed", &Peak::missed, "The lowest above it that did not.")
      .def(
          "steps", &steps_of_peak,
          "A dict a run, in the order of asking: rate, queries, latency (s) of the percentile with "
          "its interval, verdict (holds, misses, undecided), reason.")
      .def("__repr__",
           [](const Peak& peak) { return fmt::format("<d5.Peak: {:.4g} queries/s>", peak.rate); });
  m.def(
      "find_peak",
      [](const Answer& answer, const std::string& slo, std::int64_t samples,
         const std::string& name, const std::string& scenario, double seconds, std::int64_t queries,
         std::uint64_t seed, double first_rate, double lowest_rate, double highest_rate,
         double tolerance) {
        return peak_of_function(answer,
                                {slo, scenario, seconds, first_rate, lowest_rate, highest_rate,
                                 tolerance, queries, seed},
                                samples, name);
      },
      py::arg("answer"), py::arg("slo"), py::kw_only(), py::arg("samples") = 1,
      py::arg("name") = "python", py::arg("scenario") = "poisson",
      py::arg("seconds") = usual.run.least_seconds, py::arg("queries") = 0, py::arg("seed") = 0,
      py::arg("first_rate") = usual.first_rate, py::arg("lowest_rate") = usual.lowest_rate,
      py::arg("highest_rate") = usual.highest_rate, py::arg("tolerance") = usual.tolerance,
      "The highest rate at which answer(sample) holds to \"p99<=50ms\": doubled from the first one "
      "until it misses, then divided until both are within the tolerance. `seconds` and `queries` "
      "are of each run, at least.");
  m.def(
      "evaluate_peak",
      [](const Manifest& what, const std::string& slo,
         std::optional<std::vector<std::string>> frameworks, const std::string& scenario,
         std::optional<std::vector<std::int64_t>> batches, std::optional<std::string> dataset,
         std::optional<std::string> split, double seconds, std::int64_t queries, std::uint64_t seed,
         double first_rate, double lowest_rate, double highest_rate, double tolerance,
         const std::optional<Path>& out, bool resume) {
        return peaks_of_evaluation(what,
                                   {slo, scenario, seconds, first_rate, lowest_rate, highest_rate,
                                    tolerance, queries, seed},
                                   {.frameworks = std::move(frameworks),
                                    .batches = std::move(batches),
                                    .dataset = std::move(dataset),
                                    .split = std::move(split)},
                                   out, resume);
      },
      py::arg("what"), py::arg("slo"), py::kw_only(), py::arg("frameworks") = py::none(),
      py::arg("scenario") = "poisson", py::arg("batches") = py::none(),
      py::arg("dataset") = py::none(), py::arg("split") = py::none(),
      py::arg("seconds") = usual.run.least_seconds, py::arg("queries") = 0, py::arg("seed") = 0,
      py::arg("first_rate") = usual.first_rate, py::arg("lowest_rate") = usual.lowest_rate,
      py::arg("highest_rate") = usual.highest_rate, py::arg("tolerance") = usual.tolerance,
      py::arg("out") = py::none(), py::arg("resume") = false,
      "`d5 eval find-peak`: of each model, framework and size of batch the row peak_rate, and "
      "latency_at_rate for each rate that was tried. `what` as of d5.evaluate.");
}

}  // namespace d5::python
