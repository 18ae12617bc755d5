// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "d5/core/files/atomic_file.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/onnx/file.hpp"

namespace d5::testing {

/// Writes an ONNX test folder of one data set.
inline void write_test_folder(const std::string& folder, const Network& network,
                              const ValueMap& inputs, const ValueMap& outputs) {
  const std::string data_set = folder + "/test_data_set_0";
  std::filesystem::create_directories(data_set);
  network.save(folder + "/model.onnx");
  const auto write = [&](const std::string& kind, const std::vector<std::string>& names,
                         const ValueMap& values) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      write_file(data_set + "/" + kind + "_" + std::to_string(i) + ".pb",
                 onnx::serialize_value(values.at(names[i]), names[i]));
    }
  };
  write("input", network.input_names(), inputs);
  write("output", network.output_names(), outputs);
}

/// For y = relu(x) with x = {-1, 2}, which gives {0, 2}; `expected` says so or does not.
inline void write_relu_folder(const std::string& folder, const std::vector<float>& expected) {
  Network network("relu");
  network.add_input("x", DType::float32, {std::int64_t{2}});
  network.add_node("Relu", {"x"}, {"y"});
  network.add_output("y");
  write_test_folder(folder, network, {{"x", Tensor::of<float>({2}, {-1, 2})}},
                    {{"y", Tensor::vector(expected)}});
}

}  // namespace d5::testing
