// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/node_memory.hpp"

#include "d5/level3_distributed/collective.hpp"
#include "d5/level3_distributed/communication_schedule.hpp"
#include "level3_distributed/collectives/parts/kept_by_communicator.hpp"
#include "level3_distributed/node/node_exchange.hpp"

namespace d5::collective {
namespace {

struct NodeMemoryOptions {
  std::int64_t chunk_bytes = detail::NodeExchangeOptions{}.chunk_bytes;
  std::int64_t stages = detail::NodeExchangeOptions{}.stages;

  void declare(OptionList& options) {
    options.add("chunk_bytes", chunk_bytes, "of each rank's data in the memory at once",
                {.least = 64});
    options.add("stages", stages, "chunks under way", {.least = 1});
  }
};

CommunicationSchedule until(std::unique_ptr<Request> done) { co_await done; }

/// The first on a communicator makes the memory, and waits until all ranks have started it.
///
/// A rank moves 2 (n - 1) / n of its data each way, between caches where chunks fit in these; it
/// reads and writes its own data in memory once.
class NodeMemoryAllReduce final : public AllReduce {
 public:
  using Options = NodeMemoryOptions;
  explicit NodeMemoryAllReduce(const Options& options) : options_(options) {}

  std::unique_ptr<Request> start(Communicator& ranks, Tensor& data, Reduction reduction) override {
    if (ranks.size() == 1) return ranks.start_all_reduce(data, reduction);
    return run_schedule(ranks, until(exchange_of(ranks).start_all_reduce(data, reduction)));
  }
  void prepare(Communicator& ranks) override {
    if (ranks.size() > 1) (void)exchange_of(ranks);
  }

 private:
  detail::NodeExchange& exchange_of(Communicator& ranks) {
    return exchanges_.of(ranks, [this](Communicator& all) {
      detail::meet(all);
      return std::make_unique<detail::NodeExchange>(
          all, detail::NodeExchangeOptions{options_.chunk_bytes, options_.stages});
    });
  }

  Options options_;
  detail::KeptByCommunicator<detail::NodeExchange> exchanges_;
};

}  // namespace

void register_node_memory(Registry<AllReduceEntry>& registry) {
  registry.add("node_memory", AllReduceEntry::of<NodeMemoryAllReduce>(
                                  "through memory that the ranks of one machine share"));
}

}  // namespace d5::collective
