// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5::test {

inline constexpr std::int64_t kGroupedRows = 6;  ///< tokens in the caches

/// One com.microsoft GroupQueryAttention whose caches of `texts` texts are state: past_key and
/// past_value take over present_key and present_value. 2 heads of queries, 1 of keys, 16 elements.
inline Network grouped_cache(std::int64_t texts, DType dtype = DType::float32) {
  constexpr std::int64_t kSize = 16;
  Network network("grouped");
  network.add_input("query", dtype, {texts, "T", 2 * kSize});
  network.add_input("key", dtype, {texts, "T", kSize});
  network.add_input("value", dtype, {texts, "T", kSize});
  network.add_input("last", DType::int32, {texts});
  for (const char* name : {"past_key", "past_value"}) {
    network.add_constant(name, Tensor::zeros(dtype, {texts, 1, kGroupedRows, kSize}));
  }
  network.add_constant("rows", Tensor::scalar(std::int32_t(kGroupedRows)));
  onnx::Node node;
  node.name = "attend";
  node.op_type = "GroupQueryAttention";
  node.domain = "com.microsoft";
  node.inputs = {"query", "key", "value", "past_key", "past_value", "last", "rows"};
  node.outputs = {"y", "present_key", "present_value"};
  node.attributes = {{"num_heads", std::int64_t{2}}, {"kv_num_heads", std::int64_t{1}}};
  network.splice({.nodes = {node}});
  network.add_output("y");
  network.add_update("past_key", "present_key");
  network.add_update("past_value", "present_value");
  return network;
}

/// `count` new tokens of each text, after which text i holds lengths[i] of them.
inline ValueMap grouped_step(const std::vector<std::int32_t>& lengths, std::int64_t count,
                             float seed) {
  const auto texts = std::int64_t(lengths.size());
  ValueMap inputs;
  for (const auto& [name, size] :
       {std::pair("query", std::int64_t{32}), std::pair("key", std::int64_t{16}),
        std::pair("value", std::int64_t{16})}) {
    Tensor numbers = Tensor::empty(DType::float32, {texts, count, size});
    for (float& number : numbers.span<float>()) {
      seed = seed * 1.37F - float(int(seed * 1.37F)) + 0.1F;
      number = 2 * seed - 1;
    }
    inputs.emplace(name, numbers);
  }
  std::vector<std::int32_t> last;
  for (const std::int32_t length : lengths) last.push_back(length - 1);
  inputs.emplace("last", Tensor::vector(last));
  return inputs;
}

}  // namespace d5::test
