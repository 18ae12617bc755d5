// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <pybind11/typing.h>

#include "answered.hpp"
#include "bindings.hpp"
#include "d5/core/core.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

std::string record_state(const Measurement& row) {
  return to_json({.environment = {}, .measurements = {row}});
}

Measurement record_from_state(const std::string& state) {
  return results_from_json(state, "pickle").measurements.at(0);
}

[[noreturn]] void throw_not_run(bool is_generator) {
  throw TypeError(
      fmt::format("d5.measure: a call of run makes a {}, whose code does not run; expected a "
                  "function that runs it: {}",
                  is_generator ? "generator" : "coroutine",
                  is_generator ? "lambda: list(f())" : "lambda: asyncio.run(f())"));
}

/// Throws: TypeError for a function whose call runs nothing.
void expect_runs(const py::object& run) {
  const auto inspect = py::module_::import("inspect");
  if (inspect.attr("isgeneratorfunction")(run).cast<bool>()) throw_not_run(true);
  for (const char* asks : {"iscoroutinefunction", "isasyncgenfunction"}) {
    if (inspect.attr(asks)(run).cast<bool>()) throw_not_run(false);
  }
}

/// Throws: TypeError for the result of a call that has run nothing, as that of a lambda around such
/// a function.
void expect_ran(const py::object& result) {
  if (PyGen_CheckExact(result.ptr())) throw_not_run(true);
  if (PyAsyncGen_CheckExact(result.ptr())) throw_not_run(false);
  if (!PyCoro_CheckExact(result.ptr())) return;
  result.attr("close")();  // else Python warns of it, too
  throw_not_run(false);
}

/// A Python call as work for `measure`, which holds the GIL like its caller.
void run_python(const py::object& run) {
  try {
    expect_ran(run());
  } catch (py::error_already_set& raised) {
    pass_on(raised);
  }
}

using Callable = py::typing::Callable<py::object()>;
using Callables = py::typing::Dict<py::str, Callable>;

Subject subject_of(const py::object& run, const std::string& name, const std::string& framework) {
  expect_runs(run);
  return {.record = {.subject = name, .framework = framework}, .run = [run] { run_python(run); }};
}

std::vector<Subject> subjects_of(const Callables& runs, const std::string& name) {
  std::vector<Subject> subjects;
  for (const auto& [framework, run] : runs) {
    subjects.push_back(
        subject_of(py::reinterpret_borrow<py::object>(run), name,
                   answered<std::string>(framework, "d5.measure: a name in run", "a text")));
  }
  return subjects;
}

}  // namespace

Measurements::Measurements(const std::vector<Measurement>& rows)
    : Measurements(py::module_::import("d5").attr("Measurements")(py::cast(rows))) {}

void bind_measurement(py::module_& m) {
  py::class_<Measurement>(m, "Measurement",
                          "Subject, environment, samples, status and reason of one measurement.")
      .def(py::init<>())
      .def_readwrite("subject", &Measurement::subject,
                     "The measured case: \"Conv 2x3x9x9 4x3x3x3\", \"lenet\".")
      .def_readwrite("command", &Measurement::command, "Command line that measures it again.")
      .def_readwrite("level", &Measurement::level,
                     "\"operator\", \"network\", \"training\", \"distributed\", ...")
      .def_readwrite("framework", &Measurement::framework, "Framework that ran it: \"torch\".")
      .def_readwrite("device", &Measurement::device, "Device that ran it: \"cpu\", \"cuda:0\".")
      .def_readwrite("metric", &Measurement::metric,
                     "Name of the measured quantity: \"time\", \"error\".")
      .def_readwrite("unit", &Measurement::unit,
                     "SI unit of the samples without a prefix: \"s\", \"byte\", \"1\".")
      .def_property_readonly(
          "quantity", [](const Measurement& r) { return std::string(name_of(r.quantity)); },
          "Kind of number: \"time\", \"energy\", \"bytes\", \"rate\", \"accuracy\", ...")
      .def_property_readonly(
          "statistic", [](const Measurement& r) { return to_string(r.statistic); },
          "Statistic that gives `value`: \"median\", \"p99\", \"mean\", ...")
      .def_readwrite(
          "samples", &Measurement::samples,
          "All samples in the order of measurement, in `unit`: a copy, so assign a whole list.")
      .def_readwrite("reason", &Measurement::reason,
                     "Reason for another status than \"passed\", else empty.")
      .def_property_readonly(
          "conditions",
          [](const Measurement& r) {
            std::map<std::string, Condition::Value> values;
            for (const auto& [name, condition] : r.conditions) {
              values[name] = condition.value;
            }
            return values;
          },
          "Everything else that was fixed or found, by name: texts, and numbers in SI units.")
      .def_property_readonly(
          "roles",
          [](const Measurement& r) {
            std::map<std::string, std::string> roles;
            for (const auto& [name, condition] : r.conditions) {
              roles[name] = name_of(condition.role);
            }
            return roles;
          },
          "Role of each condition in a comparison: \"identity\" (another case), \"setting\" (must "
          "agree), \"finding\" or \"aside\".")
      .def_property_readonly(
          "artefacts",
          [](const Measurement& r) {
            std::vector<std::string> names;
            for (const auto& artefact : r.artefacts) names.push_back(artefact.name);
            return names;
          },
          "Names of the files that it used, and of its pictures.")
      .def_property_readonly(
          "status", [](const Measurement& r) { return std::string(name_of(r.status)); },
          "\"passed\", \"failed\", \"mistrusted\", \"skipped\" or \"unsupported\".")
      .def_property_readonly(
          "median", [](const Measurement& r) { return summarise(r.samples).median; },
          "Median of the samples; NaN if there are none, or one is NaN.")
      .def_property_readonly(
          "value", [](const Measurement& r) { return estimate(r).value; },
          "The value that summarises the samples, by `statistic`.")
      .def_property_readonly(
          "interval",
          [](const Measurement& r) {
            const Interval i = estimate(r).interval;
            return std::pair(i.low, i.high);
          },
          "95% interval of `value`; NaN if it has none.")
      .def("__deepcopy__", [](const Measurement& r, const Anything&) { return r; })
      .def(py::pickle(&record_state, &record_from_state))
      .def("_repr_html_", [](const Measurement& r) { return to_html_table({r}); })
      .def("__repr__", [](const Measurement& r) {
        const std::string framework = r.framework.empty() ? "" : " " + printable(r.framework);
        return fmt::format("<d5.Measurement {}{} {}: {} samples, {}>", printable(r.subject),
                           framework, r.metric, r.samples.size(), name_of(r.status));
      });

  m.def(
      "measure",
      [](const std::variant<Callables, Callable>& run, const std::string& name,
         const std::vector<std::string>& metrics, int samples, int warmup,
         double seconds_per_sample, std::uint64_t seed) {
        const auto* several = std::get_if<Callables>(&run);
        const std::vector<Subject> subjects =
            several ? subjects_of(*several, name)
                    : std::vector{subject_of(std::get<Callable>(run), name, "")};
        std::vector<Measurement> rows;
        long_call(
            [&](const Interrupt& interrupt) {
              rows = measure_side_by_side(subjects, {metrics.begin(), metrics.end()},
                                          {.samples = samples,
                                           .warmup = warmup,
                                           .seconds_per_sample = seconds_per_sample,
                                           .seed = seed,
                                           .interrupt = interrupt});
            },
            Gil::held);
        return Measurements(rows);
      },
      py::arg("run"), py::arg("name") = "python",
      py::arg("metrics") = std::vector<std::string>{"time"}, py::arg("samples") = 30,
      py::arg("warmup") = 3, py::arg("seconds_per_sample") = 1e-4, py::arg("seed") = 0,
      "Measures a Python callable the way d5 measures; a row per metric. Several callables in a "
      "dict by name (a row's `framework`) are interleaved, in random order in each round: {\"d5\": "
      "..., \"onnxruntime\": ...}; the ratio of each time to the first's follows.");
  m.def("metrics", [] { return metrics().names(); }, "Names of all metrics.");
  m.def(
      "_statuses",
      [] {
        using enum Status;
        std::vector<std::string> names;
        for (const Status status : {passed, failed, mistrusted, skipped, unsupported}) {
          names.emplace_back(name_of(status));
        }
        return names;
      },
      "Words for the status of a measurement.");
  m.def(
      "to_table",
      [](const std::vector<Measurement>& measurements) { return to_table(measurements); },
      py::arg("measurements"), "The console table of measurements.");
  m.def("to_html", &to_html_table, py::arg("measurements"),
        "An HTML table, as in a page of `d5 report`.");
  m.def(
      "write_results",
      [](const std::vector<Measurement>& measurements, const Path& path) {
        const py::gil_scoped_release release;
        write_results({environment(), measurements}, path.string());
      },
      py::arg("measurements"), py::arg("path"), "Writes a results file, with this environment.");
  m.def(
      "read_results",
      [](const Path& path) { return Measurements(read_results(path.string()).measurements); },
      py::arg("path"),
      "Reads the records of a results file. Raises IoError, or FormatError with the place.");
}

}  // namespace d5::python
