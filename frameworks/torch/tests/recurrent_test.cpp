// SPDX-License-Identifier: Apache-2.0
// Compares the reference's RNN, GRU and LSTM with LibTorch's own: outputs and gradients, in
// float64.
#include <ATen/ops/allclose.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/gru.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/rnn_relu.h>
#include <ATen/ops/rnn_tanh.h>
#include <ATen/ops/stack.h>

#include <catch2/catch.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "d5/core/entries/framework.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"

using namespace d5;

namespace {

using Tensors = std::vector<at::Tensor>;
enum Input { kX, kW, kR, kB, kLengths, kH, kC };

at::Tensor view(const Tensor& tensor) {
  const auto dims = tensor.shape().dims();
  return at::from_blob(const_cast<void*>(tensor.raw()), {dims.data(), dims.size()}, at::kDouble);
}
Tensor copy_of(const at::Tensor& tensor, const Shape& shape) {
  const at::Tensor dense = tensor.contiguous();
  return Tensor::of<double>(shape, {dense.const_data_ptr<double>(), std::size_t(dense.numel())});
}

/// The gates of one direction, stacked in torch's order.
at::Tensor reordered(const at::Tensor& gates, const std::vector<std::size_t>& order) {
  const Tensors blocks = gates.chunk(std::int64_t(order.size()), 0);
  Tensors result;
  for (const std::size_t i : order) result.push_back(blocks[i]);
  return at::cat(result, 0);
}

/// Torch's results for ONNX's inputs: Y, Y_h and, for LSTM, Y_c.
Tensors torch_results(const std::string& function, const Tensors& in) {
  const std::vector<std::size_t> order = function == "lstm"  ? std::vector<std::size_t>{0, 2, 3, 1}
                                         : function == "gru" ? std::vector<std::size_t>{1, 0, 2}
                                                             : std::vector<std::size_t>{0};
  const std::int64_t directions = in[kW].size(0);
  Tensors weights;
  for (std::int64_t d = 0; d < directions; ++d) {
    const Tensors biases = in[kB][d].chunk(2, 0);
    for (const at::Tensor& one : {in[kW][d], in[kR][d], biases[0], biases[1]}) {
      weights.push_back(reordered(one, order));
    }
  }
  const bool both = directions == 2;
  Tensors results;
  const auto keep = [&](auto tuple) {
    std::apply([&](auto... each) { results = {each...}; }, tuple);
  };
  if (function == "lstm") {
    keep(at::lstm(in[kX], {in[kH], in[kC]}, weights, true, 1, 0, true, both, false));
  } else if (function == "gru") {
    keep(at::gru(in[kX], in[kH], weights, true, 1, 0, true, both, false));
  } else if (function == "rnn_relu") {
    keep(at::rnn_relu(in[kX], in[kH], weights, true, 1, 0, true, both, false));
  } else {
    keep(at::rnn_tanh(in[kX], in[kH], weights, true, 1, 0, true, both, false));
  }
  const auto sizes = in[kX].sizes();
  results[0] = results[0].view({sizes[0], sizes[1], directions, -1}).transpose(1, 2);
  return results;
}

// REQUIRE, because torch defines its own CHECK.
void compare(const std::string& function, const std::string& line) {
  INFO(line);
  const OperatorCase one = parse_case(line, 1);
  OperatorRunner runner(framework("reference").part<OperatorRegistry>(), one.node, one.inputs,
                        Mode::training);
  Tensors inputs;
  for (const Value& input : one.inputs) {
    inputs.push_back(input.is_tensor() ? view(input.tensor()).clone().set_requires_grad(true)
                                       : at::Tensor());
  }
  const Tensors expected = torch_results(function, inputs);
  runner.forward();
  std::vector<Tensor> arriving;
  Tensors products;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const Tensor& output = runner.output(k).tensor();
    REQUIRE(at::allclose(view(output), expected[k].detach(), 1e-12, 1e-12));
    const at::Tensor direction = at::randn_like(expected[k].detach());
    arriving.push_back(copy_of(direction, output.shape()));
    products.push_back(at::dot(expected[k].flatten(), direction.flatten()));
  }
  at::stack(products).sum().backward();
  runner.backward(arriving);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) continue;
    INFO("gradient of input " << i);
    REQUIRE(at::allclose(view(runner.grad_input(i)), inputs[i].grad(), 1e-10, 1e-10));
  }
}

}  // namespace

TEST_CASE("the reference's recurrent layers and their gradients are LibTorch's") {
  const std::string x = " float64:5x3x4", h = " - float64:1x3x6", two = " - float64:2x3x6";
  const std::string rnn = x + " float64:1x6x4 float64:1x6x6 float64:1x12";
  const std::string rnns = x + " float64:2x6x4 float64:2x6x6 float64:2x12";
  compare("rnn_tanh", "RNN" + rnn + h + " outputs=2");
  compare("rnn_relu", "RNN" + rnn + h + " activations=Relu outputs=2");
  compare("rnn_tanh", "RNN" + rnns + two + " direction=bidirectional outputs=2");
  const std::string gru = " linear_before_reset=1 outputs=2";
  compare("gru", "GRU" + x + " float64:1x18x4 float64:1x18x6 float64:1x36" + h + gru);
  compare("gru", "GRU" + x + " float64:2x18x4 float64:2x18x6 float64:2x36" + two + gru +
                     " direction=bidirectional");
  compare("lstm", "LSTM" + x + " float64:1x24x4 float64:1x24x6 float64:1x48" + h +
                      " float64:1x3x6 outputs=3");
  compare("lstm", "LSTM" + x + " float64:2x24x4 float64:2x24x6 float64:2x48" + two +
                      " float64:2x3x6 direction=bidirectional outputs=3");
}
