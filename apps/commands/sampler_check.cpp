// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/entry_checks.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/level2_training/data/container.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/validation/training_validation.hpp"

namespace d5::command {
namespace {

constexpr const char* kSamplerCheckExamples =
    R"(  d5 sampler check                              all
  d5 sampler check shuffle:batch_size=100:tail=drop
  d5 sampler check mine --load ./mine.so --dataset mnist:data=DIR

Checks that each sample is drawn as often as promised, and that draws repeat and resume. Measures the
time per batch and the classes' shares.)";

struct SamplerCheckOptions : app::EntryCheckOptions {
  std::string dataset = "mnist:subset=sample";
  std::int64_t epochs = 2;
};

std::vector<Measurement> check_sampler(const EntryChoice& choice,
                                       const SamplerCheckOptions& options,
                                       const std::shared_ptr<const Dataset>& data) {
  const SamplerEntry& entry = samplers().at(choice.name);
  Settings settings = choice.settings;
  entry.offer(settings, "seed", options.seed);
  auto results = test_sampler(entry, data, settings, options.epochs);
  CommandLine line("sampler check");
  line.word(to_words(choice)).option("--dataset", options.dataset);
  line.option("--epochs", options.epochs).option("--threads", threads());
  line.option("--seed", options.seed);
  for (auto& result : results) {
    result.subject = "sampler " + to_words(choice);
    result.command = line.text();
    result.conditions["data"] = identity(data->name());
    result.artefacts = data->artefacts();
  }
  return results;
}

int run_sampler_check(const SamplerCheckOptions& options) {
  app::apply(options);
  app::check_output(options);
  const EntryChoice choice = dataset_of_words(options.dataset);
  const DatasetPair data = open_dataset(choice.name, choice.settings, app::ctrl_c());
  auto results = app::check_entries(
      options, "sampler", samplers().names(),
      [&](const EntryChoice& sampler) { return check_sampler(sampler, options, data.train); });
  return app::publish(std::move(results), options);
}

}  // namespace

void register_sampler_check(app::Program& program) {
  auto options = std::make_shared<SamplerCheckOptions>();
  auto& command = program.add("sampler check", "validate a sampler", kSamplerCheckExamples,
                              [options] { return run_sampler_check(*options); });
  app::add_entry_check_options(command, *options, "samplers");
  command
      .add_option(
          "--dataset", options->dataset,
          "data set whose training part is drawn from ('d5 list datasets'), as NAME[:KEY=VALUE]...")
      ->option_text("NAME");
  command.add_option("--epochs", options->epochs, "passes over the data set")
      ->transform(app::whole_number(1))
      ->option_text("N");
}

}  // namespace d5::command
