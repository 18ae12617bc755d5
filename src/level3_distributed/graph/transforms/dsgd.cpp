// SPDX-License-Identifier: Apache-2.0
// The transform `dsgd`: backpropagation averages each gradient over the ranks as soon as it is
// computed.
#include <fmt/format.h>

#include "d5/level1_network/graph/transform.hpp"
#include "d5/level3_distributed/graph/communication_group.hpp"

namespace d5::communication_transform {
namespace {

struct DsgdOptions {
  std::string group = "world";
  void declare(OptionList& options) {
    options.add("group", group, "communication group over which gradients are averaged");
  }
};

/// Passes each parameter through a node whose gradient is an all-reduce. Gradients themselves are
/// not nodes of the graph: the executor derives them.
class Dsgd final : public Transform {
 public:
  using Options = DsgdOptions;
  explicit Dsgd(const Options& options) : options_(options) {}
  [[nodiscard]] Keeps keeps() const override { return Keeps::outputs; }

  TransformReport apply(Network& network) const override {
    (void)communication_group(options_.group);
    TransformReport report;
    std::vector<std::string> names;
    for (const Parameter& parameter : network.parameters()) names.push_back(parameter.name);
    std::size_t averaged = 0;
    for (const std::string& name : names) {
      const auto readers = network.consumers(name);
      if (readers.empty()) {
        report.left.push_back(fmt::format("parameter '{}': nothing reads it", name));
      } else if (readers.size() == 1 && is_average(*readers.front())) {
        report.left.push_back(
            fmt::format("parameter '{}': its gradient is averaged already", name));
      } else {
        network.insert_node(name, {.name = "",
                                   .op_type = "AverageGradient",
                                   .domain = "d5",
                                   .opset = 1,
                                   .inputs = {name},
                                   .outputs = {network.unused_name(name + ".averaged")},
                                   .attributes = {{"group", options_.group}},
                                   .doc = ""});
        ++averaged;
      }
    }
    if (averaged > 0) {
      report.what = fmt::format("averages {} gradients over {}", averaged, options_.group);
    }
    return report;
  }

 private:
  static bool is_average(const onnx::Node& node) {
    return node.domain == "d5" && node.op_type == "AverageGradient";
  }
  Options options_;
};

}  // namespace

void register_dsgd(Registry<TransformEntry>& registry) {
  registry.add(
      "dsgd",
      TransformEntry::of<Dsgd>(
          "data-parallel SGD: averages each gradient over the ranks during backpropagation"));
}

}  // namespace d5::communication_transform
