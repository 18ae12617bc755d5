// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/network_feed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <ranges>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/custom_operator.hpp"
#include "d5/onnx/model.hpp"

namespace d5::detail {
namespace {

constexpr const char* kName = "NextBatch";
constexpr const char* kDomain = "d5";

/// The feeds of this process by number.
struct Feeds {
  std::mutex mutex;
  std::map<std::int64_t, std::weak_ptr<NetworkFeed>> by_number;
  std::int64_t last = 0;
};

Feeds& feeds() {
  static Feeds all;
  return all;
}

std::shared_ptr<NetworkFeed> feed_of(const onnx::Node& node) {
  const auto* number = node.attribute<std::int64_t>("feed");
  const std::lock_guard lock(feeds().mutex);
  const auto place = feeds().by_number.find(number ? *number : 0);
  auto feed = place == feeds().by_number.end() ? nullptr : place->second.lock();
  if (feed) return feed;
  throw Unsupported(fmt::format(
      "{}: the sampler that it reads is not in this process, or its executor is gone; make what it "
      "writes inputs of the network, and call feed_from",
      onnx::describe(node)));
}

class NextBatchKernel final : public Kernel {
 public:
  NextBatchKernel(std::shared_ptr<NetworkFeed> feed, std::vector<std::string> fields)
      : feed_(std::move(feed)), fields_(std::move(fields)) {}

  void forward(OpContext& context) override {
    // A node that draws random numbers is not constant, though it has no inputs.
    (void)context.services().random();
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (!context.wants_output(i)) continue;
      const Tensor& field = feed_->use(fields_[i]);
      context.allocate(i, field.desc()).copy_from(field);
    }
  }

 private:
  std::shared_ptr<NetworkFeed> feed_;
  std::vector<std::string> fields_;
};

/// Operator without inputs whose outputs are the fields of the current batch.
class NextBatch final : public MovingOperator {
 public:
  explicit NextBatch(const onnx::Node& node) : feed_(feed_of(node)) {
    if (const auto* fields = node.attribute<std::vector<std::string>>("fields")) fields_ = *fields;
    if (fields_.size() != node.outputs.size()) {
      throw ShapeError(fmt::format("{} has {} fields, but {} outputs", onnx::describe(node),
                                   fields_.size(), node.outputs.size()));
    }
  }

  [[nodiscard]] std::vector<ValueDesc> infer(const InferContext&) const override {
    std::vector<ValueDesc> descs;
    for (const std::string& field : fields_) descs.emplace_back(feed_->desc(field));
    return descs;
  }
  [[nodiscard]] std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<NextBatchKernel>(feed_, fields_);
  }

 private:
  std::shared_ptr<NetworkFeed> feed_;
  std::vector<std::string> fields_;
};

/// A node that writes `fields` of the feed's batch to tensors of the same names. It stores the
/// feed's number, which is valid in this process only, instead of the feed.
onnx::Node next_batch_node(const std::shared_ptr<NetworkFeed>& feed,
                           const std::vector<std::string>& fields) {
  static std::once_flag added;
  std::call_once(added, [] {
    add_custom_operator(kName, {.domain = kDomain},
                        [](const onnx::Node& node) { return std::make_unique<NextBatch>(node); });
  });
  onnx::Node node;
  node.op_type = kName;
  node.domain = kDomain;
  node.opset = 1;
  node.outputs = fields;
  node.attributes["fields"] = fields;
  const std::lock_guard lock(feeds().mutex);
  std::erase_if(feeds().by_number, [](const auto& one) { return one.second.expired(); });
  node.attributes["feed"] = ++feeds().last;
  feeds().by_number[feeds().last] = feed;
  return node;
}

bool is_next_batch(const onnx::Node& node) {
  return node.domain == kDomain && node.op_type == kName;
}

}  // namespace
}  // namespace d5::detail

namespace d5 {

NetworkFeed::NetworkFeed(GraphExecutor& executor, std::shared_ptr<Sampler> sampler)
    : executor_(executor), sampler_(std::move(sampler)) {
  pull(0);
  // The first batch of a sampler is the largest. All have its size if the sizes add up to all
  // draws.
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
