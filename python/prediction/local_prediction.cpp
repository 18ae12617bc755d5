// SPDX-License-Identifier: Apache-2.0
// Predictions for this machine's own ranks, beside measurements of them.
#include "d5/prediction/training/local_prediction.hpp"

#include <pybind11/typing.h>

#include <optional>
#include <utility>

#include "d5/core/entries/entry_words.hpp"
#include "d5/prediction/training/measured_training.hpp"
#include "d5/prediction/training/prediction_timeline.hpp"
#include "level3_distributed/job.hpp"
#include "long_call.hpp"
#include "prediction/prediction.hpp"

namespace d5::python {
namespace {

/// A Python function of numbers of ranks and of launches, which may be destroyed without the GIL.
template <class Result, class... Numbers>
std::function<Result(Numbers...)> guarded(
    const py::typing::Callable<Result(Numbers...)>& function) {
  const auto object = std::make_shared<PythonReference>(function);
  return [object](Numbers... numbers) {
    return call_python([&] { return object->object(numbers...).template cast<Result>(); });
  };
}

/// The curve; if `timeline` is given, also a step on the most ranks.
std::pair<PredictedCurve, std::optional<Timeline>> predict_local(
    const py::typing::Callable<TrainingProfile(int, int)>& profile,
    const py::typing::Callable<ClusterDescription(int)>& cluster,
    const py::typing::Callable<std::vector<double>(int)>& steps,
    const std::optional<py::typing::Callable<Timeline(int)>>& timeline, std::vector<int> ranks,
    std::int64_t batch, const std::string& scheme, const std::string& scaling,
    const std::string& wire, int launches, const std::optional<Path>& map, bool force) {
  LocalRanks here{.profile = guarded(profile),
                  .cluster = guarded(cluster),
                  .steps = [steps = guarded(steps)](int ranks, int) { return steps(ranks); },
                  .timeline = {},
                  .launches = launches};
  if (timeline) here.timeline = guarded(*timeline);
  ScalingPredictionOptions options;
  options.ranks = std::move(ranks);
  options.scaling = predicted_scaling(scaling);
  options.training = simulated_training(batch, scheme, wire, map, force);
  PredictedCurve curve;
  std::optional<Timeline> traced;
  long_call([&](const Interrupt& interrupt) {
    options.interrupt = interrupt;
    curve = predict_here(here, options);
    if (here.timeline) traced = timeline_here(here, options);
  });
  return {std::move(curve), std::move(traced)};
}

std::vector<double> measured_steps(const std::string& model, std::int64_t batch,
                                   const std::string& scheme, const std::string& framework,
                                   std::int64_t steps, std::int64_t warm_up,
                                   const std::string& optimizer, const SharedRanks& group) {
  const EntryChoice choice = entry_of_words("distributed optimizer", scheme);
  const ProfileOptions how{
      .batches = {batch}, .steps = steps, .warm_up = warm_up, .optimizer = optimizer};
  const SharedRanks ranks = group ? group : job_of_python();
  std::vector<double> seconds;
  long_call([&](const Interrupt&) {  // a launcher ends all ranks by itself
    seconds = measure_steps(model, framework, choice, how, {}, ranks);
  });
  return seconds;
}

}  // namespace

void bind_local_prediction(py::module_& m) {
  const ProfileOptions usual;
  m.def("_predict_local", &predict_local, py::arg("profile"), py::arg("cluster"), py::arg("steps"),
        py::arg("timeline"), py::arg("ranks"), py::arg("batch"), py::arg("scheme"),
        py::arg("scaling"), py::arg("wire"), py::arg("launches"), py::arg("map"), py::arg("force"),
        "Implements d5.predict with measure=[...].");
  m.def("_steps_of_launch", &steps_of_launch, py::arg("steps"), py::arg("launches"),
        "Steps of each of several launches that share the steps.");
  m.def("measure_steps", &measured_steps, py::arg("model"), py::arg("batch"), py::kw_only(),
        py::arg("scheme") = kRingScheme, py::arg("framework") = "reference",
        py::arg("steps") = usual.steps, py::arg("warm_up") = usual.warm_up,
        py::arg("optimizer") = usual.optimizer, py::arg("group") = py::none(),
        "Seconds of each training step of a model or recipe, on the slowest rank, over all ranks "
        "of the job or of a group: a measurement to compare a prediction with. A collective.");
  m.def(
      "predicted_timeline",
      [](const TrainingProfile& profile, const ClusterDescription& cluster, int ranks,
         std::int64_t batch, const std::string& scheme) {
        const auto training = simulated_training(batch, scheme, "");
        const py::gil_scoped_release released;
        return predicted_timeline(profile, ranks, cluster, training);
      },
      py::arg("profile"), py::arg("cluster"), py::arg("ranks"), py::arg("batch"), py::kw_only(),
      py::arg("scheme") = kRingScheme,
      "Simulates a few steps in virtual time, and returns them as a d5.Timeline: `d5 predict "
      "--trace`.");
  m.def("measured_above_predicted", &measured_above_predicted, py::arg("measured"),
        py::arg("predicted"),
        "One step of each timeline, for the ranks that both have, starting at 0; both need spans "
        "named \"step\".");
}

}  // namespace d5::python
