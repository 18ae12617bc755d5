// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/launching/scaling_study.hpp"

#include "answered.hpp"
#include "d5/level3_distributed/schemes/scaling_table.hpp"
#include "level2_training/training/session_options.hpp"
#include "level3_distributed/started_calls.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

/// Runs a training on that many ranks, by a scheme, strong or weak, with a seed. Returns its
/// records.
using TrainAtPoint =
    py::typing::Callable<std::vector<Measurement>(int, std::string, std::string, std::uint64_t)>;

/// An exception is a failed run.
TrainAt training_of_python(const TrainAtPoint& train, const std::string& subject) {
  const auto held = std::make_shared<PythonReference>(train);
  return [held, subject](const ScalingPoint& point, std::uint64_t seed) {
    return call_python([&]() -> std::vector<Measurement> {
      try {
        return answered<std::vector<Measurement>>(
            held->object(point.ranks, point.scheme, point.scaling, seed), "a run of d5.scale",
            "its rows");
      } catch (py::error_already_set& raised) {
        if (!raised.matches(PyExc_Exception)) throw;
        return {{.subject = subject,
                 .level = "distributed",
                 .metric = "throughput",
                 .unit = "1/s",
                 .direction = Direction::higher_is_better,
                 .status = Status::failed,
                 .reason = py::str(raised.value()).cast<std::string>()}};
      }
    });
  };
}

Measurements scale_recipe(const TrainAtPoint& train, const Recipe& recipe, std::vector<int> ranks,
                          std::vector<std::string> schemes, std::vector<std::string> scalings,
                          std::int64_t runs, const Path& out, bool resume, const std::string& how,
                          const Anything& say) {
  ScalingStudyOptions study;
  study.repetition.runs = runs;
  study.repetition.seed = recipe.training().seed;
  study.out = out.string();
  study.resume = resume;
  study.how = how + " " + recipe.checksum();
  study.repetition.say = to_say(say);
  const auto points = points_of({std::move(ranks), std::move(schemes), std::move(scalings)});
  const TrainAt train_at = training_of_python(train, recipe.name());
  std::vector<Measurement> records;
  long_call([&](const Interrupt& interrupt) {
    study.repetition.interrupt = interrupt;
    records = scaling_study(points, train_at, study);
  });
  return Measurements(records);
}

}  // namespace

void bind_scaling_study(py::module_& m) {
  m.def("_scale", &scale_recipe, py::arg("train"), py::arg("recipe"), py::kw_only(),
        py::arg("ranks"), py::arg("schemes"), py::arg("scalings"), py::arg("runs"), py::arg("out"),
        py::arg("resume"), py::arg("how"), py::arg("say"), "d5.scale.");
  m.def(
      "scaling_summary", [](const std::vector<Measurement>& rows) { return scaling_summary(rows); },
      py::arg("rows"),
      "A row per point of d5.scale: throughput, efficiency, bytes, and the results of its runs.");
  m.def(
      "scaling_plot", [](const std::vector<Measurement>& rows) { return scaling_plot(rows); },
      py::arg("rows"), "Throughput over ranks, beside perfect scaling from the fewest ranks.");
  m.def(
      "scaling_table", [](const std::vector<Measurement>& rows) { return scaling_table(rows); },
      py::arg("rows"),
      "From rows of trainings on several numbers of ranks: each time with speed-up, efficiency, "
      "and the share of communication.");
}

}  // namespace d5::python
