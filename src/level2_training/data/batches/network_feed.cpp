// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/network_feed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "d5/core/error.hpp"
#include "level2_training/data/batches/next_batch.hpp"

namespace d5 {

NetworkFeed::NetworkFeed(GraphExecutor& executor, std::shared_ptr<Sampler> sampler)
    : executor_(executor), sampler_(std::move(sampler)) {
  pull(0);
  // A sampler's first batch is its largest: all are, if they are enough for all draws.
  if (sampler_->law().draws == batch_->size * sampler_->batches()) even_size_ = batch_->size;
}

void NetworkFeed::pull(std::int64_t next_epoch) {
  batch_ = sampler_->next();
  if (!batch_) {
    sampler_->reset(next_epoch);
    batch_ = sampler_->next();
  }
  if (!batch_) {
    throw ValueError(fmt::format("feed from a sampler of '{}': it gives no batch",
                                 printable(sampler_->dataset().name())));
  }
  used_ = false;
}

void NetworkFeed::seek(std::int64_t epoch, std::int64_t index) {
  sampler_->seek(epoch, index);
  pull(epoch + 1);
}

TensorDesc NetworkFeed::desc(const std::string& field) const {
  const auto value = batch_->values.find(field);
  if (value == batch_->values.end()) {
    throw NotFound(fmt::format("feed from a sampler of '{}': batches have no field '{}', but {}",
                               printable(sampler_->dataset().name()), printable(field),
                               fmt::join(batch_->values | std::views::keys, ", ")));
  }
  TensorDesc desc = value->second.tensor().desc();
  if (even_size_ == 0) desc.shape[0] = kUnknownDim;
  for (const auto& [name, sample] : sampler_->dataset().fields()) {
    if (name != field) continue;
    for (std::size_t d = 0; d < sample.shape.rank(); ++d) {
      if (sample.shape[d] == kUnknownDim) desc.shape[d + 1] = kUnknownDim;
    }
  }
  return desc;
}

const Tensor& NetworkFeed::use(const std::string& field) {
  used_ = used_ || running_;
  return batch_->values.find(field)->second.tensor();
}

void NetworkFeed::before_run(Pass) {
  if (used_) pull(batch_->epoch + 1);
  running_ = true;
  if (even_size_ == 0 || batch_->size == even_size_) return;
  throw ShapeError(
      fmt::format("feed from a sampler of '{}': batch {} of epoch {} has {} samples, the first one "
                  "had {}, and all together seemed as large; feed its batches as inputs",
                  printable(sampler_->dataset().name()), batch_->index, batch_->epoch, batch_->size,
                  even_size_));
}

void NetworkFeed::after_run(Pass) {
  running_ = false;
  if (!used_ || batch_->index + 1 < sampler_->batches()) return;
  executor_.events().collect(listeners_);
  for (FeedEvent* listener : listeners_) listener->after_epoch(*sampler_, batch_->epoch);
}

std::shared_ptr<NetworkFeed> feed_from(GraphExecutor& executor, std::shared_ptr<Sampler> sampler) {
  auto feed = std::make_shared<NetworkFeed>(executor, std::move(sampler));
  const auto& values = feed->batch().values;
  onnx::Model model = executor.network().model();
  const auto initializers = [&](const std::string& name) {
    return model.graph.initializers.contains(name);
  };
  std::vector<std::string> fields;
  for (const auto& input : model.graph.inputs) {
    if (!values.contains(input.name) || initializers(input.name)) continue;
    const TensorDesc desc = feed->desc(input.name);
    if (desc.dtype != input.type.dtype) {
      throw TypeError(fmt::format("network '{}': input '{}' is {}, but the batch's field is {}",
                                  printable(executor.network().name()), printable(input.name),
                                  name_of(input.type.dtype), name_of(desc.dtype)));
    }
    fields.push_back(input.name);
  }
  if (fields.empty()) {
    throw NotFound(fmt::format("network '{}' has no input that is a field of a batch: {}",
                               printable(executor.network().name()),
                               fmt::join(values | std::views::keys, ", ")));
  }
  std::erase_if(model.graph.inputs, [&](const onnx::ValueInfo& input) {
    return std::ranges::find(fields, input.name) != fields.end();
  });
  onnx::Node node = detail::next_batch_node(feed, fields);
  node.name = executor.network().unused_name("next_batch");
  model.opset_imports[node.domain] = node.opset;
  model.graph.nodes.insert(model.graph.nodes.begin(), std::move(node));
  executor.network().rewrite(std::move(model));
  executor.events().add(feed);
  return feed;
}

bool pulls_data(const Network& network) {
  return std::ranges::any_of(network.graph().nodes, detail::is_next_batch);
}

}  // namespace d5
