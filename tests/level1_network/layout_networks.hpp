// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5::test {

inline Tensor random_tensor(const Shape& shape, std::uint32_t stream) {
  Tensor result = Tensor::empty(DType::float32, shape);
  RandomStream random(7, stream);
  for (float& value : result.span<float>()) value = random.normal();
  return result;
}

inline void add_conv(Network& network, const std::string& x, const std::string& y,
                     std::int64_t from, std::int64_t to) {
  network.add_parameter(y + ".w", random_tensor({to, from, 3, 3}, std::uint32_t(from)));
  network.add_parameter(y + ".b", random_tensor({to}, std::uint32_t(to)));
  network.add_node("Conv", {x, y + ".w", y + ".b"}, {y},
                   {{"pads", std::vector<std::int64_t>(4, 1)}});
}

/// Convolutions, and between them what may keep their layouts: of 2 images, 16 x 12 x 12, to "c3".
inline Network images() {
  Network network("layouts");
  network.add_input("x", DType::float32, {2, 16, 12, 12});
  add_conv(network, "x", "c1", 16, 32);
  network.add_node("Relu", {"c1"}, {"r1"});
  network.add_node("MaxPool", {"r1"}, {"p1"},
                   {{"kernel_shape", std::vector<std::int64_t>{2, 2}},
                    {"strides", std::vector<std::int64_t>{2, 2}}});
  add_conv(network, "p1", "c2", 32, 32);
  for (const auto* name : {"scale", "shift", "mean"}) {
    network.add_parameter(name, random_tensor({32}, 11));
  }
  Tensor variance = random_tensor({32}, 12);
  for (float& value : variance.span<float>()) value = value * value + 0.5f;
  network.add_parameter("variance", variance);
  network.add_node("BatchNormalization", {"c2", "scale", "shift", "mean", "variance"}, {"n2"});
  network.add_node("Add", {"n2", "p1"}, {"a2"});
  network.add_node("Concat", {"a2", "p1"}, {"k"}, {{"axis", std::int64_t{1}}});
  add_conv(network, "k", "c3", 64, 32);
  return network;
}

/// Input of `images`.
inline const ValueMap& fed() {
  static const ValueMap values{{"x", random_tensor({2, 16, 12, 12}, 1)}};
  return values;
}

inline Tensor by_reference(const Network& network, const std::string& output) {
  return make_executor(network.copy())->inference(fed()).at(output).tensor().copy();
}

inline void expect_close(const Tensor& got, const Tensor& expected) {
  REQUIRE(got.shape() == expected.shape());
  const auto ours = got.span<float>(), theirs = expected.span<float>();
  // Sums of some hundred products of order 1, three times one after another.
  for (std::size_t i = 0; i < ours.size(); ++i) {
    CHECK(ours[i] == Approx(theirs[i]).epsilon(1e-3).margin(5e-2));
  }
}

}  // namespace d5::test
