// SPDX-License-Identifier: Apache-2.0
// Folds the scale and shift of a batch normalization into the convolution before it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/tensor/float64.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/operator/tensor_conversion.hpp"
#include "level1_network/graph/graph_links.hpp"
#include "level1_network/graph/parameter_layout.hpp"

namespace d5::transform {
namespace {

using Conv = onnx::nodes::Conv;
using Norm = onnx::nodes::BatchNormalization;

/// y = scale (conv(x, w) + b - mean) / sqrt(variance + epsilon) + shift is conv(x, f w) + f (b -
/// mean) + shift, with f = scale / sqrt(variance + epsilon), one per channel. Computed in float64,
/// rounded once.
///
/// Parameters change, which is why it has `Keeps::outputs`. The new ones are parameters if the
/// convolution's were.
class FoldBatchNorm final : public Transform {
 public:
  Keeps keeps() const override { return Keeps::outputs; }

  TransformReport apply(Network& network) const override {
    TransformReport report;
    Splice change;
    std::set<std::string> values;  // values that may have lost their last reader
    const GraphLinks links(network);
    for (const auto& node : network.graph().nodes) {
      if (node.op_type != Norm::kName || node.domain != Norm::kDomain) continue;
      const onnx::Node* conv = links.writer(node.inputs.front());
      if (const std::string reason = obstacle(network, links, node, conv); !reason.empty()) {
        report.left.push_back(fmt::format("{}: {}", onnx::describe(node), reason));
        continue;
      }
      fold(network, *conv, node, change);
      for (const auto* part : {conv, &node})
        values.insert(part->inputs.begin(), part->inputs.end());
    }
    if (change.nodes.empty()) return report;
    report.what = fmt::format("folded {} BatchNormalization into Conv", change.nodes.size());
    network.splice(std::move(change));
    remove_unread_values(network, values);
    return report;
  }

 private:
  /// The reason why the normalization stays; empty if it can be folded.
  static std::string obstacle(const Network& network, const GraphLinks& links,
                              const onnx::Node& node, const onnx::Node* conv) {
    const Norm norm(node);
    const bool several = std::any_of(node.outputs.begin() + 1, node.outputs.end(),
                                     [](const auto& output) { return !output.empty(); });
    if (several || (node.opset >= 14 && norm.training_mode() != 0)) {
      return "it is in training mode";
    }
    if (node.opset < 9 && norm.spatial() == 0) return "spatial is 0";
    const std::string& x = node.inputs.front();
    if (!conv || conv->op_type != Conv::kName || conv->domain != Conv::kDomain) {
      return fmt::format("'{}' is not written by a Conv", printable(x));
    }
    if (links.leaves(x)) return fmt::format("'{}' is an output too", printable(x));
    for (const auto* reader : links.readers(x)) {
      if (reader != &node) {
        return fmt::format("{} reads '{}' too", onnx::describe(*reader), printable(x));
      }
    }
    return unfit_value(network, *conv, node);
  }

  /// Reason why values cannot be folded.
  static std::string unfit_value(const Network& network, const onnx::Node& conv,
                                 const onnx::Node& node) {
    std::vector<std::string> names(conv.inputs.begin() + 1, conv.inputs.end());
    names.insert(names.end(), node.inputs.begin() + 1, node.inputs.end());
    for (const auto& name : names) {
      if (name.empty()) continue;  // no bias
      const Tensor* value = known_value(network, name);
      if (!value) return fmt::format("'{}' is computed, or updated by runs", printable(name));
      if (!may_be_trained(value->dtype()))
        return fmt::format("'{}' is not floating-point", printable(name));
    }
    const Tensor& weights = network.fetch(conv.inputs[Conv::In::W]);
    for (const auto& name : names) {
      const Tensor& value = network.fetch(name);
      if (weights.shape().rank() == 0 ||
          (&value != &weights && value.shape() != Shape{weights.shape()[0]})) {
        return fmt::format("'{}' is {}, and the weights are {}", printable(name),
                           to_string(value.shape()), to_string(weights.shape()));
      }
    }
    return "";
  }

  static void fold(const Network& network, const onnx::Node& conv, const onnx::Node& node,
                   Splice& change) {
    const auto of = [&](const onnx::Node& reader, std::size_t input) {
      return detail::to_float64(network.fetch(reader.inputs[input]));
    };
    Tensor weights = of(conv, Conv::In::W);
    const std::int64_t channels = weights.shape()[0];
    Tensor bias = conv.has_input(Conv::In::B) ? of(conv, Conv::In::B)
                                              : Tensor::zeros(DType::float64, {channels});
    const Tensor scale = of(node, Norm::In::scale), shift = of(node, Norm::In::B);
    const Tensor mean = of(node, 3), variance = of(node, 4);  // opsets name them differently
    const double epsilon = Norm(node).epsilon();
    const std::int64_t each = channels > 0 ? weights.elements() / channels : 0;
    for (std::int64_t c = 0; c < channels; ++c) {
      const double factor =
          scale.data<double>()[c] / std::sqrt(variance.data<double>()[c] + epsilon);
      double* w = weights.data<double>() + c * each;
      for (std::int64_t i = 0; i < each; ++i) w[i] *= factor;
      double& b = bias.data<double>()[c];
      b = (b - mean.data<double>()[c]) * factor + shift.data<double>()[c];
    }

    const std::string& output = node.outputs.front();
    onnx::Node folded = conv;
    folded.inputs.resize(3);
    folded.inputs[Conv::In::W] = network.unused_name(output + ".weight");
    folded.inputs[Conv::In::B] = network.unused_name(output + ".bias");
    folded.outputs = {output};
    const std::string& old = conv.inputs[Conv::In::W];
    const DType dtype = network.fetch(old).dtype();
    auto& values = network.is_parameter(old) ? change.parameters : change.constants;
    values[folded.inputs[Conv::In::W]] = detail::converted(weights, dtype);
    values[folded.inputs[Conv::In::B]] = detail::converted(bias, dtype);
    change.remove.push_back(conv.outputs.front());
    change.remove.push_back(output);
    change.nodes.push_back(std::move(folded));
  }
};

}  // namespace

void register_fold_batch_norm(Registry<TransformEntry>& registry) {
  registry.add("fold-batch-norm",
               TransformEntry::of<FoldBatchNorm>(
                   "folds BatchNormalization into the preceding Conv, for inference"));
}

}  // namespace d5::transform
