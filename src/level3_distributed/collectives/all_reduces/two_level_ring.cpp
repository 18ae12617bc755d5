// SPDX-License-Identifier: Apache-2.0
#include "d5/core/entries/option.hpp"
#include "d5/level3_distributed/collectives/planned_collective.hpp"
#include "d5/level3_distributed/node/node_memory.hpp"
#include "level3_distributed/collectives/parts/kept_by_communicator.hpp"
#include "level3_distributed/collectives/parts/ring_steps.hpp"

namespace d5::collective {
namespace {

struct TwoLevelRingOptions {
  std::int64_t ranks_per_node = 0;

  void declare(OptionList& options) {
    options.add("ranks_per_node", ranks_per_node,
                "number of consecutive ranks that form a node; 0: as they lie on nodes",
                {.least = 0});
  }
};

/// The number of consecutive ranks on every node; 1 if nodes differ. A collective.
int ranks_of_nodes(Communicator& ranks) {
  if (ranks.ranks_per_node() > 0) return ranks.ranks_per_node();
  if (!ranks.shares_nodes()) return 1;
  return ranks.with(nullptr, [&] {
    const auto node = node_group(ranks);
    const int each = node->size();
    const bool consecutive = node->rank() == ranks.rank() % each && ranks.size() % each == 0;
    Tensor extremes = Tensor::vector<std::int64_t>({each, -each, consecutive ? 1 : 0});
    ranks.all_reduce(extremes, Reduction::minimum);
    const auto* least = extremes.data<std::int64_t>();
    return least[0] == -least[1] && least[2] == 1 ? each : 1;
  });
}

/// A reduce-scatter in the ring of each node, an all-reduce in the rings of ranks of equal places
/// on all nodes, and an all-gather in each node. For n ranks, k of them a node, a rank sends 2 (k -
/// 1) / k of the data inside its node in 2 (k - 1) messages, and 2 (n / k - 1) / n of it to another
/// node in 2 (n / k - 1) messages. Ranks that nodes do not share equally are one ring.
///
/// The first call on a communicator determines the nodes and waits until all ranks have started it.
class TwoLevelRing final : public AllReduce {
 public:
  using Options = TwoLevelRingOptions;
  explicit TwoLevelRing(const Options& options) : ranks_per_node_(int(options.ranks_per_node)) {}

  std::unique_ptr<Request> start(Communicator& ranks, Tensor& data, Reduction reduction) override {
    const CollectiveSize size{.rank = ranks.rank(),
                              .ranks = ranks.size(),
                              .elements = data.elements(),
                              .element_bytes = std::int64_t(size_of(data.dtype()))};
    return start_plan(ranks, detail::two_level_ring_rounds(size, each_of(ranks)), data, reduction);
  }
  void prepare(Communicator& ranks) override { (void)each_of(ranks); }
  std::optional<Traffic::Line> volume(const CollectiveSize& size) const override {
    if (ranks_per_node_ == 0) return {};
    const PlannedRounds rounds = detail::two_level_ring_rounds(size, ranks_per_node_);
    CollectivePlan plan;
    for (std::size_t i = 0; i < rounds.count; ++i) plan.rounds.push_back(rounds.round(i));
    return plan.volume(size.element_bytes);
  }

 private:
  int each_of(Communicator& ranks) {
    if (ranks_per_node_ > 0 || ranks.size() == 1) return std::max(1, ranks_per_node_);
    return each_.of(ranks,
                    [](Communicator& all) { return std::make_unique<int>(ranks_of_nodes(all)); });
  }

  int ranks_per_node_;
  detail::KeptByCommunicator<int> each_;
};

}  // namespace

/// Source: Mikami et al., "Massively Distributed SGD: ImageNet/ResNet-50 Training in a Flash"
/// (2018), section 2.2: rings along two dimensions.
void register_two_level_ring(Registry<AllReduceEntry>& registry) {
  registry.add("two_level_ring",
               AllReduceEntry::of<TwoLevelRing>(
                   "reduce-scatter in nodes, ring between them, all-gather in nodes "
                   "(Mikami et al., 2018)"));
}

}  // namespace d5::collective
