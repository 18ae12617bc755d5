// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "d5/level1_network/source/model_source.hpp"

/// Networks that between them hold what each transform looks for.
namespace d5::transformed {

using Ints = std::vector<std::int64_t>;

inline Tensor drawn(const Shape& shape, std::uint32_t stream, float middle = 0) {
  Tensor result = Tensor::empty(DType::float32, shape);
  RandomStream random(3, stream);
  for (float& value : result.span<float>()) value = middle + 0.3F * (2 * random.uniform() - 1);
  return result;
}

inline void add_loss(Network& network, const std::string& logits) {
  network.add_input("label", DType::int64, {"N"});
  network.add_node("SoftmaxCrossEntropyLoss", {logits, "label"}, {"loss"});
  network.add_output("loss");
}

inline void add_norm(Network& network, const std::string& name, std::int64_t channels,
                     const std::string& x, const std::string& y) {
  network.add_parameter(name + ".scale", drawn({channels}, 11, 1));
  network.add_parameter(name + ".shift", drawn({channels}, 12));
  network.add_constant(name + ".mean", drawn({channels}, 13));
  network.add_constant(name + ".variance", drawn({channels}, 14, 1));
  network.add_node("BatchNormalization",
                   {x, name + ".scale", name + ".shift", name + ".mean", name + ".variance"}, {y},
                   {}, name);
}

/// Convolutions with and without bias, each normalized, and Dropout.
inline Network normalized() {
  Network network("normalized");
  network.add_input("image", DType::float32,
                    {"N", std::int64_t{3}, std::int64_t{6}, std::int64_t{6}});
  network.add_parameter("w1", drawn({4, 3, 3, 3}, 1));
  network.add_parameter("w2", drawn({10, 4, 1, 1}, 2));
  network.add_parameter("b2", drawn({10}, 3));
  network.add_constant("ratio", Tensor::scalar(0.5F));
  network.add_node("Conv", {"image", "w1"}, {"c1"}, {{"pads", Ints{1, 1, 1, 1}}});
  add_norm(network, "norm1", 4, "c1", "n1");
  network.add_node("Relu", {"n1"}, {"r1"});
  network.add_node("Dropout", {"r1", "ratio"}, {"d1"});
  network.add_node("Conv", {"d1", "w2", "b2"}, {"c2"});
  add_norm(network, "norm2", 10, "c2", "n2");
  network.add_node("GlobalAveragePool", {"n2"}, {"pooled"});
  network.add_node("Flatten", {"pooled"}, {"flat"});
  network.add_node("Dropout", {"flat"}, {"logits"});
  network.add_output("logits");
  add_loss(network, "logits");
  return network;
}

/// A network with nodes that are computed twice, unused, or from constants.
inline Network redundant() {
  Network network("redundant");
  network.add_input("x", DType::float32, {"N", std::int64_t{4}});
  network.add_parameter("w", drawn({10, 4}, 1));
  network.add_parameter("same_w", drawn({10, 4}, 1));  // trained apart
  network.add_parameter("unread", drawn({5}, 2));
  network.add_constant("two", Tensor::scalar(2.0F));
  network.add_constant("also_two", Tensor::scalar(2.0F));
  network.add_node("Gemm", {"x", "w"}, {"a"}, {{"transB", std::int64_t{1}}});
  network.add_node("Gemm", {"x", "w"}, {"b"}, {{"transB", std::int64_t{1}}});
  network.add_node("Gemm", {"x", "same_w"}, {"c"}, {{"transB", std::int64_t{1}}});
  network.add_node("Exp", {"a"}, {"nobody_reads"});
  network.add_node("Mul", {"a", "two"}, {"a2"});
  network.add_node("Mul", {"b", "also_two"}, {"b2"});
  network.add_node("Constant", {}, {"half"}, {{"value_float", 0.5F}});
  network.add_node("Mul", {"half", "two"}, {"one"});
  network.add_node("Sub", {"b2", "one"}, {"b3"});
  network.add_node("Sum", {"a2", "b3", "c"}, {"logits"});
  network.add_node("Mul", {"two", "half"}, {"an_output"});  // depends on constants alone
  for (const char* output : {"logits", "a", "b", "an_output"}) network.add_output(output);
  add_loss(network, "logits");
  return network;
}

/// A graph that captures one of two nodes that compute the same, and a constant.
inline Network branching() {
  const auto branch = [](const std::string& op_type, const std::string& output) {
    auto graph = std::make_shared<onnx::Graph>();
    graph->name = output;
    onnx::Node& node = graph->nodes.emplace_back();
    node.op_type = op_type;
    node.opset = 22;
    node.inputs = {"b", "c"};
    node.outputs = {output};
    graph->outputs = {{output, {}}};
    return std::shared_ptr<const onnx::Graph>(graph);
  };
  Network network("branching");
  network.add_input("x", DType::float32, {"N", std::int64_t{10}});
  network.add_parameter("w", drawn({10}, 1));
  network.add_constant("zero", Tensor::scalar(0.0F));
  network.add_constant("log", Tensor::scalar(0.7F));
  network.add_node("Exp", {"log"}, {"c"});
  network.add_node("Mul", {"x", "w"}, {"a"});
  network.add_node("Mul", {"x", "w"}, {"b"});
  network.add_node("ReduceSum", {"x"}, {"sum"}, {{"keepdims", std::int64_t{0}}});
  network.add_node("Greater", {"sum", "zero"}, {"positive"});
  network.add_node("If", {"positive"}, {"z"},
                   {{"then_branch", branch("Mul", "t")}, {"else_branch", branch("Add", "e")}});
  network.add_node("Add", {"z", "a"}, {"logits"});
  network.add_output("logits");
  add_loss(network, "logits");
  return network;
}

/// Images as NHWC, with a Transpose on each side of every convolution.
inline Network channels_last() {
  Network network("channels_last");
  network.add_input("image", DType::float32,
                    {"N", std::int64_t{6}, std::int64_t{6}, std::int64_t{3}});
  network.add_parameter("w1", drawn({4, 3, 3, 3}, 1));
  network.add_parameter("bias", drawn({4}, 2));
  network.add_parameter("w2", drawn({10, 4, 1, 1}, 3));
  network.add_constant("two", Tensor::scalar(2.0F));
  const auto transpose = [&](const char* from, const char* to, const Ints& perm) {
    network.add_node("Transpose", {from}, {to}, {{"perm", perm}});
  };
  const Ints to_first{0, 3, 1, 2}, to_last{0, 2, 3, 1};
  transpose("image", "x1", to_first);
  network.add_node("Conv", {"x1", "w1"}, {"c1"});
  transpose("c1", "y1", to_last);
  network.add_node("Add", {"y1", "bias"}, {"b1"});
  network.add_node("Relu", {"b1"}, {"r1"});
  network.add_node("Mul", {"r1", "two"}, {"m1"});
  transpose("m1", "x2", to_first);
  network.add_node("Conv", {"x2", "w2"}, {"c2"});
  transpose("c2", "y2", to_last);
  network.add_node("Sigmoid", {"y2"}, {"s2"});
  network.add_constant("axes", Tensor::vector<std::int64_t>({1, 2}));
  network.add_node("ReduceMean", {"s2", "axes"}, {"logits"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("s2");
  add_loss(network, "logits");
  return network;
}

/// Residuals: a sum with what the convolution read, one of two convolutions, and one that
/// broadcasts.
inline Network residual() {
  Network network("residual");
  network.add_input("image", DType::float32,
                    {"N", std::int64_t{4}, std::int64_t{6}, std::int64_t{6}});
  for (const char* name : {"w1", "w2", "w3"}) {
    network.add_parameter(name, drawn({4, 4, 3, 3}, std::uint32_t(name[1])));
  }
  network.add_parameter("w4", drawn({10, 4, 1, 1}, 4));
  network.add_parameter("b1", drawn({4}, 5));
  network.add_parameter("shift", drawn({10, 1, 1}, 6));
  const Ints pads{1, 1, 1, 1};
  network.add_node("Conv", {"image", "w1", "b1"}, {"c1"}, {{"pads", pads}});
  network.add_node("Add", {"image", "c1"}, {"s1"});
  network.add_node("Relu", {"s1"}, {"r1"}, {}, "first");
  network.add_node("Conv", {"r1", "w2"}, {"c2"}, {{"pads", pads}});
  network.add_node("Conv", {"r1", "w3"}, {"c3"}, {{"pads", pads}});
  network.add_node("Add", {"c2", "c3"}, {"s2"});
  network.add_node("Tanh", {"s2"}, {"r2"}, {}, "second");
  network.add_node("Conv", {"r2", "w4"}, {"c4"});
  network.add_node("Add", {"c4", "shift"}, {"s3"});
  network.add_node("Relu", {"s3"}, {"r3"}, {}, "third");
  network.add_node("GlobalAveragePool", {"r3"}, {"pooled"});
  network.add_node("Flatten", {"pooled"}, {"logits"});
  network.add_output("logits");
  add_loss(network, "logits");
  return network;
}

inline Network with_loss(const std::string& model) {
  return models().at(model).make({{"with_loss", true}});
}

inline const std::vector<std::function<Network()>>& networks() {
  static const std::vector<std::function<Network()>> all = {
      [] { return with_loss("lenet"); }, normalized, redundant, branching, channels_last, residual};
  return all;
}

/// A network after a round trip through a file, which ONNX's checker may refuse.
inline Network written(const Network& network) {
  const std::string file = network.serialize();
  return Network::parse(std::as_bytes(std::span(file)), network.name());
}

/// The only record of a chain of one.
inline TransformReport applied(Network& network, const EntryChoice& choice) {
  return apply_transforms(network, {choice}).at(0).report;
}

}  // namespace d5::transformed
