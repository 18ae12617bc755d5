// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/validation/training_validation.hpp"

#include <fmt/format.h>
#include <pybind11/typing.h>

#include <algorithm>

#include "answered.hpp"
#include "bindings.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/validation/optimizer_validation.hpp"
#include "declared_keywords.hpp"
#include "level2_training/optimization/optimizer_classes.hpp"
#include "long_call.hpp"
#include "use.hpp"

namespace d5::python {
namespace {

using Make = py::typing::Callable<std::shared_ptr<Optimizer>()>;

/// `who` begins messages: "d5.test_optimizer: subject". Throws: ValueError for the same object
/// again.
MakeOptimizer maker(const Make& make, const std::string& who) {
  const auto function = std::make_shared<PythonReference>(make);
  const auto made = std::make_shared<std::vector<std::shared_ptr<Optimizer>>>();
  return [function, made, who] {
    return call_python([&] {
      auto one = answered<std::shared_ptr<Optimizer>>(
          function->object(), who + "()", "an optimizer, such as d5.optimizer(name, executor)");
      if (!one || std::ranges::find(*made, one) != made->end()) {
        throw ValueError(fmt::format(
            "{}() gave {}, expected an optimizer and an executor of its own for each call", who,
            one ? "the same optimizer again" : "None"));
      }
      made->push_back(one);
      return one;
    });
  };
}

/// "adam:learning_rate=0.1", and further settings from keywords.
EntryChoice choice_of(const std::string& words, const Options& options) {
  EntryChoice choice = entry_of_words("optimizer", words);
  const Settings own =
      entry_settings(options, "d5.check_optimizer", find_optimizer(choice.name).options());
  for (const auto& [name, value] : own.values()) choice.settings.set(name, value);
  return choice;
}

std::pair<Measurements, Plot> check(const std::string& optimizer, const std::string& against,
                                    const std::string& framework, std::int64_t steps,
                                    std::uint64_t seed, bool each_parameter,
                                    const Options& options) {
  const EntryChoice choice = choice_of(optimizer, options);
  Plot plot;
  OptimizerCheck how{.framework = framework, .steps = steps, .seed = seed, .drawn = &plot};
  if (!against.empty()) how.against = entry_of_words("optimizer", against);
  if (each_parameter) how.parameters = OptimizerCheck::Parameters::each;
  std::vector<Measurement> records;
  long_call([&](const Interrupt&) { records = check_optimizer(choice, how); });
  return {Measurements(records), plot};
}

std::pair<Measurements, Plot> test_against(const Make& subject, const Make& reference,
                                           Sampler& data, std::int64_t steps,
                                           double epsilons_a_step) {
  const auto ours = maker(subject, "d5.test_optimizer: subject"),
             theirs = maker(reference, "d5.test_optimizer: reference");
  const Use use(&data, "the sampler", FromHooks::refused);
  OptimizerJudgement judgement;
  long_call([&](const Interrupt&) {
    judgement = test_optimizer(ours, theirs, data, steps, {.epsilons_a_step = epsilons_a_step});
  });
  return {Measurements(judgement.records),
          divergence_plot("difference of two optimizers", judgement.closed, judgement.open)};
}

}  // namespace

void bind_training_validation(py::module_& m) {
  m.def("check_optimizer", &check, py::arg("optimizer"), py::kw_only(), py::arg("against") = "",
        py::arg("framework") = "reference", py::arg("steps") = 12, py::arg("seed") = 0,
        py::arg("each_parameter") = false,
        "Validates an optimizer: `d5 optimizer check`. Trains LeNet for some steps with the "
        "optimizer of that name, which may be one in Python (d5.register); further keywords are "
        "its options. Records: `trajectory_difference` and `rule_difference` from its judge "
        "`against` (\"sgd:learning_rate=0.1\"), with gradients of its own and with the judge's; "
        "`optimizer_repeatability`, parameter elements that differ when it is trained again and "
        "when a fresh one goes on from its state; `loss_ratio`. Also returns the plot of the "
        "differences.");
  m.def("test_optimizer", &test_against, py::arg("subject"), py::arg("reference"), py::arg("data"),
        py::arg("steps"), py::kw_only(), py::arg("epsilons_a_step") = 8.0,
        "Compares two optimizers, each made by a function for each of the two loops, on the same "
        "batches of the sampler `data`, starting from the reference's parameters. Records are "
        "those of check_optimizer, and `parameter_difference_l2` and `_largest` of each parameter; "
        "also returns their plot. `epsilons_a_step`: the tolerance, in units of the element type's "
        "epsilon and of the parameter's largest value.");
  m.def(
      "test_sampler",
      [](const std::string& name, const std::shared_ptr<Dataset>& data, std::int64_t epochs,
         const Options& options) {
        const Settings settings = entry_settings(options, "d5.test_sampler", samplers(), name);
        const SamplerEntry& entry = samplers().at(name);
        std::vector<Measurement> records;
        long_call([&](const Interrupt&) { records = test_sampler(entry, data, settings, epochs); });
        return Measurements(records);
      },
      py::arg("name"), py::arg("dataset").none(false), py::kw_only(), py::arg("epochs") = 2,
      "Validates a sampler: `d5 sampler check`. Records: `sampler_coverage`, draws that are too "
      "many or missing by the sampler's law; `sampler_repeatability`; `dataset_latency`; "
      "`dataset_bias`. Further keywords are the sampler's options.");
  m.def("samplers", [] { return samplers().names(); });
}

}  // namespace d5::python
