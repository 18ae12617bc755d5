// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/entry_checks.hpp"
#include "apps/loadable_frameworks.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/validation/optimizer_validation.hpp"

namespace d5::command {
namespace {

constexpr const char* kOptimizerCheckExamples =
    R"(  d5 optimizer check                            all: d5's own, and each framework's
  d5 optimizer check torch/adam:learning_rate=0.01
                                                compare with d5's adam, with the same settings
  d5 optimizer check adam --against torch/adam  compare with another optimizer
  d5 optimizer check my-adam --load ./mine.so --against adam --steps 200 --picture apart.svg

Trains LeNet on digits. Compares the parameters with those of the other optimizer: on its own gradients
(trajectory_difference), and on the other's (rule_difference, where only rounding may differ). Also
checks that the optimizer is repeatable and resumable, and that the loss falls.)";

struct OptimizerCheckOptions : app::EntryCheckOptions {
  std::string against, picture;
  bool each_parameter = false;
  OptimizerCheck how;
};

std::vector<std::string> all_names() {
  std::vector<std::string> names = optimizers().names();
  for (auto* framework : app::loadable_frameworks()) {
    for (const auto& name : framework->part<NativeOptimizers>().names()) {
      names.push_back(framework->name() + "/" + name);
    }
  }
  return names;
}

int run_optimizer_check(const OptimizerCheckOptions& options) {
  app::apply(options);
  app::check_output(options);
  (void)app::ctrl_c();
  if (!options.picture.empty()) {
    if (options.entries.size() != 1 || options.frameworks.size() != 1) {
      throw ValueError(
          "optimizer check: --picture shows one optimizer in one framework; name them");
    }
    check_writable(options.picture);
  }
  Plot plot;
  OptimizerCheck how = options.how;
  how.seed = options.seed;
  if (!options.picture.empty()) how.drawn = &plot;
  if (options.each_parameter) how.parameters = OptimizerCheck::Parameters::each;
  if (!options.against.empty()) {
    how.against = entry_of_words("optimizer", options.against);
    (void)find_optimizer(how.against.name);
  }
  const auto check = [&](const EntryChoice& choice) {
    std::vector<Measurement> results;
    for (const auto& framework : options.frameworks) {
      how.framework = framework;
      for (auto& result : check_optimizer(choice, how)) results.push_back(std::move(result));
    }
    return results;
  };
  const auto known = options.entries.empty() ? all_names() : std::vector<std::string>();
  auto results = app::check_entries(options, "optimizer", known, check);
  if (!plot.marks.empty()) write_file(options.picture, to_svg(plot));
  return app::publish(std::move(results), options);
}

}  // namespace

void register_optimizer_check(app::Program& program) {
  auto options = std::make_shared<OptimizerCheckOptions>();
  auto& command =
      program.add("optimizer check", "validate an optimizer against another",
                  kOptimizerCheckExamples, [options] { return run_optimizer_check(*options); });
  app::add_entry_check_options(command, *options, "optimizers");
  command
      .add_option("--against", options->against,
                  "optimizer that should do the same, as NAME[:KEY=VALUE]...; for a framework's, "
                  "by default d5's own of that name")
      ->option_text("NAME");
  command
      .add_option("--picture", options->picture,
                  "picture of the distance between the parameters over the steps")
      ->option_text("FILE.svg");
  command.add_flag("--each-parameter", options->each_parameter,
                   "print records of every parameter, too");
  command.add_option("--steps", options->how.steps, "number of training steps")
      ->transform(app::whole_number(2))
      ->option_text("N");
  command
      .add_option("--framework", options->frameworks,
                  "frameworks whose operators compute the gradients")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B,...")
      ->group("Common options");
}

}  // namespace d5::command
