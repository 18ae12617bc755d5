// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "d5/level2_training/losses/loss.hpp"

namespace d5 {
namespace {

struct CrossEntropyOptions {
  bool classes_last = false;
  std::int64_t ignored = std::numeric_limits<std::int64_t>::min();

  void declare(OptionList& options) {
    options.add("classes_last", classes_last,
                "scores are {N, places, classes}, not {N, classes, places}");
    options.add("ignored", ignored, "class of targets to ignore, such as padding");
  }
};

/// mean over samples and places of -log softmax(scores)[class]
void append_cross_entropy(Network& network, const LossEnds& ends,
                          const CrossEntropyOptions& options) {
  std::string scores = ends.output, classes = ends.target;
  if (options.classes_last) {
    const auto tensor = [&](const char* part) {
      return network.unused_name(ends.loss + "." + part);
    };
    const std::string all = tensor("all"), rows = tensor("scores"), flat = tensor("classes");
    network.add_constant(all, Tensor::vector(std::vector<std::int64_t>{-1}));
    network.add_node("Flatten", {scores}, {rows}, {{"axis", std::int64_t{-1}}});
    network.add_node("Reshape", {classes, all}, {flat});
    scores = rows, classes = flat;
  }
  std::map<std::string, onnx::Attribute, std::less<>> attributes;
  if (options.ignored != CrossEntropyOptions{}.ignored) {
    attributes["ignore_index"] = options.ignored;
  }
  network.add_node("SoftmaxCrossEntropyLoss", {scores, classes}, {ends.loss}, std::move(attributes),
                   ends.loss);
}

}  // namespace

namespace loss {

void register_cross_entropy(Registry<LossEntry>& registry) {
  registry.add("cross_entropy",
               LossEntry::with<CrossEntropyOptions>(
                   "softmax cross-entropy of logits, for classes (int64)", append_cross_entropy));
}

}  // namespace loss
}  // namespace d5
