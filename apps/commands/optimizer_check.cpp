// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/entry_checks.hpp"
#include "apps/loadable_frameworks.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/entry_words.hpp"
#include "d5/level2_training/optimizer.hpp"
#include "d5/level2_training/optimizer_validation.hpp"

namespace d5::command {
namespace {

constexpr const char* kExamples =
    R"(  d5 optimizer check                            all: d5's own, and each framework's
  d5 optimizer check torch/adam:learning_rate=0.01
                                                against d5's adam with the same settings
  d5 optimizer check adam --against torch/adam  against another
  d5 optimizer check my-adam --load ./mine.so --against adam

On LeNet and digits: does it go where its judge goes, is it repeatable and resumable, does the loss
fall.)";

struct Options : app::EntryCheckOptions {
  std::string against;
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

int run(const Options& options) {
  app::apply(options);
  app::check_output(options);
  (void)app::ctrl_c();
  OptimizerCheck how = options.how;
  how.seed = options.seed;
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
  return app::publish(app::check_entries(options, "optimizer", known, check), options);
}

}  // namespace

void register_optimizer_check(app::Program& program) {
  auto options = std::make_shared<Options>();
  auto& command = program.add("optimizer check", "is an optimizer right", kExamples,
                              [options] { return run(*options); });
  app::add_entry_check_options(command, *options, "optimizers");
  command
      .add_option("--against", options->against,
                  "an optimizer that should do the same, as NAME[:KEY=VALUE]...; else d5's own of "
                  "that name for a framework's")
      ->option_text("NAME");
  command.add_option("--steps", options->how.steps, "steps of training")
      ->transform(app::whole_number(2))
      ->option_text("N");
  command.add_option("--framework", options->frameworks, "whose operators compute the gradients")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B,...")
      ->group("Common options");
}

}  // namespace d5::command
