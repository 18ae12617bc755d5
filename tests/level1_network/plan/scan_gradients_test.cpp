// SPDX-License-Identifier: Apache-2.0
// Gradients through Scan, against differences in float64.
#include "tests/level1_network/subgraph_networks.hpp"

using namespace subgraphs;

TEST_CASE("Scan passes gradients along its axes and in its directions") {
  // Slices of p (axis 1, forward) and q (axis 0, backward); what it stacks lies along axis -1,
  // backward.
  const auto body = graph({"s", "a", "b"},
                          {node("Mul", {"a", "s"}, {"m"}), node("Add", {"m", "b"}, {"n"}),
                           node("Tanh", {"n"}, {"next"}), node("Mul", {"next", "w"}, {"out"})},
                          {"next", "out"});
  const ValueMap inputs = {{"s0", doubles({2}, 0.4, 0.3)},
                           {"p", doubles({2, 4}, -0.6, 0.25)},
                           {"q", doubles({4, 2}, 0.9, -0.2)},
                           {"w", doubles({2}, 0.5, 0.8)}};
  using Integers = std::vector<std::int64_t>;
  const auto scanned = network(inputs,
                               {node("Scan", {"s0", "p", "q"}, {"last", "all"},
                                     {{"body", body},
                                      {"num_scan_inputs", std::int64_t{2}},
                                      {"scan_input_axes", Integers{1, 0}},
                                      {"scan_input_directions", Integers{0, 1}},
                                      {"scan_output_axes", Integers{-1}},
                                      {"scan_output_directions", Integers{1}}}),
                                node("Mul", {"all", "p"}, {"mixed"})},
                               {"last", "mixed"});
  check_by_differences(scanned, inputs);
}

TEST_CASE("Scan of opset 8 passes gradients to each sample as far as its sequence goes") {
  const auto body = graph({"s", "a", "b"},
                          {node("Mul", {"a", "s"}, {"m"}), node("Add", {"m", "b"}, {"n"}),
                           node("Tanh", {"n"}, {"next"}), node("Mul", {"next", "w"}, {"out"})},
                          {"next", "out"});
  const ValueMap inputs = {{"lengths", Tensor::vector<std::int64_t>({2, 3})},
                           {"s0", doubles({2, 2}, 0.4, 0.3)},
                           {"p", doubles({2, 3, 2}, -0.6, 0.15)},
                           {"q", doubles({2, 3, 2}, 0.9, -0.1)},
                           {"w", doubles({2}, 0.5, 0.8)}};
  Node scan = node("Scan", {"lengths", "s0", "p", "q"}, {"last", "all"},
                   {{"body", body},
                    {"num_scan_inputs", std::int64_t{2}},
                    {"directions", std::vector<std::int64_t>{0, 1}}});
  d5::onnx::Model model = network(inputs, {}, {"p"}).model();
  model.graph.nodes.clear();
  scan.opset = 8;
  model.graph.nodes = {scan, node("Mul", {"all", "p"}, {"mixed"}),
                       node("ReduceSumSquare", {"mixed"}, {"a"}, {{"keepdims", std::int64_t{0}}}),
                       node("ReduceSumSquare", {"last"}, {"b"}, {{"keepdims", std::int64_t{0}}}),
                       node("Add", {"a", "b"}, {"loss"})};
  check_by_differences(d5::Network(model), inputs);
}

TEST_CASE("what is scanned without a gradient wanted may go through nodes that have none") {
  const auto body =
      graph({"s", "a"}, {node("Hardmax", {"a"}, {"hard"}), node("Mul", {"s", "hard"}, {"next"})},
            {"next"});
  const ValueMap inputs = {{"s0", doubles({1, 2}, 0.5, 1)}, {"a", doubles({3, 1, 2}, 0, 1)}};
  auto executor =
      d5::make_executor(network(inputs,
                                {node("Scan", {"s0", "a"}, {"y"},
                                      {{"body", body}, {"num_scan_inputs", std::int64_t{1}}})},
                                {"y"}),
                        {.gradients = {"s0"}});
  (void)executor->inference_and_backprop(inputs, "loss");
  CHECK(numbers(executor->gradient("s0")) == std::vector<double>{0, 3});
}
