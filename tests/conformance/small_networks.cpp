// SPDX-License-Identifier: Apache-2.0
#include "conformance/small_networks.hpp"

#include <cmath>

#include "d5/core/tensor/random.hpp"

namespace d5::conformance {
namespace {

/// A network that grows node by node from its input "x".
class Chain {
 public:
  Chain(std::uint64_t seed, std::vector<std::int64_t> input) : network_("chain"), seed_(seed) {
    network_.add_input("x", DType::float32, {input.begin(), input.end()});
  }

  /// Normal numbers of variance 1 / `fan_in`.
  std::string weight(const Shape& shape, double fan_in) {
    const std::string name = "w" + std::to_string(weights_++);
    Tensor value = Tensor::empty(DType::float32, shape);
    RandomStream random(seed_, stream_of(name));
    for (float& w : value.span<float>()) {
      w = static_cast<float>(random.normal_double() / std::sqrt(fan_in));
    }
    network_.add_parameter(name, value);
    return name;
  }
  std::string constant(const std::string& name, const Tensor& value) {
    network_.add_constant(name, value);
    return name;
  }
  using Attributes = std::map<std::string, onnx::Attribute, std::less<>>;
  /// A node on the present value and `more`; its first output is the present value then.
  Chain& apply(const std::string& op, const std::vector<std::string>& more = {},
               const Attributes& attributes = {}, std::size_t outputs = 1) {
    std::vector<std::string> inputs{now_};
    inputs.insert(inputs.end(), more.begin(), more.end());
    now_ = "t" + std::to_string(nodes_++);
    std::vector<std::string> names{now_};
    for (std::size_t k = 1; k < outputs; ++k) names.push_back(now_ + "." + std::to_string(k));
    network_.add_node(op, inputs, names, attributes);
    return *this;
  }
  Chain& dense(std::int64_t in, std::int64_t out) {
    return apply("Gemm", {weight({in, out}, double(in)), weight({out}, 1)});
  }
  Chain& conv(std::int64_t in, std::int64_t out) {
    return apply("Conv", {weight({out, in, 3, 3}, double(9 * in)), weight({out}, 1)},
                 {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  }
  Chain& pool(const std::string& op) {
    const std::vector<std::int64_t> two{2, 2};
    return apply(op, {}, {{"kernel_shape", two}, {"strides", two}});
  }
  [[nodiscard]] const std::string& now() const { return now_; }

  /// "y" is the present value, "loss" the mean of its squares.
  Network finish() {
    network_.add_node("Identity", {now_}, {"y"});
    network_.add_node("Mul", {"y", "y"}, {"squares"});
    network_.add_node("ReduceMean", {"squares"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
    network_.add_output("y");
    network_.add_output("loss");
    return std::move(network_);
  }

 private:
  Network network_;
  std::uint64_t seed_;
  std::string now_ = "x";
  int nodes_ = 0, weights_ = 0;
};

Network wide(std::uint64_t seed) { return Chain(seed, {4, 4096}).dense(4096, 16).finish(); }

Network deep(std::uint64_t seed) {
  Chain net(seed, {8, 32});
  for (int i = 0; i < 40; ++i) net.dense(32, 32).apply("Tanh");
  return net.finish();
}

Network rectified(std::uint64_t seed) {
  Chain net(seed, {16, 128});
  for (int i = 0; i < 6; ++i) net.dense(128, 128).apply("Relu");
  return net.finish();
}

Network residual(std::uint64_t seed) {
  Chain net(seed, {8, 64});
  for (int i = 0; i < 8; ++i) {
    const std::string skip = net.now();
    net.dense(64, 64).apply("Relu").dense(64, 64).apply("Add", {skip});
  }
  return net.finish();
}

Network convolutional(std::uint64_t seed) {
  return Chain(seed, {2, 3, 16, 16})
      .conv(3, 16)
      .apply("Relu")
      .pool("MaxPool")
      .conv(16, 32)
      .apply("Relu")
      .pool("MaxPool")
      .apply("Flatten")
      .dense(512, 10)
      .finish();
}

Network averaged(std::uint64_t seed) {
  return Chain(seed, {2, 3, 16, 16})
      .conv(3, 8)
      .apply("Sigmoid")
      .pool("AveragePool")
      .conv(8, 8)
      .apply("Sigmoid")
      .apply("GlobalAveragePool")
      .finish();
}

/// Normalised over the batch, as in training: the bias before it has the gradient 0.
Network normalised(std::uint64_t seed) {
  Chain net(seed, {4, 3, 8, 8});
  for (const std::int64_t in : {3, 8, 8}) {
    const auto ones = Tensor::vector(std::vector<float>(8, 1));
    const std::string prefix = "norm" + net.now();
    net.conv(in, 8).apply("BatchNormalization",
                          {net.weight({8}, 1), net.weight({8}, 1),
                           net.constant(prefix + ".mean", Tensor::zeros(DType::float32, {8})),
                           net.constant(prefix + ".variance", ones)},
                          {{"training_mode", std::int64_t{1}}}, 3);
    net.apply("Relu");
  }
  return net.apply("GlobalAveragePool").finish();
}

Network attention(std::uint64_t seed) {
  constexpr std::int64_t kWidth = 32;
  Chain net(seed, {24, kWidth});
  net.apply("LayerNormalization", {net.weight({kWidth}, 1), net.weight({kWidth}, 1)});
  const std::string x = net.now();
  const std::string key = net.apply("MatMul", {net.weight({kWidth, kWidth}, kWidth)})
                              .apply("Transpose", {}, {{"perm", std::vector<std::int64_t>{1, 0}}})
                              .now();
  net.apply("Transpose", {}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  return net.apply("MatMul", {net.weight({kWidth, kWidth}, kWidth)})
      .apply("MatMul", {key})
      .apply("Softmax")
      .apply("MatMul", {x})
      .finish();
}

Network recurrent(std::uint64_t seed) {
  Chain net(seed, {12, 4, 16});
  return net
      .apply("LSTM", {net.weight({1, 96, 16}, 16), net.weight({1, 96, 24}, 24)},
             {{"hidden_size", std::int64_t{24}}})
      .finish();
}

/// Exponentials, and a softmax that is subtracted from its own mean.
Network cancelling(std::uint64_t seed) {
  Chain net(seed, {8, 64});
  net.dense(64, 64).apply("Exp").apply("Log").apply("LogSoftmax");
  const std::string all = net.now();
  net.apply("ReduceMean").apply("Neg").apply("Add", {all});
  return net.apply("Exp").finish();
}

}  // namespace

const std::vector<SmallNetwork>& small_networks() {
  static const std::vector<SmallNetwork> all = {{"wide", wide},
                                                {"deep", deep},
                                                {"rectified", rectified},
                                                {"residual", residual},
                                                {"convolutional", convolutional},
                                                {"averaged", averaged},
                                                {"normalised", normalised},
                                                {"attention", attention},
                                                {"recurrent", recurrent},
                                                {"cancelling", cancelling}};
  return all;
}

}  // namespace d5::conformance
