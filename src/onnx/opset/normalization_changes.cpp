// SPDX-License-Identifier: Apache-2.0
// Changes of normalized axes, statistics and modes.
#include <fmt/format.h>

#include <cstdint>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/dtype.hpp"
#include "onnx/opset/opset_step.hpp"

namespace d5::onnx::detail {
namespace {

/// Until opset 12, all axes from `axis` on are normalized together; from 13 on only `axis`.
void convert_softmax(OpsetStep& step, Node node) {
  const std::int64_t axis = taken<std::int64_t>(node, "axis").value_or(1);
  node.attributes["axis"] = std::int64_t{-1};
  const std::string x = node.inputs.front(), y = node.outputs.front();
  const Type* type = step.type(x);
  const bool has_rank = type && type->has_shape;
  if (axis == -1 || (has_rank && axis == std::int64_t(type->dims.size()) - 1)) {
    return step.add(std::move(node));
  }
  const std::string shape = step.unused_name(y + ".shape"), rows = step.unused_name(y + ".rows");
  node.inputs.front() = rows;
  node.outputs.front() = step.unused_name(y + ".normalized");
  const std::string normalized = node.outputs.front();
  step.add("Shape", {x}, {shape});
  step.add("Flatten", {x}, {rows}, {{"axis", axis}});
  step.add(std::move(node));
  step.add("Reshape", {normalized, shape}, {y});
}

/// From opset 7 on, training is not an attribute of the node.
void drop_is_test(OpsetStep& step, Node node) {
  (void)taken<std::int64_t>(node, "is_test");
  step.add(std::move(node));
}

/// From opset 10 on the mask is boolean.
void convert_mask(OpsetStep& step, Node node) {
  if (!node.has_output(1) || !step.is_read(node.outputs[1])) {
    node.outputs.resize(1);
    return step.add(std::move(node));
  }
  const DType dtype = step.dtype(node, node.inputs.front());
  const std::string mask = node.outputs[1], as_bool = step.unused_name(mask + ".bool");
  node.outputs[1] = as_bool;
  step.add(std::move(node));
  step.add("Cast", {as_bool}, {mask}, {{"to", std::int64_t(dtype)}});
}

/// Without `spatial`, each element of a sample has its own statistics. BatchNormalization no longer
/// supports this from opset 9 on: y = (x - mean) / sqrt(variance + epsilon) * scale + b.
void convert_spatial(OpsetStep& step, Node node) {
  if (taken<std::int64_t>(node, "spatial").value_or(1) != 0) return step.add(std::move(node));
  const auto& in = node.inputs;
  for (std::size_t i = 1; i < in.size(); ++i) {
    if (step.rank(node, in[i]) + 1 == step.rank(node, in[0])) continue;
    refuse_conversion(node, "spatial is 0, and its numbers do not have the shape of a sample");
  }
  if (node.has_output(1)) refuse_conversion(node, "spatial is 0, and it trains");
  const float epsilon = taken<float>(node, "epsilon").value_or(1e-5F);
  Tensor constant;
  dispatch(FloatTypes{}, step.dtype(node, in[0]), describe(node),
           [&]<class T>() { constant = Tensor::scalar<T>(T(epsilon)); });
  const std::string& y = node.outputs.front();
  const auto name = [&](const char* what) { return step.unused_name(y + what); };
  const std::string centred = name(".centred"), moved = name(".variance"), root = name(".root"),
                    normal = name(".normal"), scaled = name(".scaled"),
                    bound = step.constant(y + ".epsilon", std::move(constant));
  step.add("Sub", {in[0], in[3]}, {centred});
  step.add("Add", {in[4], bound}, {moved});
  step.add("Sqrt", {moved}, {root});
  step.add("Div", {centred, root}, {normal});
  step.add("Mul", {normal, in[1]}, {scaled});
  step.add("Add", {scaled, in[2]}, {y});
}

/// Until opset 13, a node with more than one output trains. Then `training_mode` decides, and the
/// batch's statistics are no longer outputs.
void convert_training(OpsetStep& step, Node node) {
  for (std::size_t i = 3; i < node.outputs.size(); ++i) {
    if (!node.has_output(i) || !step.is_read(node.outputs[i])) continue;
    refuse_conversion(
        node,
        fmt::format(
            "its output '{}' is the batch's statistic, which is not an output from opset 14 on",
            printable(node.outputs[i])));
  }
  if (node.outputs.size() > 3) node.outputs.resize(3);
  if (node.has_output(1) || node.has_output(2)) {
    node.attributes["training_mode"] = std::int64_t{1};
  } else {
    node.outputs.resize(1);
  }
  step.add(std::move(node));
}

/// Scale and bias are per group until opset 20, then per channel: each is repeated.
void convert_groups(OpsetStep& step, Node node) {
  const auto* groups = node.attribute<std::int64_t>("num_groups");
  const Type* type = step.type(node.inputs.front());
  const auto* channels = type && type->has_shape && type->dims.size() > 1
                             ? std::get_if<std::int64_t>(&type->dims[1])
                             : nullptr;
  if (!groups || *groups < 1 || !channels) {
    refuse_conversion(node,
                      "the number of channels is unknown, and from opset 21 on each has a scale; "
                      "declare the shapes of all inputs");
  }
  using Integers = std::vector<std::int64_t>;
  const std::string& y = node.outputs.front();
  const std::string column = step.constant(y + ".column", Tensor::vector(Integers{-1, 1}));
  const std::string wide =
      step.constant(y + ".group", Tensor::vector(Integers{1, *channels / *groups}));
  const std::string all = step.constant(y + ".channels", Tensor::vector(Integers{-1}));
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    const std::string stem = fmt::format("{}.{}", y, i == 1 ? "scale" : "bias");
    const std::string a = step.unused_name(stem + ".column"), b = step.unused_name(stem + ".wide"),
                      c = step.unused_name(stem);
    step.add("Reshape", {node.inputs.at(i), column}, {a});
    step.add("Expand", {a, wide}, {b});
    step.add("Reshape", {b, all}, {c});
    node.inputs[i] = c;
  }
  if (type->dtype == DType::float64) node.attributes["stash_type"] = std::int64_t(type->dtype);
  step.add(std::move(node));
}

}  // namespace

OpsetChanges normalization_changes() {
  return {{7, {"BatchNormalization", "Dropout"}, drop_is_test},
          {9, {"BatchNormalization"}, convert_spatial},
          {10, {"Dropout"}, convert_mask},
          {13, {"Hardmax", "LogSoftmax", "Softmax"}, convert_softmax},
          {14, {"BatchNormalization"}, convert_training},
          {21, {"GroupNormalization"}, convert_groups}};
}

}  // namespace d5::onnx::detail
