// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario.hpp"

#include <pybind11/typing.h>

#include "d5/core/error.hpp"
#include "d5/core/trace.hpp"
#include "d5/evaluation/system_under_test.hpp"
#include "evaluation/evaluation_module.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

/// A function of a sample's number, in Python: it answers one query after the other.
class PythonSystem final : public SystemUnderTest {
 public:
  PythonSystem(const py::object& answer, std::string name, std::int64_t samples)
      : answer_(answer), name_(std::move(name)), samples_(samples) {}
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::int64_t samples() const override { return samples_; }
  void issue(std::span<const Query> queries) override {
    for (const Query& query : queries) {
      const std::int64_t begun = Trace::now_ns();
      const std::string fault = call_python([&]() -> std::string {
        try {
          answer_.object(query.sample);
          return {};
        } catch (py::error_already_set& raised) {
          if (!raised.matches(PyExc_Exception)) throw;
          return raised.what();
        }
      });
      complete({{.id = query.id,
                 .begun = begun,
                 .status = fault.empty() ? Status::passed : Status::failed,
                 .reason = fault}});
    }
  }

 private:
  PythonReference answer_;
  std::string name_;
  std::int64_t samples_;
};

using Answer = py::typing::Callable<py::object(std::int64_t)>;

Measurements run_scenario(const std::string& which, const Answer& answer, std::int64_t samples,
                          const std::string& name, double seconds, std::int64_t queries,
                          double deadline_seconds, std::uint64_t seed, const Options& options) {
  PythonSystem system(answer, name, samples);
  const Settings settings = to_settings(options);
  ScenarioResult result;
  long_call([&](const Interrupt& interrupt) {
    result =
        scenarios().at(which).make(settings)->run(system, {.least_seconds = seconds,
                                                           .least_queries = queries,
                                                           .seed = seed,
                                                           .deadline_seconds = deadline_seconds,
                                                           .interrupt = interrupt});
  });
  for (Measurement& row : result.measurements) {
    row.subject = name;
    row.level = "evaluation";
    row.framework = "python";
    if (result.status == Status::failed) {
      row.status = Status::failed;
      row.reason = result.reason;
    } else if (result.status != Status::passed) {
      mistrust(row, result.reason);
    }
  }
  return Measurements(result.measurements);
}

}  // namespace

void bind_scenario(py::module_& m) {
  m.def("run_scenario", &run_scenario, py::arg("scenario"), py::arg("answer"), py::kw_only(),
        py::arg("samples") = 1, py::arg("name") = "python", py::arg("seconds") = 0.0,
        py::arg("queries") = 100, py::arg("deadline_seconds") = 0.0, py::arg("seed") = 0,
        "Asks answer(sample) in this way ('d5 list scenarios': single_stream, poisson, ...) until "
        "so many seconds and queries are over: rows of latency, throughput, lag. What it raises is "
        "a failed query; queries wait for one another, as Python does. Further keywords are the "
        "scenario's options: d5.run_scenario(\"poisson\", ask, samples=1000, rate=50).");
  m.def("scenarios", [] { return scenarios().names(); });
}

}  // namespace d5::python
