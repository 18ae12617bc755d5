// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "d5/prediction/training/prediction_strategy.hpp"
#include "prediction/training/compressor_probe.hpp"

namespace d5::prediction_strategy {
namespace {

using Id = OperationGraph::Id;

struct CompressionOptions {
  EntryChoice compressor{"float16"};
  double compress_bandwidth = 0, decompress_bandwidth = 0;
  void declare(OptionList& options) {
    options.add("compressor", compressor, "gradient compressor", "gradient compressor");
    options.add("compress_bandwidth", compress_bandwidth,
                "bytes/s of compressed gradients; 0: measured on this machine", {.least = 0});
    options.add(
        "decompress_bandwidth", decompress_bandwidth,
        "bytes/s of gradients decompressed from each rank's message; 0: measured on this machine",
        {.least = 0});
  }
};

/// Compresses buckets by a compressor of level 3: its calls replace the all-reduce, and its work is
/// on the compute lane, before the calls and, for every rank's message, after them.
class Compression final : public PredictionStrategy {
 public:
  using Options = CompressionOptions;
  explicit Compression(const Options& options) : options_(options) {}
  void apply(PlannedTraining& plan) const override {
    detail::CompressorCost cost = detail::probe_compressor(options_.compressor);
    if (options_.compress_bandwidth > 0) cost.compress = 1 / options_.compress_bandwidth;
    if (options_.decompress_bandwidth > 0) cost.decompress = 1 / options_.decompress_bandwidth;
    plan.training.rewrites.push_back({[cost](PlannedGraph& graph) {
      if (graph.ranks > 1) rewrite(graph, cost);
    }});
  }

 private:
  static void rewrite(PlannedGraph& plan, const detail::CompressorCost& cost) {
    OperationGraph& graph = plan.graph;
    const std::size_t compute = graph.lane(0, "compute");
    for (const Id id : graph.ids()) {
      if (graph.operation(id).kind != "all_reduce") continue;
      const Operation sum = graph.operation(id);
      const double bytes = sum.rule->bytes;
      // It runs before the node that is ready at the same time.
      constexpr std::int64_t kAtOnce = std::numeric_limits<std::int64_t>::max();
      Operation compress{sum.name + " compressed", "compress", compute, cost.compress * bytes,
                         kAtOnce};
      set_buckets(compress, buckets_of(sum));
      const std::vector<Id> before = graph.predecessors(id), after = graph.successors(id);
      Id last = graph.add(std::move(compress), std::span<const Id>(before));
      for (const auto& call : cost.calls) {
        Operation part{sum.name, call.kind, sum.lane, 0, sum.priority};
        // The transport's calls use its own algorithms; all-reduces use the training's.
        part.rule = CostRule{call.kind == "all_reduce" ? sum.rule->algorithm : "mpi",
                             call.share * bytes, plan.ranks};
        set_buckets(part, buckets_of(sum));
        last = graph.add(std::move(part), {last});
      }
      Operation decompress{sum.name + " decompressed", "decompress", compute,
                           static_cast<double>(plan.ranks) * cost.decompress * bytes};
      set_buckets(decompress, buckets_of(sum));
      last = graph.add(std::move(decompress), {last});
      for (const Id next : after) graph.add_edge(last, next);
      graph.remove(id);
    }
  }

  Options options_;
};

}  // namespace

void register_compression(Registry<PredictionStrategyEntry>& registry) {
  registry.add("compression", PredictionStrategyEntry::of<Compression>(
                                  "gradient compression, its cost measured on this machine"));
}

}  // namespace d5::prediction_strategy
