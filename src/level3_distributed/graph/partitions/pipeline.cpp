// SPDX-License-Identifier: Apache-2.0
// Stages that follow each other, as equal in work as can be.

#include <limits>
#include "d5/level1_network/network_summary.hpp"
#include "d5/level3_distributed/partition.hpp"

namespace d5::partition {
namespace {

struct PipelineOptions {
  std::int64_t batch = 1;
  double flop_per_byte = 10;
  void declare(OptionList& options) {
    options.add("batch", batch, "samples of a micro-batch", {.least = 1});
    options.add("flop_per_byte", flop_per_byte,
                "how much work a byte counts as that goes from stage to stage", {.least = 0});
  }
};

/// The work of nodes is that of their definition (`summarise`); who has measured times cuts by
/// `stage_starts` and `cut_into_stages`.
class Pipeline final : public Partition {
 public:
  using Options = PipelineOptions;
  explicit Pipeline(const Options& options) : options_(options) {}

  [[nodiscard]] std::vector<NetworkPart> cut(const Network& network, int parts) const override {
    const OpenSizes sizes{.batch = options_.batch};
    std::vector<double> costs;
    for (const auto& node : summarise(network, sizes).nodes) costs.push_back(node.cost.flop);
    std::vector<double> entering = crossing_bytes(network, sizes);
    // An infinite cut stays one where bytes cost nothing.
    for (double& bytes : entering) {
      if (bytes < std::numeric_limits<double>::infinity()) bytes *= options_.flop_per_byte;
    }
    return cut_into_stages(network, stage_starts(costs, entering, parts), sizes);
  }

 private:
  Options options_;
};

}  // namespace

void register_pipeline(Registry<PartitionEntry>& registry) {
  registry.add("pipeline", PartitionEntry::of<Pipeline>(
                               "stages in the order of the graph, as equal in work as can be"));
}

}  // namespace d5::partition
