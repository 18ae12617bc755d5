// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/training_repetition.hpp"

#include <fmt/format.h>
#include <pybind11/typing.h>

#include <optional>
#include <type_traits>

#include "answered.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level2_training/training/convergence_reference.hpp"
#include "d5/level2_training/validation/training_comparison.hpp"
#include "d5/level2_training/validation/training_validation.hpp"
#include "d5/level2_training/validation/variant_training.hpp"
#include "level2_training/training/session_options.hpp"
#include "level3_distributed/job.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

/// Takes the keywords of a repetition out of the others.
RepetitionOptions take_repetition(py::kwargs& keywords, std::int64_t runs) {
  RepetitionOptions how{.runs = runs};
  const auto take = [&](const char* name, auto& value) {
    using T = std::decay_t<decltype(value)>;
    if (!keywords.contains(name)) return;
    const py::object given = keywords.attr("pop")(name);
    try {
      value = given.template cast<T>();
    } catch (const py::cast_error&) {
      const char* expected = std::is_integral_v<T>         ? "an integer of 0 or more"
                             : std::is_floating_point_v<T> ? "float"
                                                           : "str";
      throw TypeError(fmt::format("{} is {}, expected {}", name, shown(given), expected));
    }
  };
  take("runs", how.runs);
  take("fewest", how.fewest);
  take("most", how.most);
  take("half_width", how.half_width);
  take("seed", how.seed);
  take("metric", how.metric);
  if (how.runs < 0) throw ValueError(fmt::format("runs is {}, expected 0 or more", how.runs));
  if (keywords.contains("say")) how.say = to_say(keywords.attr("pop")("say"));
  return how;
}

constexpr const char* kRepetitionHelp = R"(
Keywords of the repetition: runs (0: `fewest`, 5, and more until the 95% interval of the mean is within
`half_width`, 0.05, of it, `most`, 30, of them); metric: metric of that mean (by default time_to_accuracy,
test_accuracy or epoch_time); say: called with a line per run. Ctrl-C ends it within the current
run.)";

Measurements repeat(const RecipeOrFile& recipe, const Options& keywords) {
  expect_one_rank("repeat_training");
  py::kwargs own(keywords.attr("copy")());
  Recipe whole = to_recipe(recipe);
  const bool has_seed = own.contains("seed");
  RepetitionOptions how = take_repetition(own, 0);
  if (has_seed) whole = with_seed(whole, how.seed);
  const SessionOptions session = to_session_options(Options(own));
  std::vector<Measurement> joined;
  orderly_call([&](const Interrupt& interrupt) {
    how.interrupt = interrupt;
    joined = repeat_training(whole, how, session);
    judge_convergence(joined, whole);
  });
  return Measurements(joined);
}

using Train = py::typing::Callable<std::vector<Measurement>(std::uint64_t)>;

using RunsByName = py::typing::Dict<py::str, RepeatedRuns>;

RunsByName repeat_all(const py::typing::Dict<py::str, Train>& trainings, const Options& keywords) {
  py::kwargs own(keywords.attr("copy")());
  RepetitionOptions how = take_repetition(own, 0);
  if (!own.empty()) {
    throw_unknown_keyword("option of a repetition", own,
                          {"runs", "fewest", "most", "half_width", "seed", "metric", "say"});
  }
  std::vector<RepeatedTraining> all;
  for (const auto& [name, train] : trainings) {
    const auto function =
        std::make_shared<PythonReference>(py::reinterpret_borrow<py::object>(train));
    const auto word =
        answered<std::string>(name, "d5.repeat_trainings: a name in trainings", "a text");
    if (!PyCallable_Check(train.ptr())) {
      throw TypeError(fmt::format(
          "d5.repeat_trainings: the training '{}' is {}, expected a function of the seed",
          printable(word), shown(train)));
    }
    all.push_back({.name = word, .train = [function, word](std::uint64_t seed) {
                     return call_python([&] {
                       return answered<std::vector<Measurement>>(
                           function->object(seed), fmt::format("the training '{}'", word),
                           "its rows, such as d5.train(recipe)[0]");
                     });
                   }});
  }
  std::vector<RepeatedRuns> runs;
  long_call([&](const Interrupt& interrupt) {
    how.interrupt = interrupt;
    runs = repeat_trainings(all, how);
  });
  RunsByName by_name;
  for (std::size_t i = 0; i < all.size(); ++i) by_name[py::cast(all[i].name)] = runs[i];
  return by_name;
}

Measurements test_recipe(const RecipeOrFile& subject, const std::optional<RecipeOrFile>& base,
                         const Options& keywords) {
  expect_one_rank("test_training");
  py::kwargs own(keywords.attr("copy")());
  RepetitionOptions how = take_repetition(own, 5);
  const SessionOptions session = to_session_options(Options(own));
  const Recipe one = to_recipe(subject);
  std::vector<Measurement> records;
  orderly_call([&](const Interrupt& interrupt) {
    how.interrupt = interrupt;
    records =
        base ? test_training(one, to_recipe(*base), how, session) : test_training(one, session);
  });
  return Measurements(records);
}

TrainedVariants train_all(const RecipeOrFile& recipe, const std::string& assignment,
                          std::int64_t trials, const std::optional<Path>& out, bool resume,
                          const Options& keywords) {
  expect_one_rank("train_variants");
  if (trials < 0) throw ValueError(fmt::format("trials is {}, expected 0 or more", trials));
  if (assignment.empty() && trials == 0) {
    throw ValueError(
        "d5.train_variants: neither vary nor trials is given; d5.repeat_training trains one "
        "recipe");
  }
  if (resume && !out) {
    throw ValueError("d5.train_variants: resume is given without out, the results file to resume");
  }
  py::kwargs own(keywords.attr("copy")());
  const Recipe whole = to_recipe(recipe);
  VariantTrainingOptions how{.repetition = take_repetition(own, 0),
                             .out = out ? out->string() : "",
                             .resume = resume,
                             .compare = !assignment.empty()};
  if (how.repetition.seed == 0) how.repetition.seed = whole.training().seed;
  for (const auto& [key, value] : own) {
    if (key.cast<std::string>() == "events") continue;  // another object each time
    how.how += py::str("{}={} ").format(key, value).cast<std::string>();
  }
  const SessionOptions session = to_session_options(Options(own));
  std::vector<TrainingVariant> variants{{.recipe = whole}};
  if (!assignment.empty()) variants = vary(whole, assignment);
  if (trials > 0) variants = variants_of_trials(whole, trials);
  TrainedVariants done;
  orderly_call([&](const Interrupt& interrupt) {
    how.repetition.interrupt = interrupt;
    const auto train = [&](const TrainingVariant& variant) {
      return TrainingSession(variant.recipe, session, interrupt).run(interrupt);
    };
    done = train_variants(in_each(variants, {ExecutorWord(session.frameworks).text()}), train, how);
  });
  return done;
}

std::vector<ComparedTraining> compared(const RunsByName& runs) {
  std::vector<ComparedTraining> all;
  for (const auto& [name, of_it] : runs) {
    all.push_back({name.cast<std::string>(), of_it.cast<RepeatedRuns>()});
  }
  return all;
}

}  // namespace

void bind_training_repetition(py::module_& m) {
  py::class_<RepeatedRuns>(m, "RepeatedRuns", "Results of the runs of one training.")
      .def(py::init(
               [](std::vector<std::uint64_t> seeds, std::vector<std::vector<Measurement>> records) {
                 return RepeatedRuns{std::move(seeds), std::move(records)};
               }),
           py::arg("seeds"), py::arg("records"),
           "Joins runs that were made elsewhere: a seed per run, and its list of records.")
      .def_readonly("seeds", &RepeatedRuns::seeds, "Seed of each run, in order.")
      .def_property_readonly(
          "records",
          [](const RepeatedRuns& runs) {
            std::vector<Measurements> all;
            for (const auto& records : runs.records) all.emplace_back(records);
            return all;
          },
          "A list of records per run.")
      .def_readonly("interrupted", &RepeatedRuns::interrupted,
                    "Whether Ctrl-C ended the repetition before all runs.")
      .def(
          "joined", [](const RepeatedRuns& runs) { return Measurements(join_runs(runs)); },
          "Distributions over the runs: a record per metric, a sample per run, in order. Failed "
          "runs make it mistrusted (one of three or more) or failed.")
      .def("__repr__", [](const RepeatedRuns& runs) {
        return fmt::format("<d5.RepeatedRuns: {} runs>", runs.records.size());
      });

  static const std::string repeat_about =
      std::string(
          "Trains a recipe with several seeds: a record per metric, a sample per run, compared "
          "with the recipe's reference if it has one. Source: MLPerf Training (Mattson et al., "
          "2020).") +
      kRepetitionHelp + "\n" + kSessionHelp;
  m.def("repeat_training", &repeat, py::arg("recipe"), repeat_about.c_str());
  static const std::string all_about =
      std::string(
          "Repeats trainings, interleaved: all with the first seed, then all with the second. Each "
          "is a function of the seed that returns the records of a run. Ends early if one has "
          "failed twice. The first seed is `seed`.") +
      kRepetitionHelp;
  m.def("repeat_trainings", &repeat_all, py::arg("trainings"), all_about.c_str());
  py::class_<TrainedVariants>(m, "TrainedVariants",
                              "Results of several trainings, each with several seeds.")
      .def_property_readonly(
          "records", [](const TrainedVariants& done) { return Measurements(done.records); },
          "A record per metric of each, with comparisons with the first.")
      .def_property_readonly(
          "runs",
          [](const TrainedVariants& done) {
            RunsByName by_name;
            for (const auto& [name, runs] : done.trainings) {
              by_name[py::cast(name)] = runs;
            }
            return by_name;
          },
          "A d5.RepeatedRuns by the name of each training.")
      .def("__str__", [](const TrainedVariants& done) { return to_table(done.records); });
  static const std::string variants_about =
      std::string(
          "Trains a recipe with each of several values (vary=\"optimizer.name=adam,lamb\", "
          "compared with the first), or at `trials` points of its search ranges, with several "
          "seeds, interleaved: `d5 train --vary`. With `out`, a results file, each run is stored "
          "when it is done, and with resume=True stored runs are not repeated (a checkpoint to "
          "start from is for `d5.train`).") +
      kRepetitionHelp + "\n" + kSessionHelp;
  m.def("train_variants", &train_all, py::arg("recipe"), py::kw_only(), py::arg("vary") = "",
        py::arg("trials") = 0, py::arg("out") = py::none(), py::arg("resume") = false,
        variants_about.c_str());
  static const std::string test_about =
      std::string(
          "Runs a recipe twice: its records, and `reproducibility`, the number of parameter "
          "elements that differ in any bit. With `base`, another recipe, also trains both with "
          "several seeds, interleaved, and compares them.") +
      kRepetitionHelp + "\n" + kSessionHelp;
  m.def("test_training", &test_recipe, py::arg("recipe"), py::arg("base") = py::none(),
        test_about.c_str());
  m.def(
      "compare_trainings",
      [](const RepeatedRuns& subject, const RepeatedRuns& base, const std::string& name,
         const std::string& base_name) {
        return Measurements(compare_trainings({name, subject}, {base_name, base}));
      },
      py::arg("subject"), py::arg("base"), py::arg("name") = "subject",
      py::arg("base_name") = "base",
      "Compares the subject with the base, run by run with the same seeds: ratios with the "
      "condition \"verdict\" (\"higher\", \"lower\", \"undecided\" by a paired t-test at 5%), and "
      "\"trade_off\".");
  m.def(
      "judge_convergence",
      [](std::vector<Measurement> joined, const Recipe& recipe) {
        judge_convergence(joined, recipe);
        return Measurements(joined);
      },
      py::arg("joined"), py::arg("recipe"),
      "Compares the records of repeated runs with the recipe's reference (Welch's test, one-sided, "
      "5%).");
  m.def(
      "accuracy_plot", [](const RunsByName& runs) { return accuracy_plot(compared(runs)); },
      py::arg("runs"), "Plot of test accuracy over epochs: a line per run, a colour per training.");
  m.def(
      "loss_plot", [](const RunsByName& runs) { return loss_plot(compared(runs)); },
      py::arg("runs"),
      "Plot of training loss over the seconds of steps, and of waiting for data if dataset_latency "
      "was measured.");
}

}  // namespace d5::python
