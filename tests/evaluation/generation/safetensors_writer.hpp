// SPDX-License-Identifier: Apache-2.0
// Small safetensors files, written as https://github.com/huggingface/safetensors describes them.
#pragma once

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "d5/core/tensor/small_float.hpp"

namespace d5::testing {

/// Numbers in the bytes of a type: "F32", "F16" or "BF16".
inline std::string float_bytes(std::span<const float> numbers, const std::string& type) {
  std::string bytes;
  const auto add = [&](auto number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
  };
  for (const float number : numbers) {
    if (type == "F16") {
      add(Float16(number));
    } else if (type == "BF16") {
      add(BFloat16(number));
    } else {
      add(number);
    }
  }
  return bytes;
}

/// Tensors of a file, in order.
class SafetensorsWriter {
 public:
  void add(const std::string& name, const std::string& type, const std::vector<std::int64_t>& shape,
           const std::string& bytes) {
    header[name] = {{"dtype", type},
                    {"shape", shape},
                    {"data_offsets", {data.size(), data.size() + bytes.size()}}};
    data += bytes;
  }
  void add_floats(const std::string& name, const std::vector<std::int64_t>& shape,
                  std::span<const float> numbers, const std::string& type = "F32") {
    add(name, type, shape, float_bytes(numbers, type));
  }
  [[nodiscard]] std::string file() const {
    const std::string text = header.dump();
    const auto length = std::uint64_t(text.size());
    return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + text + data;
  }

  nlohmann::json header = nlohmann::json::object();  ///< tests may let it lie
  std::string data;
};

}  // namespace d5::testing
