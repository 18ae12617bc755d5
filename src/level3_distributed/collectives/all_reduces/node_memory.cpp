// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/node/node_memory.hpp"

#include <algorithm>
#include <deque>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/communicator/communication_schedule.hpp"
#include "level3_distributed/collectives/parts/kept_by_communicator.hpp"
#include "level3_distributed/collectives/parts/segments.hpp"
#include "level3_distributed/node/communication_crew.hpp"
#include "level3_distributed/node/node_exchange.hpp"
#include "level3_distributed/node/nodes_of_strands.hpp"

namespace d5::collective {
namespace {

struct NodeMemoryOptions {
  std::int64_t chunk_bytes = detail::NodeExchangeOptions{}.chunk_bytes;
  std::int64_t stages = detail::NodeExchangeOptions{}.stages;

  void declare(OptionList& options) {
    options.add("chunk_bytes", chunk_bytes,
                "chunk size: bytes of each rank's data in shared memory at once",
                {.least = 64, .unit = "byte"});
    options.add("stages", stages, "number of chunks in flight", {.least = 1});
  }
};

CommunicationSchedule until(std::unique_ptr<Request> done) { co_await done; }

/// The first call on a communicator allocates the memory and waits until all ranks have started it;
/// so does the first call with more threads than any before.
///
/// A rank moves 2 (n - 1) / n of its data each way, between caches if chunks fit into them; it
/// reads and writes its own data in memory once. With t threads, each moves 1 / t of the data
/// through its own memory.
class NodeMemoryAllReduce final : public AllReduce {
 public:
  using Options = NodeMemoryOptions;
  explicit NodeMemoryAllReduce(const Options& options) : options_(options) {}

  std::unique_ptr<Request> start(Communicator& ranks, Tensor& data, Reduction reduction) override {
    if (ranks.size() == 1) return ranks.start_all_reduce(data, reduction);
    const auto options = ranks.options();
    const int threads = options ? options->resources.threads.value_or(0) : 0;
    if (threads > 0) return start_on_threads(ranks, data, reduction, threads);
    const std::int64_t chunk = options ? options->resources.chunk_bytes.value_or(0) : 0;
    detail::NodeExchange& exchange = exchange_of(ranks, 0);
    const std::int64_t used = exchange.chunk_bytes(chunk);
    return run_schedule(ranks, until(exchange.start_all_reduce(data, reduction, chunk)),
                        {.chunk_bytes = used});
  }
  void prepare(Communicator& ranks) override {
    if (ranks.size() > 1) (void)exchange_of(ranks, 0);
  }

 private:
  std::unique_ptr<Request> start_on_threads(Communicator& ranks, const Tensor& data,
                                            Reduction reduction, int threads) {
    if (detail::nodes_of_strands()) {
      throw Unsupported(
          "node_memory: simulated ranks have no communication threads; set threads to 0 or leave "
          "it out");
    }
    const auto options = ranks.options();
    std::vector<detail::NodeExchange*> exchanges;
    for (int i = 0; i < threads; ++i) exchanges.push_back(&exchange_of(ranks, std::size_t(i)));
    UsedResources used{.resources = options->resources};
    const std::int64_t chunk =
        exchanges.front()->chunk_bytes(used.resources.chunk_bytes.value_or(0));
    used.resources.chunk_bytes = chunk;
    return ranks.observe_schedule([&] {
      const auto moved =
          Traffic::of_all_reduce(static_cast<std::int64_t>(data.bytes()), ranks.size());
      ranks.note_traffic("node_memory", moved, moved);
      const Tensor flat = data.reshaped({data.elements()});
      std::vector<std::unique_ptr<Request>> parts;
      for (int i = 0; i < threads; ++i) {
        const ElementRange part = detail::segment({0, flat.elements()}, i, threads);
        parts.push_back(exchanges[std::size_t(i)]->queue_all_reduce(
            flat.slice(part.begin, part.end), reduction, chunk));
      }
      return ranks.watch(
          {.kind = CallKind::all_reduce, .output = data},
          detail::CommunicationCrew::instance().run(std::move(parts), options, std::move(used)));
    });
  }

  /// The exchange of thread `index`.
  detail::NodeExchange& exchange_of(Communicator& ranks, std::size_t index) {
    while (exchanges_.size() <= index) exchanges_.emplace_back();
    return exchanges_[index].of(ranks, [this](Communicator& all) {
      return all.with(nullptr, [&] {
        detail::meet(all);
        return std::make_unique<detail::NodeExchange>(
            all, detail::NodeExchangeOptions{options_.chunk_bytes, options_.stages});
      });
    });
  }

  Options options_;
  std::deque<detail::KeptByCommunicator<detail::NodeExchange>> exchanges_;
};

}  // namespace

void register_node_memory(Registry<AllReduceEntry>& registry) {
  registry.add("node_memory", AllReduceEntry::of<NodeMemoryAllReduce>(
                                  "shared memory of the ranks of one machine"));
}

}  // namespace d5::collective
