// SPDX-License-Identifier: Apache-2.0
// Converts the network to the operators of a newer opset of ONNX.
#include <fmt/format.h>

#include "d5/level1_network/graph/transform.hpp"
#include "d5/onnx/file.hpp"
#include "d5/onnx/opset_conversion.hpp"

namespace d5::transform {
namespace {

struct OpsetOptions {
  std::int64_t version = onnx::kNewestOpset;
  void declare(OptionList& options) {
    options.add("version", version, "opset version of ai.onnx",
                {.least = 1, .most = onnx::kNewestOpset});
  }
};

/// Parameters and updated constants stay so, with their values.
class Opset final : public Transform {
 public:
  using Options = OpsetOptions;
  explicit Opset(const Options& options) : version_(int(options.version)) {}

  TransformReport apply(Network& network) const override {
    const auto& imports = network.model().opset_imports;
    const auto before = imports.find("");
    if (before == imports.end() || before->second == version_) return {};
    TransformReport report{fmt::format("converted from opset {} to {}", before->second, version_)};
    network.rewrite(onnx::in_opset(network.model(), version_));
    return report;
  }

 private:
  int version_;
};

}  // namespace

void register_opset(Registry<TransformEntry>& registry) {
  registry.add("opset", TransformEntry::of<Opset>(
                            "opset conversion: replaces operators by those of a newer opset"));
}

}  // namespace d5::transform
