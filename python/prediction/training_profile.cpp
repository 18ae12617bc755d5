// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/profile/training_profile.hpp"

#include <fmt/format.h>

#include "d5/prediction/profile/profile_from_cost.hpp"
#include "d5/prediction/profile/profile_launches.hpp"
#include "d5/prediction/profile/profile_training.hpp"
#include "d5/prediction/training_graphs/profile_table.hpp"
#include "level1_network/model_file.hpp"
#include "level3_distributed/job.hpp"
#include "long_call.hpp"
#include "prediction/prediction.hpp"

namespace d5::python {
namespace {

TrainingProfile profile(const NetworkOrFile& model, std::vector<std::int64_t> batches,
                        const std::string& framework, std::int64_t steps, std::int64_t warm_up,
                        const std::string& optimizer, const SharedRanks& group) {
  ProfileOptions options{
      .batches = std::move(batches), .steps = steps, .warm_up = warm_up, .optimizer = optimizer};
  const SharedRanks ranks = group ? group : job_of_python();
  const ModelFile file(model);
  TrainingProfile result;
  long_call([&](const Interrupt& interrupt) {
    options.interrupt = interrupt;
    file.run([&] { result = profile_training(file.word(), framework, options, {}, *ranks); });
  });
  if (const auto* network = std::get_if<Network>(&model)) result.model = network->name();
  return result;
}

py::typing::List<py::object> pieces_of(const TrainingProfile& profile, std::int64_t batch) {
  const StepTimes times = step_times(profile, batch);
  py::typing::List<py::object> pieces;
  for (std::size_t i = 0; i < profile.pieces.size(); ++i) {
    pieces.append(py::dict(py::arg("name") = profile.pieces[i].name,
                           py::arg("kind") = profile.pieces[i].kind,
                           py::arg("seconds") = times.seconds[i], py::arg("gap") = times.gaps[i]));
  }
  return pieces;
}

}  // namespace

void bind_training_profile(py::module_& m) {
  py::class_<TrainingProfile>(m, "TrainingProfile", "Pieces of a training step, with their times.")
      .def_readonly("model", &TrainingProfile::model, "Model or recipe that was profiled.")
      .def_readonly("framework", &TrainingProfile::framework, "Framework and its version.")
      .def_readonly("threads", &TrainingProfile::threads, "Number of threads per copy.")
      .def_readonly("copies", &TrainingProfile::copies,
                    "Number of copies that ran at once; samples are of all.")
      .def_readonly("mistrusted", &TrainingProfile::mistrusted,
                    "Reasons to mistrust it; empty: none.")
      .def_property_readonly(
          "batches",
          [](const TrainingProfile& profile) {
            std::vector<std::int64_t> sizes;
            for (const auto& times : profile.batches) {
              sizes.push_back(times.batch);
            }
            return sizes;
          },
          "Profiled batch sizes, ascending.")
      .def(
          "step",
          [](const TrainingProfile& profile, std::int64_t batch) {
            return step_times(profile, batch).step;
          },
          py::arg("batch"),
          "Seconds of a step; interpolated between profiled batch sizes, extrapolated beyond them.")
      .def("pieces", &pieces_of, py::arg("batch"),
           "Pieces in the order in which they run: name, kind, seconds, and the gap before, in "
           "seconds.")
      .def(
          "table",
          [](const TrainingProfile& profile) { return profile_table(profile, Format::table); },
          "A row per batch size and kind of piece; then the step, and steps without the clock "
          "calls.")
      .def(
          "write",
          [](const TrainingProfile& profile, const Path& path) {
            write_training_profile(profile, path);
          },
          py::arg("path"), "Writes a file for read_profile. Raises IoError.")
      .def(py::pickle([](const TrainingProfile& profile) { return to_json(profile); },
                      [](const std::string& json) {
                        return training_profile_from_json(json, "a pickled profile");
                      }))
      .def("__repr__", [](const TrainingProfile& profile) {
        return fmt::format("<d5.TrainingProfile {}: {} pieces>", printable(profile.model),
                           profile.pieces.size());
      });
  m.def("profile", &profile, py::arg("model"), py::arg("batches"), py::kw_only(),
        py::arg("framework") = "reference", py::arg("steps") = 30, py::arg("warm_up") = 3,
        py::arg("optimizer") = ProfileOptions{}.optimizer, py::arg("group") = py::none(),
        "Profiles training steps of a model or recipe, on every rank of the job, or of a group, at "
        "once.");
  m.def(
      "joined_launches",
      [](const std::vector<TrainingProfile>& launches) { return joined_launches(launches); },
      py::arg("launches"),
      "Joins the profiles of several launches of a training, as `d5 profile --launches` does, "
      "because processes differ by more than their steps do.");
  m.def(
      "profile_from_cost",
      [](const std::string& model, std::int64_t batch, double step_seconds) {
        const py::gil_scoped_release released;
        return profile_from_cost(model, {.batch = batch, .step_seconds = step_seconds});
      },
      py::arg("model"), py::arg("batch"), py::arg("step_seconds"),
      "Makes a profile of a model or recipe without running anything: each operator gets its share "
      "of a known time by its FLOP.");
  m.def("_only_batch", &only_batch, py::arg("profile"),
        "The batch of d5.predict if none is given.");
  m.def(
      "read_profile", [](const Path& path) { return read_training_profile(path); }, py::arg("path"),
      "Reads a file of `write`, or of `d5 profile --out`.");
}

}  // namespace d5::python
