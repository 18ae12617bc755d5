// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "apps/loadable_frameworks.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/core/device.hpp"
#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/core/metric.hpp"
#include "d5/evaluation/accuracy_measure.hpp"
#include "d5/evaluation/analysis.hpp"
#include "d5/evaluation/answer_step.hpp"
#include "d5/evaluation/predictor.hpp"
#include "d5/evaluation/scenario.hpp"
#include "d5/level0_ops/operator_matrix.hpp"
#include "d5/level1_network/executor_word.hpp"
#include "d5/level1_network/graph_executor.hpp"
#include "d5/level1_network/models.hpp"
#include "d5/level1_network/transform.hpp"
#include "d5/level2_training/batch_step.hpp"
#include "d5/level2_training/container.hpp"
#include "d5/level2_training/dataset.hpp"
#include "d5/level2_training/loss.hpp"
#include "d5/level2_training/optimizer.hpp"
#include "d5/level2_training/recipe.hpp"
#include "d5/level2_training/sample_step.hpp"
#include "d5/level2_training/sampler.hpp"
#include "d5/level2_training/schedule.hpp"
#include "d5/level2_training/step_modifier.hpp"
#include "d5/level2_training/training_metric.hpp"
#include "d5/level3_distributed/collective.hpp"
#include "d5/level3_distributed/distributed_optimizer.hpp"
#include "d5/level3_distributed/gradient_compressor.hpp"
#include "d5/level3_distributed/gradient_exchange.hpp"
#include "d5/level3_distributed/partition.hpp"
#include "d5/level3_distributed/pipeline_schedule.hpp"
#include "d5/level3_distributed/sample_cut.hpp"
#include "d5/level3_distributed/sparse_all_reduce.hpp"
#include "d5/level3_distributed/topology.hpp"
#include "d5/prediction/prediction_strategy.hpp"
#include "d5/prediction/simulated_network.hpp"
#include "d5/serving/agent_launcher.hpp"

namespace d5::command {
namespace {

constexpr const char* kListExamples =
    R"(  d5 list                         all kinds, with how many there are
  d5 list operators               of ONNX's cases how many pass in each framework, ∇ where it has
                                  the gradient; nothing is loaded for it
  d5 list operators Conv          with opsets, and the element types of forward and backward
  d5 list operators --framework all --format csv
                                  all of it, of every framework that can be loaded
  d5 list optimizers --format json
  d5 list optimizers adam         what it may be told, as in a recipe or in Python
  d5 list optimizers torch/adam
  d5 list schedules cosine        of a hyper-parameter, in a recipe's optimizer
  d5 list samplers --load ./mine.so             with those of a library of your own)";

struct ListOptions : app::OutputOptions {
  std::string kind, name;
  std::vector<std::string> frameworks, load;
};

/// One entry: what it is, and a row for each of its options.
struct Description {
  std::string summary;
  TextTable options;
};

struct Kind {
  std::string name;
  std::function<TextTable()> list;
  std::function<Description(const std::string&)> describe = {};  // empty: nothing has options
};

template <class Signature>
Description describe(const Entry<Signature>& entry) {
  Description result{entry.summary(), TextTable({"option", "type", "default", "range", "what"})};
  for (const auto& option : entry.options()) {
    result.options.add({option.name, option.type, option.initial, option.range, option.help});
  }
  return result;
}

template <class T>
TextTable summaries(const Registry<T>& registry) {
  TextTable table({"name", "summary"});
  for (const auto& [name, entry] : registry.entries()) table.add({name, entry.summary()});
  return table;
}

template <class T>
Kind kind_of(std::string name, Registry<T>& (*registry)()) {
  return {std::move(name), [registry] { return summaries(registry()); },
          [registry](const std::string& entry) { return describe(registry().at(entry)); }};
}

TextTable table_of(const std::vector<Framework*>& frameworks) {
  TextTable table({"framework", "version", "operators", "executors", "optimizers"});
  for (auto* one : frameworks) {
    table.add({one->name(), one->version(),
               fmt::format("{}", one->part<OperatorRegistry>().list().size()),
               fmt::format("{}", one->part<ExecutorRegistry>().names().size()),
               fmt::format("{}", one->part<NativeOptimizers>().names().size())});
  }
  return table;
}

TextTable frameworks_found() { return table_of(app::loadable_frameworks()); }

/// These alone are loaded. Throws: what loading one throws.
TextTable frameworks_named(const std::vector<std::string>& words) {
  if (std::ranges::count(words, "all") > 0) return frameworks_found();
  std::vector<Framework*> named;
  for (const auto& word : words) named.push_back(&framework(word));
  return table_of(named);
}

TextTable devices_found() {
  TextTable table({"device", "what"});
  for (const auto& info : devices()) {
    table.add({to_string(info.device), info.present ? info.description : "absent: " + info.reason});
  }
  return table;
}

TextTable recipes() {
  TextTable table({"name", "summary"});
  for (const auto& name : carried_recipes()) table.add({name, load_recipe(name).summary()});
  return table;
}

/// d5's own, and each framework's: "torch/adam".
template <class Native, class T>
TextTable with_native(const Registry<T>& registry) {
  TextTable table = summaries(registry);
  for (auto* one : app::loadable_frameworks()) {
    for (const auto& [name, entry] : one->part<Native>().entries()) {
      table.add({one->name() + "/" + name, entry.summary()});
    }
  }
  return table;
}

/// Those of frameworks have their names.
TextTable networks_simulated() {
  TextTable table = summaries(simulated_networks());
  for (auto* one : app::loadable_frameworks()) {
    for (const auto& [name, entry] : one->part<NativeNetworks>().entries()) {
      table.add({name, entry.summary()});
    }
  }
  return table;
}

/// What frameworks have beside d5's own, as `--framework` takes them: "torch:torch". ListOptions
/// follow behind colons.
TextTable executors() {
  TextTable table({"name", "summary"});
  for (auto* one : app::loadable_frameworks()) {
    for (const auto& [name, entry] : one->part<ExecutorRegistry>().entries()) {
      table.add({one->name() + ":" + name, entry.summary()});
    }
  }
  return table;
}

/// What can be listed, in the order of the levels.
std::vector<Kind> kinds() {
  return {{"devices", devices_found},
          {"frameworks", frameworks_found},
          kind_of("metrics", metrics),
          {"operators", [] { return operator_matrix(supported_operators({})); }},
          kind_of("networks", models),
          kind_of("transforms", transforms),
          {"executors", executors,
           [](const std::string& word) { return describe(find_executor(word)); }},
          kind_of("datasets", datasets),
          kind_of("steps", sample_steps),
          kind_of("containers", containers),
          kind_of("samplers", samplers),
          kind_of("batch-steps", batch_steps),
          {"optimizers", [] { return with_native<NativeOptimizers>(optimizers()); },
           [](const std::string& name) { return describe(find_optimizer(name)); }},
          kind_of("schedules", schedules),
          kind_of("modifiers", step_modifiers),
          kind_of("losses", losses),
          {"recipes", recipes},
          {"distributed-optimizers",
           [] { return with_native<NativeSchemes>(distributed_optimizers()); },
           [](const std::string& name) { return describe(find_scheme(name)); }},
          kind_of("sample-cuts", sample_cuts),
          {"simulated-networks", networks_simulated,
           [](const std::string& name) { return describe(find_simulated_network(name)); }},
          kind_of("prediction-strategies", prediction_strategies),
          kind_of("all-reduces", all_reduces),
          kind_of("broadcasts", broadcasts),
          kind_of("reduce-scatters", reduce_scatters),
          kind_of("all-gathers", all_gathers),
          kind_of("exchanges", gradient_exchanges),
          kind_of("compressors", gradient_compressors),
          kind_of("sparse-all-reduces", sparse_all_reduces),
          kind_of("topologies", topologies),
          kind_of("partitions", partitions),
          kind_of("pipeline-schedules", pipeline_schedules),
          kind_of("predictors", predictors),
          kind_of("answer-steps", answer_steps),
          kind_of("accuracies", accuracy_measures),
          kind_of("scenarios", scenarios),
          kind_of("analyses", analyses),
          kind_of("launchers", agent_launchers)};
}

TextTable overview() {
  TextTable table({"kind", "number", "for example"});
  for (const auto& kind : kinds()) {
    const TextTable entries = kind.list();
    table.add({kind.name, fmt::format("{}", entries.size()), entries.first_cells(4)});
  }
  return table;
}

void print_entry(const Kind& kind, const ListOptions& options) {
  if (!kind.describe) {
    throw ValueError(fmt::format("list: {} have no options to show; 'd5 list {}' lists them",
                                 kind.name, kind.name));
  }
  const auto [summary, table] = kind.describe(options.name);
  const bool for_people = options.format == Format::table;
  if (for_people) app::print_wrapped(fmt::format("{}: {}", printable(options.name), summary));
  if (table.size() == 0 && for_people) {
    fmt::print("It has no options.\n");
  } else {
    if (for_people) fmt::print("\n");
    app::print(table, options.format);
  }
}

/// People get a matrix; programs, and who asks for one operator, all that is known.
void print_operators(const ListOptions& options) {
  const auto rows = supported_operators(options.frameworks);
  if (std::ranges::count(options.frameworks, "all") > 0) app::say_what_cannot_be_loaded();
  const bool matrix = options.name.empty() && is_for_people(options.format);
  app::print(matrix ? operator_matrix(rows) : operator_rows(rows, options.name, options.format),
             options.format);
}

int run_list(const ListOptions& options) {
  app::load(options.load);
  if (options.kind == "operators") {
    print_operators(options);
    return app::kPassed;
  }
  if (options.kind == "frameworks" && options.name.empty() && !options.frameworks.empty()) {
    app::print(frameworks_named(options.frameworks), options.format);
    return app::kPassed;
  }
  if (!options.frameworks.empty()) {
    throw ValueError(
        "--framework is of 'd5 list operators|frameworks'; other lists hold what there is");
  }
  if (options.kind.empty()) {
    app::print(overview(), options.format);
    return app::kPassed;
  }
  std::vector<std::string> known;
  for (const auto& kind : kinds()) {
    known.push_back(kind.name);
    if (kind.name != options.kind) continue;
    if (options.name.empty()) {
      app::print(kind.list(), options.format);
    } else {
      print_entry(kind, options);
    }
    return app::kPassed;
  }
  throw_unknown_name("kind", options.kind, known);
}

}  // namespace

void register_list(app::Program& program) {
  auto options = std::make_shared<ListOptions>();
  auto& command = program.add("list", "operators, frameworks, networks ... and who supports what",
                              kListExamples, [options] { return run_list(*options); });
  command.add_option("KIND", options->kind, "what to list; all kinds if left out");
  command.add_option("NAME", options->name, "shows one entry: its options, their types, defaults");
  command
      .add_option("--framework", options->frameworks,
                  "of operators and frameworks: what these have, which are loaded for it; all: "
                  "every one that can be loaded")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B,...")
      ->group("Common options");
  app::add_load_option(command, options->load);
  app::add_format_options(command, *options);
}

}  // namespace d5::command
