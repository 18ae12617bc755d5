// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/batches/next_batch.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "d5/core/error.hpp"
#include "d5/level0_ops/custom_operator.hpp"

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
    // Who asks for random numbers is no constant, though it has no inputs.
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

/// The fields of the batch that the run is on: no inputs, one output a field.
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

}  // namespace

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

}  // namespace d5::detail
