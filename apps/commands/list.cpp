// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <functional>
#include <limits>
#include <map>
#include <memory>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/text_table.hpp"
#include "d5/core/device.hpp"
#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/core/metric.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/level1_network/graph_executor.hpp"
#include "d5/level1_network/models.hpp"
#include "d5/level2_training/dataset.hpp"
#include "d5/level2_training/optimizer.hpp"
#include "d5/level2_training/recipe.hpp"
#include "d5/level2_training/sampler.hpp"
#include "d5/level2_training/training_metric.hpp"
#include "d5/level3_distributed/collective.hpp"
#include "d5/level3_distributed/distributed_optimizer.hpp"

namespace d5::command {
namespace {

constexpr const char* kExamples =
    R"(  d5 list                         all kinds, with how many there are
  d5 list operators               operators and the opsets that each framework knows
  d5 list optimizers --format json)";

struct Options : app::OutputOptions {
  std::string kind;
};

using Lister = std::function<app::TextTable()>;

template <class Registry>
app::TextTable summaries(const Registry& registry) {
  app::TextTable table({"name", "summary"});
  for (const auto& [name, entry] : registry.entries()) table.add({name, entry.summary});
  return table;
}

/// Every framework that can be loaded; what cannot is reported on stderr.
std::vector<Framework*> loadable_frameworks() {
  std::vector<Framework*> result;
  for (const auto& info : frameworks()) {
    try {
      result.push_back(&framework(info.name));
    } catch (const Error& error) {
      fmt::print(stderr, "d5: note: {}\n", error.what());
    }
  }
  return result;
}

std::string opsets(const OperatorRegistry::Entry& entry) {
  if (entry.until == std::numeric_limits<int>::max()) return fmt::format("{}+", entry.since);
  return entry.since == entry.until ? fmt::format("{}", entry.since)
                                    : fmt::format("{}-{}", entry.since, entry.until);
}

app::TextTable operators() {
  const auto all = loadable_frameworks();
  std::map<std::string, std::vector<std::string>> rows;
  for (std::size_t f = 0; f < all.size(); ++f) {
    for (const auto& entry : all[f]->part<OperatorRegistry>().list()) {
      auto& row = rows[entry.domain.empty() ? entry.name : entry.domain + "." + entry.name];
      row.resize(all.size());
      row[f] += (row[f].empty() ? "" : " ") + opsets(entry);
    }
  }
  std::vector<std::string> columns{"operator"};
  for (const auto* one : all) columns.push_back(one->name());
  app::TextTable table(columns);
  for (auto& [name, row] : rows) {
    row.insert(row.begin(), name);
    table.add(row);
  }
  return table;
}

app::TextTable frameworks_found() {
  app::TextTable table({"framework", "version", "operators", "executors", "optimizers"});
  for (auto* one : loadable_frameworks()) {
    table.add({one->name(), one->version(),
               fmt::format("{}", one->part<OperatorRegistry>().list().size()),
               fmt::format("{}", one->part<ExecutorRegistry>().names().size()),
               fmt::format("{}", one->part<NativeOptimizers>().names().size())});
  }
  return table;
}

app::TextTable devices_found() {
  app::TextTable table({"device", "what"});
  for (const auto& info : devices()) {
    table.add({to_string(info.device), info.present ? info.description : "absent: " + info.reason});
  }
  return table;
}

app::TextTable recipes() {
  app::TextTable table({"name", "summary"});
  for (const auto& name : carried_recipes()) table.add({name, load_recipe(name).summary()});
  return table;
}

/// What can be listed, in the order of the levels.
std::vector<std::pair<std::string, Lister>> kinds() {
  return {{"devices", devices_found},
          {"frameworks", frameworks_found},
          {"metrics", [] { return summaries(metrics()); }},
          {"operators", operators},
          {"networks", [] { return summaries(models()); }},
          {"datasets", [] { return summaries(datasets()); }},
          {"samplers", [] { return summaries(samplers()); }},
          {"optimizers", [] { return summaries(optimizers()); }},
          {"training-metrics", [] { return summaries(training_metrics()); }},
          {"recipes", recipes},
          {"distributed-optimizers", [] { return summaries(distributed_optimizers()); }},
          {"all-reduces", [] { return summaries(all_reduces()); }}};
}

app::TextTable overview() {
  app::TextTable table({"kind", "number", "for example"});
  for (const auto& [kind, list] : kinds()) {
    const app::TextTable entries = list();
    table.add({kind, fmt::format("{}", entries.size()), entries.first_cells(4)});
  }
  return table;
}

int run(const Options& options) {
  std::vector<std::string> known;
  for (const auto& [kind, list] : kinds()) {
    known.push_back(kind);
    if (kind != options.kind) continue;
    fmt::print("{}", list().to_text(options.format));
    return app::kPassed;
  }
  if (!options.kind.empty()) throw_unknown_name("kind", options.kind, known);
  fmt::print("{}", overview().to_text(options.format));
  return app::kPassed;
}

}  // namespace

void register_list(app::Program& program) {
  auto options = std::make_shared<Options>();
  auto& command = program.add("list", "operators, frameworks, networks ... and who supports what",
                              kExamples, [options] { return run(*options); });
  command.add_option("KIND", options->kind, "what to list; all kinds if left out");
  app::add_output_options(command, *options);
}

}  // namespace d5::command
