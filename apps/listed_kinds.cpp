// SPDX-License-Identifier: Apache-2.0
#include "apps/listed_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/loadable_frameworks.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/files/carried_file.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/core/tensor/device.hpp"
#include "d5/level0_ops/bench/operator_matrix.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/data/batch_step.hpp"
#include "d5/level2_training/data/container.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "d5/level2_training/data/sample_step.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/data/tokenizer.hpp"
#include "d5/level2_training/losses/loss.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/optimization/schedule.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level2_training/training/recipe.hpp"
#include "d5/level2_training/training/training_metric.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/compressors/gradient_compressor.hpp"
#include "d5/level3_distributed/exchange/gradient_exchange.hpp"
#include "d5/level3_distributed/graph/partition.hpp"
#include "d5/level3_distributed/graph/pipeline_schedule.hpp"
#include "d5/level3_distributed/samples/sample_cut.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "d5/level3_distributed/schemes/topology.hpp"
#include "d5/level3_distributed/sparse/sparse_all_reduce.hpp"

namespace d5::app {
namespace {

TextTable frameworks_found() { return table_of(loadable_frameworks()); }

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

/// The recipe as written, to copy and change.
std::string recipe_file(const std::string& name) {
  const auto known = carried_recipes();
  if (std::ranges::find(known, name) == known.end()) throw_unknown_name("recipe", name, known);
  return read_file(file_or_carried("recipe", "recipes", name), std::size_t{1} << 20);
}

/// Lists d5's own, and each framework's: "torch/adam".
template <class Native, class T>
TextTable with_native(const Registry<T>& registry) {
  TextTable table = summaries(registry);
  for (auto* one : loadable_frameworks()) {
    for (const auto& [name, entry] : one->part<Native>().entries()) {
      table.add({one->name() + "/" + name, entry.summary()});
    }
  }
  return table;
}

/// Lists the frameworks' executors besides d5's own, as `--framework` takes them: "torch:torch".
/// Their options follow after colons.
TextTable executors() {
  TextTable table({"name", "summary"});
  for (auto* one : loadable_frameworks()) {
    for (const auto& [name, entry] : one->part<ExecutorRegistry>().entries()) {
      table.add({one->name() + ":" + name, entry.summary()});
    }
  }
  return table;
}

std::vector<ListedKind> kinds_of_levels() {
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
          kind_of("tokenizers", tokenizers),
          kind_of("batch-steps", batch_steps),
          {"optimizers", [] { return with_native<NativeOptimizers>(optimizers()); },
           [](const std::string& name) { return describe(find_optimizer(name)); }},
          kind_of("schedules", schedules),
          kind_of("modifiers", step_modifiers),
          kind_of("losses", losses),
          {"recipes", recipes, {}, recipe_file},
          {"distributed-optimizers",
           [] { return with_native<NativeSchemes>(distributed_optimizers()); },
           [](const std::string& name) { return describe(find_scheme(name)); }},
          kind_of("sample-cuts", sample_cuts),
          kind_of("all-reduces", all_reduces),
          kind_of("broadcasts", broadcasts),
          kind_of("reduce-scatters", reduce_scatters),
          kind_of("all-gathers", all_gathers),
          kind_of("exchanges", gradient_exchanges),
          kind_of("compressors", gradient_compressors),
          kind_of("sparse-all-reduces", sparse_all_reduces),
          kind_of("topologies", topologies),
          kind_of("partitions", partitions),
          kind_of("pipeline-schedules", pipeline_schedules)};
}

}  // namespace

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

std::vector<ListedKind> listed_kinds() {
  std::vector<ListedKind> kinds = kinds_of_levels();
  list_prediction(kinds);
  list_evaluation(kinds);
  list_serving(kinds);
  return kinds;
}

}  // namespace d5::app
