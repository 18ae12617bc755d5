// SPDX-License-Identifier: Apache-2.0
// Splits a batch into several smaller ones, run one after another, so that the plan needs less
// memory.
#include <fmt/format.h>

#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/results/results.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "level1_network/micro_batch/micro_batching.hpp"

namespace d5::transform {
namespace {

struct MicrobatchOptions {
  std::string memory, framework = "reference", choices;
  std::int64_t batch = 0;
  void declare(OptionList& options) {
    options.add("memory", memory, "memory limit of the plan, as 512MiB; empty: the memory budget");
    options.add("batch", batch, "batch size if the network leaves it open", {.least = 0});
    options.add("framework", framework, "framework in which nodes are timed, as 'torch+reference'");
    options.add(
        "choices", choices,
        "micro-batch sizes from an earlier report, instead of measuring: conv1..pool5=64*3+32");
  }
};

/// Runs segments of nodes that treat samples independently on a few samples at a time. Values
/// within a segment then need memory for one micro-batch only, and so does a framework's workspace.
///
/// If the plan exceeds the limit, an integer linear program chooses segments and sizes
/// (`choose_sizes`), from times measured here and memory from plans for these sizes. The estimate
/// ignores how well blocks fit into an arena: if the plan needs more, the program is solved again
/// for less.
///
/// Source: Oyama, Ben-Nun, Hoefler and Matsuoka, "Accelerating Deep Learning Frameworks with
/// Micro-batches" (2018); Ben-Nun et al., "A Modular Benchmarking Infrastructure for
/// High-Performance and Reproducible Deep Learning" (2019), where it is a transformation of
/// networks.
class Microbatch final : public Transform {
 public:
  using Options = MicrobatchOptions;
  explicit Microbatch(Options options)
      : options_(std::move(options)),
        limit_(options_.memory.empty() ? memory_budget() : byte_count(options_.memory)) {}

  TransformReport apply(Network& network) const override {
    MicroBatching batching(network, options_.framework, options_.batch);
    if (!options_.choices.empty()) {
      const auto splits = batch_splits(options_.choices);
      batching.apply(splits);
      return {fmt::format("split {}", to_words(splits))};
    }
    const auto before = batching.planned_bytes();
    if (before && *before <= limit_) return {};
    return fit(network, batching, before);
  }

 private:
  TransformReport fit(Network& network, MicroBatching& batching,
                      std::optional<std::size_t> before) const {
    constexpr int kAttempts = 4;  // the last one for the least that there is
    const onnx::Model whole = network.model();
    double target = double(limit_);
    std::vector<BatchSplit> splits;
    std::optional<std::size_t> bytes;
    for (int i = 1; i <= kAttempts; ++i) {
      network.rewrite(whole);
      splits = batching.choose(i < kAttempts ? std::size_t(target) : 0);
      if (splits.empty()) return {"", {"no segment can be split so that it needs less memory"}};
      batching.apply(splits);
      bytes = batching.planned_bytes();
      if (bytes && *bytes <= limit_) break;
      target *= bytes ? double(limit_) / double(*bytes) : 0.5;
    }
    TransformReport report{fmt::format("split {}: the plan needs {}, before {}", to_words(splits),
                                       words(bytes), words(before))};
    if (!bytes || *bytes > limit_) {
      report.left.push_back(fmt::format(
          "the plan is above the limit of {}: values that live between the segments need the rest",
          with_prefix(double(limit_), "B")));
    }
    return report;
  }

  static std::string words(std::optional<std::size_t> bytes) {
    return bytes ? with_prefix(double(*bytes), "B") : "more than the memory budget";
  }

  Options options_;
  std::size_t limit_;
};

}  // namespace

void register_microbatch(Registry<TransformEntry>& registry) {
  registry.add(
      "microbatch",
      TransformEntry::of<Microbatch>(
          "micro-batching: runs segments of a network on micro-batches to fit a memory limit"));
}

}  // namespace d5::transform
