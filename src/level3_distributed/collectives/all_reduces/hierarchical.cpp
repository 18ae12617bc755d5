// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/communicator/communication_schedule.hpp"
#include "d5/level3_distributed/node/node_memory.hpp"
#include "level3_distributed/collectives/parts/kept_by_communicator.hpp"
#include "level3_distributed/node/node_exchange.hpp"

namespace d5::collective {
namespace {

struct HierarchicalOptions {
  EntryChoice leaders{"mpi"};
  std::int64_t ranks_per_node = 0;

  void declare(OptionList& options) {
    options.add("leaders", leaders, "algorithm between the nodes, among the first rank of each",
                "all-reduce");
    options.add("ranks_per_node", ranks_per_node,
                "number of consecutive ranks that form a node; 0: ranks that share memory",
                {.least = 0});
  }
};

/// The nodes of a communicator.
struct Nodes {
  std::shared_ptr<Communicator> node, leaders;       ///< leaders: null on all others
  std::unique_ptr<detail::NodeExchange> sums, news;  ///< null on a node of one rank
  std::int64_t operations = 0, across_started = 0;
};

/// Makes leaders start calls between nodes in the order of their all-reduces.
class Turn final : public Request {
 public:
  Turn(const Nodes& nodes, std::int64_t operation) : nodes_(nodes), operation_(operation) {}
  void wait() override {}  // the previous one ends without this request
  bool done() override { return nodes_.across_started == operation_; }

 private:
  const Nodes& nodes_;
  std::int64_t operation_;
};

struct NodeRequests {
  std::unique_ptr<Request> summed = {}, told = {};  ///< null on a node of one rank
  std::shared_ptr<std::atomic<bool>> may_tell = std::make_shared<std::atomic<bool>>(false);
};

CommunicationSchedule hierarchical(Nodes& nodes, AllReduce& across, Tensor data,
                                   Reduction reduction, NodeRequests node) {
  const std::int64_t operation = nodes.operations++;
  if (node.summed) co_await node.summed;
  if (nodes.leaders) {
    const std::unique_ptr<Request> turn = std::make_unique<Turn>(nodes, operation);
    co_await turn;
    const auto request = across.start(*nodes.leaders, data, reduction);
    ++nodes.across_started;
    co_await request;
  }
  *node.may_tell = true;  // the sums no longer change
  if (node.told) co_await node.told;
}

/// Reduces within each node in shared memory, then among the nodes' first ranks by another
/// algorithm, and broadcasts in shared memory. The first call on a communicator determines the
/// nodes and waits until all ranks have started it.
///
/// Only one rank of each node uses the network: the traffic is that of the leaders' algorithm on as
/// many ranks as there are nodes.
class HierarchicalAllReduce final : public AllReduce {
 public:
  using Options = HierarchicalOptions;
  explicit HierarchicalAllReduce(const Options& options)
      : across_(all_reduces().at(options.leaders.name).make(options.leaders.settings)),
        ranks_per_node_(options.ranks_per_node) {}

  std::unique_ptr<Request> start(Communicator& ranks, Tensor& data, Reduction reduction) override {
    if (ranks.size() == 1) return ranks.start_all_reduce(data, reduction);
    Nodes& nodes = nodes_of(ranks);
    NodeRequests node;
    if (nodes.sums) {
      node.summed = nodes.sums->start_all_reduce(data, reduction);
      node.told = nodes.news->start_broadcast(data, 0, node.may_tell);
    }
    return run_schedule(ranks, hierarchical(nodes, *across_, data.reshaped({data.elements()}),
                                            reduction, std::move(node)));
  }
  void prepare(Communicator& ranks) override {
    if (ranks.size() > 1) (void)nodes_of(ranks);
  }

 private:
  Nodes& nodes_of(Communicator& ranks) {
    return nodes_.of(ranks, [this](Communicator& all) { return find_nodes(all); });
  }
  std::unique_ptr<Nodes> find_nodes(Communicator& ranks) {
    detail::meet(ranks);
    auto nodes = std::make_unique<Nodes>();
    nodes->node = ranks_per_node_ == 0
                      ? node_group(ranks)
                      : ranks.split(static_cast<int>(ranks.rank() / ranks_per_node_));
    nodes->leaders = ranks.split(nodes->node->rank() == 0 ? 0 : -1);
    if (nodes->node->size() > 1) {
      nodes->sums =
          std::make_unique<detail::NodeExchange>(*nodes->node, detail::NodeExchangeOptions{});
      nodes->news =
          std::make_unique<detail::NodeExchange>(*nodes->node, detail::NodeExchangeOptions{});
    }
    // Triggers the one-time setup of the leaders' algorithm now, because a schedule must not block
    // on it.
    Tensor nothing = Tensor::zeros(DType::float32, {0});
    if (nodes->leaders) across_->start(*nodes->leaders, nothing)->wait();
    return nodes;
  }

  std::shared_ptr<AllReduce> across_;
  std::int64_t ranks_per_node_;
  detail::KeptByCommunicator<Nodes> nodes_;
};

}  // namespace

/// Source: Jia et al., "Highly Scalable Deep Learning Training System with Mixed-Precision" (2018),
/// section 4.3.
void register_hierarchical(Registry<AllReduceEntry>& registry) {
  registry.add("hierarchical", AllReduceEntry::of<HierarchicalAllReduce>(
                                   "shared memory within nodes, another algorithm between them"));
}

}  // namespace d5::collective
