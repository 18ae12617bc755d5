// SPDX-License-Identifier: Apache-2.0
#include "level1_network/micro_batch/micro_batching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "d5/core/entries/framework.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "level1_network/micro_batch/node_times.hpp"
#include "level1_network/micro_batch/segment_memory.hpp"
#include "level1_network/micro_batch/split_segment.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

/// Candidate sizes: powers of two, divisors, and the batch itself.
std::vector<std::int64_t> candidate_sizes(std::int64_t batch) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size <= batch; ++size) {
    if ((size & (size - 1)) == 0 || batch % size == 0) sizes.push_back(size);
  }
  return sizes;
}

/// Dimension 0 of the first input that has one.
std::int64_t batch_of(const Network& network, std::int64_t wish) {
  for (const auto& info : network.graph().inputs) {
    if (info.type.kind != ValueKind::tensor || info.type.dims.empty()) continue;
    if (const auto* size = std::get_if<std::int64_t>(&info.type.dims.front())) return *size;
    if (wish > 0) return wish;
    throw ValueError(fmt::format(
        "microbatch: input '{}' leaves its batch open; give the batch size to split ({})",
        printable(info.name), option_word("batch", "SIZE")));
  }
  throw Unsupported("microbatch: no input of the network has a batch");
}

std::vector<const OperatorRegistry*> registries_of(const std::vector<std::string>& names) {
  std::vector<const OperatorRegistry*> registries;
  for (const auto& name : names) {
    if (name == "auto") {
      throw Unsupported(
          "microbatch: it measures in the frameworks that will run the network, and 'auto' names "
          "none; name them (framework=torch+reference)");
    }
    registries.push_back(&framework(name).part<OperatorRegistry>());
  }
  return registries;
}

double seconds_of(const Network& network, const BatchSegment& segment, const ValueDescs& descs,
                  NodeTimes& times) {
  double seconds = 0;
  for (const std::size_t n : segment.nodes) seconds += times.of(network.graph().nodes[n], descs);
  return seconds;
}

}  // namespace

MicroBatching::MicroBatching(Network& network, const ExecutorWord& word, std::int64_t batch)
    : network_(network),
      frameworks_(word.frameworks()),
      batch_(batch_of(network, batch)),
      trained_(!loss_of(network).empty()) {
  (void)registries_of(frameworks_);
  for (const auto& [name, desc] : fed(batch_)) {
    const Shape& shape = desc.tensor.shape;
    if (shape.rank() > 0 && shape[0] == batch_) inputs_.push_back(name);
  }
}

ValueDescs MicroBatching::fed(std::int64_t rows) const {
  const bool open = std::ranges::any_of(network_.graph().inputs, [](const auto& info) {
    return std::ranges::any_of(
        info.type.dims, [](const auto& dim) { return !std::holds_alternative<std::int64_t>(dim); });
  });
  ValueDescs descs;
  for (const auto& [name, desc] : input_descs(network_, {.batch = open ? batch_ : 1})) {
    if (!desc.is_tensor()) continue;
    TensorDesc& fed = descs.emplace(name, desc).first->second.tensor;
    if (std::ranges::find(inputs_, name) != inputs_.end()) fed.shape[0] = rows;
  }
  return descs;
}

void MicroBatching::set_rows(std::optional<std::int64_t> rows) {
  onnx::Model model = network_.model();
  for (auto& info : model.graph.inputs) {
    if (std::ranges::find(inputs_, info.name) == inputs_.end()) continue;
    info.type.dims.front().emplace<std::monostate>();
    if (rows) info.type.dims.front() = *rows;
  }
  network_.rewrite(std::move(model));
}

PlannedMemory MicroBatching::planned(std::int64_t rows) const {
  ValueMap inputs;
  for (const auto& [name, desc] : fed(rows)) inputs[name] = Tensor::borrow(desc.tensor, nullptr);
  const auto executor = make_executor(network_, {.frameworks = frameworks_});
  return plan_memory(*executor, inputs, loss_of(network_));
}

std::optional<std::size_t> MicroBatching::planned_bytes() const {
  try {
    return planned(batch_).bytes();
  } catch (const MemoryError&) {
    return std::nullopt;
  }
}

void MicroBatching::plan_sizes() {
  if (!sizes_.empty()) return;
  const onnx::Model before = network_.model();
  const auto restore = [&](void*) { network_.rewrite(before); };
  const std::unique_ptr<MicroBatching, decltype(restore)> restored(this, restore);
  set_rows(std::nullopt);
  for (const std::int64_t size : candidate_sizes(batch_)) {
    Size& one = sizes_[size];
    one.descs = infer_values(network_.graph(), fed(size));
    try {
      one.memory = planned(size);
    } catch (const Error&) {
      // No micro-batches of this size: it is too large, or nodes contain the batch size.
    }
  }
}

BatchRegions MicroBatching::regions() const {
  return {network_, infer_values(network_.graph(), fed(batch_)), batch_, trained_};
}

std::vector<BatchSplit> MicroBatching::choose(std::size_t most_bytes) {
  plan_sizes();
  const BatchRegions found = regions();
  const ValueDescs& whole = sizes_.at(batch_).descs;
  std::map<std::int64_t, SegmentMemory> memories;
  for (const auto& [size, planned] : sizes_) {
    if (planned.memory) {
      memories.try_emplace(size, network_, *planned.memory, size, batch_);
    }
  }
  NodeTimes times(network_, registries_of(frameworks_), trained_);
  std::vector<BatchSegment> segments;
  std::vector<SegmentWays> ways;
  std::size_t cuts_before = 0;
  for (const auto& region : found.regions()) {
    for (std::size_t begin = 0; begin + 1 < region.cuts.size(); ++begin) {
      for (std::size_t end = begin + 1; end < region.cuts.size(); ++end) {
        segments.push_back(found.segment(region, region.cuts[begin], region.cuts[end]));
        SegmentWays& way = ways.emplace_back();
        way.begin = cuts_before + begin;
        way.end = cuts_before + end;
        for (const auto& [size, memory] : memories) {
          // Segments on the whole batch follow each other unsplit.
          if (size == batch_ && end > begin + 1) continue;
          way.bytes[size] = memory.bytes(segments.back(), whole);
        }
      }
    }
    cuts_before += region.cuts.size() - 1;
  }
  for (std::size_t s = 0; s < ways.size(); ++s) {
    for (const auto* names : {&segments[s].entering, &segments[s].leaving}) {
      for (const auto& name : *names) {
        ways[s].joint_seconds += times.copy(whole.find(name)->second.tensor);
      }
    }
    ways[s].seconds = [&, s](std::int64_t size) {
      return seconds_of(network_, segments[s], sizes_.at(size).descs, times);
    };
  }
  if (ways.empty()) return {};
  const auto chosen = choose_sizes(ways, batch_, std::max(most_bytes, least_bytes(ways)));
  std::vector<BatchSplit> splits;
  for (const auto& [way, sizes] : chosen.value_or(std::vector<ChosenSizes>())) {
    if (sizes.size() < 2) continue;
    const auto& nodes = segments[std::size_t(way - ways.data())].nodes;
    const auto& all = network_.graph().nodes;
    splits.push_back({first_output(all[nodes.front()]), first_output(all[nodes.back()]), sizes});
  }
  return splits;
}

BatchSegment MicroBatching::segment_of(const BatchSplit& split) const {
  const auto& all = network_.graph().nodes;
  const BatchRegions found = regions();
  const auto writes = [&](const std::string& tensor) {
    return [&](std::size_t n) {
      return std::ranges::find(all[n].outputs, tensor) != all[n].outputs.end();
    };
  };
  for (const auto& region : found.regions()) {
    const auto first = std::ranges::find_if(region.nodes, writes(split.first));
    const auto last = std::ranges::find_if(region.nodes, writes(split.last));
    if (first == region.nodes.end() || last == region.nodes.end() || last < first) continue;
    if (std::accumulate(split.sizes.begin(), split.sizes.end(), std::int64_t{0}) != batch_) {
      throw ValueError(fmt::format("microbatch: the sizes of '{}' do not add up to the batch of {}",
                                   printable(to_words(std::vector{split})), batch_));
    }
    return found.segment(region, std::size_t(first - region.nodes.begin()),
                         std::size_t(last - region.nodes.begin()) + 1);
  }
  throw NotFound(
      fmt::format("microbatch: no segment of the network from '{}' to '{}' has only nodes that "
                  "compute rows independently",
                  printable(split.first), printable(split.last)));
}

void MicroBatching::apply(const std::vector<BatchSplit>& splits) {
  Splice change;
  for (const auto& split : splits) {
    split_segment(network_, segment_of(split), split.sizes, change);
  }
  network_.splice(std::move(change));
  set_rows(batch_);
}

}  // namespace d5
