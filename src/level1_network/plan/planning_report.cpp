// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/plan/planning_report.hpp"

#include <fmt/format.h>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/results/environment.hpp"
#include "d5/core/results/results.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "level1_network/plan/memory/memory_plan.hpp"

namespace d5 {
namespace {

std::vector<MemoryBlock> blocks_on(const PlannedMemory& memory, Device device) {
  std::vector<MemoryBlock> blocks;
  for (const auto& block : memory.blocks) {
    if (block.device == device) blocks.push_back({block.bytes, block.begin, block.end});
  }
  return blocks;
}

std::vector<std::string> row_of(const std::string& model, const OpenSizes& sizes, const char* mode,
                                const PlanningReport& report) {
  std::vector<std::string> row{model, fmt::format("{}", sizes.batch), mode,
                               fmt::format("{}", report.blocks), fmt::format("{}", report.bound)};
  for (const auto& placement : report.placements) {
    row.push_back(fmt::format("{}", placement.bytes));
  }
  const auto& planned = report.placements.back();
  const double ratio = report.bound == 0 ? 1 : double(planned.bytes) / double(report.bound);
  row.push_back(fmt::format("{:.3f}", ratio));
  row.push_back(with_prefix(planned.seconds, "s"));
  return row;
}

}  // namespace

PlanningReport planning_report(const PlannedMemory& memory, Device device) {
  std::vector<MemoryBlock> blocks = blocks_on(memory, device);
  PlanningReport report{.blocks = blocks.size(), .bound = memory_bound(blocks).bytes};
  const auto time = [&](std::string_view method, const auto& place) {
    const double begin = now_seconds();
    const std::size_t bytes = place();
    report.placements.push_back({std::string(method), bytes, now_seconds() - begin});
  };
  for (const PlanningMethod& method : planning_methods()) {
    time(method.name, [&] { return place_in_order(blocks, method.order(blocks)); });
  }
  time("planned", [&] { return assign_offsets(blocks); });
  return report;
}

TextTable planning_table(const std::string& model, const std::string& word, const OpenSizes& sizes,
                         const ExecutorOptions& execution, const TransformChain& transforms,
                         const GivenInputs& inputs) {
  using enum TextTable::Align;
  std::vector<TextTable::Column> columns{
      {"network"}, {"batch", right}, {"mode"}, {"blocks", right}, {"bound", right}};
  for (const PlanningMethod& method : planning_methods()) {
    columns.emplace_back(std::string(method.name), right);
  }
  columns.emplace_back("planned", right);
  columns.emplace_back("ratio", right);
  columns.emplace_back("placing", right);
  TextTable table(std::move(columns));
  const auto add = [&](const char* mode, const Settings& wishes) {
    const auto executor = open_executor(word, open_model(model, wishes, transforms), execution);
    const Network& network = executor->network();
    const std::string loss = loss_of(network);
    if (loss.empty() && wishes.has("with_loss")) return;
    const auto fed = network_inputs(model, network, sizes, inputs, execution.seed);
    const auto memory = plan_memory(*executor, fed.values, wishes.has("with_loss") ? loss : "");
    table.add(row_of(model_name(model), sizes, mode, planning_report(memory, execution.device)));
  };
  add("inference", {{"seed", execution.seed}});
  add("training", {{"seed", execution.seed}, {"with_loss", true}, {"training", true}});
  return table;
}

}  // namespace d5
