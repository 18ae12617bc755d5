// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"

#include "declared_keywords.hpp"
#include "evaluation/evaluation_module.hpp"
#include "evaluation/python_system.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

Measurements run_scenario(const std::string& which, const Answer& answer, std::int64_t samples,
                          const std::string& name, double seconds, std::int64_t queries,
                          double deadline_seconds, std::uint64_t seed, const Options& options) {
  PythonSystem system(answer, name, samples);
  const Settings settings = entry_settings(options, "d5.run_scenario", scenarios(), which);
  ScenarioResult result;
  long_call([&](const Interrupt& interrupt) {
    result =
        scenarios().at(which).make(settings)->run(system, {.least_seconds = seconds,
                                                           .least_queries = queries,
                                                           .seed = seed,
                                                           .deadline_seconds = deadline_seconds,
                                                           .interrupt = interrupt});
  });
  return Measurements(records_of(std::move(result), name));
}

}  // namespace

void bind_scenario(py::module_& m) {
  m.def("run_scenario", &run_scenario, py::arg("scenario"), py::arg("answer"), py::kw_only(),
        py::arg("samples") = 1, py::arg("name") = "python", py::arg("seconds") = 0.0,
        py::arg("queries") = 100, py::arg("deadline_seconds") = 0.0, py::arg("seed") = 0,
        "Sends queries to answer(sample) by a scenario ('d5 list scenarios': single_stream, "
        "poisson, ...) until it has both so many seconds and queries. Returns rows of latency, "
        "throughput and lag. An exception is a failed query; queries run one at a time, as Python "
        "does. Further keywords are the scenario's options: d5.run_scenario(\"poisson\", ask, "
        "samples=1000, rate=50).");
  m.def("scenarios", [] { return scenarios().names(); });
}

}  // namespace d5::python
