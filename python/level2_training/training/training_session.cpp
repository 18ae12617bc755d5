// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/training_session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include "declared_keywords.hpp"
#include "level2_training/optimization/optimizer_classes.hpp"
#include "level2_training/optimization/read_gradients.hpp"
#include "level2_training/training/session_options.hpp"
#include "level3_distributed/job.hpp"
#include "long_call.hpp"
#include "use.hpp"

namespace d5::python {
namespace {

std::unique_ptr<TrainingSession> make(const RecipeOrFile& recipe, const Options& keywords) {
  expect_one_rank("TrainingSession");
  const Recipe whole = to_recipe(recipe);
  SessionOptions options = to_session_options(keywords);
  std::unique_ptr<TrainingSession> session;
  long_call([&](const Interrupt& interrupt) {
    session = std::make_unique<TrainingSession>(whole, std::move(options), interrupt);
  });
  return session;
}

Measurements run_session(TrainingSession& session) {
  expect_one_reader(session.trainer());
  const Use use(&session.trainer().optimizer().executor(), "the session's executor");
  std::vector<Measurement> results;
  orderly_call([&](const Interrupt& interrupt) { results = session.run(interrupt); });
  return Measurements(results);
}

/// The recipe with assignments, of which those to the keys `texts` have a text as their value.
Recipe overridden(const RecipeOrFile& recipe, const std::string& who,
                  const std::vector<std::string>& changes, const std::vector<std::string>& texts) {
  Recipe whole = to_recipe(recipe);
  for (const auto& change : changes) whole.set(change);
  for (const auto& key : texts) {
    const auto place = whole.values().find(key);
    if (place == whole.values().end()) continue;
    expect_number(who + ": the override of '" + key + "'", whole.type_of(key),
                  py::cast(place->second.text));
    whole.mark_text(key);
  }
  return whole;
}

std::pair<Measurements, bool> train(const RecipeOrFile& recipe,
                                    const std::vector<std::string>& changes,
                                    const std::vector<std::string>& texts,
                                    const std::string& scheme, const Options& keywords) {
  Recipe whole = to_recipe(recipe);
  if (!scheme.empty()) whole.set("distributed.name=" + scheme);
  whole = overridden(whole, "d5.train", changes, texts);
  const SessionOptions options = to_session_options(keywords);
  const auto ranks = job_of_python();
  share_threads_of_job();
  std::vector<Measurement> results;
  orderly_call([&](const Interrupt& interrupt) {
    // A launcher ends all ranks by itself.
    results = d5::train(whole, options, ranks, ranks->size() == 1 ? interrupt : Interrupt{});
  });
  const bool accepted = std::ranges::none_of(
      results, [](const Measurement& result) { return result.status == Status::failed; });
  return {Measurements(results), accepted};
}

}  // namespace

void bind_training_session(py::module_& m) {
  constexpr auto inside = py::return_value_policy::reference_internal;
  static const std::string about =
      std::string("Builds a recipe's data, network, optimizer, trainer and metrics. ") +
      kSessionHelp;
  py::class_<TrainingSession>(m, "TrainingSession", about.c_str(), ended_without_gil())
      .def(py::init(&make), py::arg("recipe"))
      .def("run", &run_session,
           "Trains, then judges the results: a record per metric. Call once; Ctrl-C as in "
           "Trainer.run.")
      .def(
          "save",
          [](TrainingSession& session, const Path& path) {
            long_call([&](const Interrupt&) { session.save(path.string()); });
          },
          py::arg("path"),
          "Writes the network without its loss, with the parameters of test runs (ONNX).")
      .def_property_readonly(
          "trainer", [](TrainingSession& session) { return &session.trainer(); }, inside,
          "The d5.Trainer, which has the recipe's optimizer, data and metrics.")
      .def_property_readonly(
          "network", [](TrainingSession& session) -> Network& { return session.network(); }, inside,
          "The network that is trained.")
      .def_property_readonly(
          "data", [](const TrainingSession& session) { return session.data(); },
          "The d5.DatasetPair that is trained and tested on.");

  static const std::string train_about =
      std::string(
          "Runs a recipe (its file, its name, or a Recipe), with the assignments `overrides`, "
          "under "
          "mpirun on all ranks. Returns a d5.TrainingResult: its measurements, the same on each "
          "rank, and whether all acceptance criteria were met. `overrides` is a mapping, "
          "{\"optimizer.name\": \"adam\", \"training.epochs\": 2}, or a list, "
          "[\"training.epochs=2\"]. `distributed` is the scheme of distributed training: "
          "\"torch/ddp:hook=float16\". `ranks` starts that many ranks of this machine (d5.launch), "
          "sends them all arguments, and returns rank 0's result. ") +
      kSessionHelp;
  const std::vector<std::string> none;
  m.def("_train", &train, py::arg("recipe"), py::kw_only(), py::arg("overrides") = none,
        py::arg("_texts") = none, py::arg("distributed") = "", train_about.c_str());
  m.def(
      "_expect_options", [](const Options& keywords) { (void)to_session_options(keywords); },
      "Refuses keywords that are no options of a training.");
  m.def("_overridden", &overridden, py::arg("recipe"), py::arg("who"), py::arg("changes"),
        py::arg("texts"));
}

}  // namespace d5::python
