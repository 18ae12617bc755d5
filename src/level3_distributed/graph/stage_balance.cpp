// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/graph/stage_balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <memory>
#include <sstream>

#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/picture/network_summary.hpp"
#include "d5/level1_network/profile/network_profile.hpp"
#include "d5/level1_network/source/model_source.hpp"

namespace d5::detail {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Seconds of each node of `summary`, forward and backward.
std::vector<double> measured_seconds(const Network& network, const NetworkSummary& summary,
                                     const OpenSizes& sizes, const std::string& loss) {
  const auto executor = make_executor(network.copy());
  executor->set_mode(NetworkMode::training);
  const ValueMap inputs = random_inputs(network, sizes);
  const auto outputs = network.output_names();
  const bool goes_back = std::ranges::find(outputs, loss) != outputs.end();
  const Subject subject{.run =
                            [&] {
                              (void)(goes_back ? executor->inference_and_backprop(inputs, loss)
                                               : executor->inference(inputs));
                            },
                        .events = {&executor->events()}};
  const auto profile = std::make_shared<NetworkProfile>();
  (void)measure({subject}, {MetricChoice([&] { return profile; })},
                {.samples = 15, .warmup = 2, .most_seconds = 5});
  std::map<std::string, double> by_node;
  for (const auto& step : profile->steps()) {
    if (!step.seconds.empty()) by_node[step.node] += median(step.seconds);
  }
  std::vector<double> seconds;
  for (const auto& node : summary.nodes) seconds.push_back(by_node[node.name]);
  return seconds;
}

std::vector<std::size_t> starts_in(const std::string& text, int stages) {
  std::vector<std::size_t> starts;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    std::size_t start = 0;
    const char* end = word.data() + word.size();
    if (std::from_chars(word.data(), end, start).ptr != end || word.empty()) break;
    starts.push_back(start);
  }
  if (int(starts.size()) == stages) return starts;
  throw ValueError(fmt::format(
      "stages: starts are '{}', expected a number for each of {} stages, with commas between",
      printable(text), stages));
}

}  // namespace

void StageBalance::declare(OptionList& options) {
  options.add("costs", costs,
              "cost of nodes for balancing stages: FLOP, or times measured on this machine",
              {"flop", "measured"});
  options.add("batch", batch, "micro-batch size for which stages are balanced", {.least = 1});
  options.add("flop_per_byte", flop_per_byte,
              "FLOP that one byte between stages costs, with costs=flop", {.least = 0});
  options.add("bytes_per_second", bytes_per_second,
              "bandwidth between stages in bytes/s, with costs=measured", {.above = 0});
  options.add("starts", starts, "first node of each stage, as in 0,5,9; empty: balanced");
}

std::vector<std::size_t> balanced_starts(const Network& network, int stages,
                                         const StageBalance& balance, const std::string& loss) {
  if (!balance.starts.empty()) return starts_in(balance.starts, stages);
  const OpenSizes sizes{.batch = balance.batch};
  const NetworkSummary summary = summarise(network, sizes);
  const bool is_measured = balance.costs == StageBalance::Costs::measured;
  std::vector<double> costs;
  if (is_measured) {
    costs = measured_seconds(network, summary, sizes, loss);
  } else {
    for (const auto& node : summary.nodes) costs.push_back(node.cost.flop);
  }
  const double per_byte = is_measured ? 1 / balance.bytes_per_second : balance.flop_per_byte;
  std::vector<double> entering = crossing_bytes(network, sizes);
  // Infinite costs stay infinite even if bytes are free.
  for (double& bytes : entering) {
    if (bytes < std::numeric_limits<double>::infinity()) bytes *= per_byte;
  }
  return stage_starts(costs, entering, stages);
}

std::vector<std::size_t> agreed_starts(const Network& network, int stages,
                                       const StageBalance& balance, const std::string& loss,
                                       Communicator& ranks) {
  StageBalance defined = balance;
  defined.costs = StageBalance::Costs::flop;
  // Every rank finds impossible cuts.
  std::vector<std::size_t> starts = balanced_starts(network, stages, defined);
  if (balance.costs == StageBalance::Costs::flop) return starts;
  if (ranks.rank() == 0) starts = balanced_starts(network, stages, balance, loss);
  Tensor agreed = Tensor::vector(std::vector<std::int64_t>(starts.begin(), starts.end()));
  ranks.broadcast(agreed, 0);
  const auto nodes = agreed.span<std::int64_t>();
  return {nodes.begin(), nodes.end()};
}

}  // namespace d5::detail
