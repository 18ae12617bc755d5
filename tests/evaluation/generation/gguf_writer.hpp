// SPDX-License-Identifier: Apache-2.0
// Small GGUF files, written as docs/gguf.md of ggml describes them.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "d5/core/tensor/small_float.hpp"

namespace d5::testing {

template <class T>
std::string raw_bytes(T number) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &number, sizeof(T));
  return bytes;
}
inline std::string raw_text(std::string_view text) {
  return raw_bytes(std::uint64_t(text.size())) + std::string(text);
}
inline std::string raw_half(float number) { return raw_bytes(std::uint16_t(Float16(number).bits)); }

/// Metadata and tensors of a file, in order.
class GgufWriter {
 public:
  void set(const std::string& key, std::uint32_t number) { add(key, 4, raw_bytes(number)); }
  void set(const std::string& key, float number) { add(key, 6, raw_bytes(number)); }
  void set(const std::string& key, bool value) { add(key, 7, raw_bytes(std::uint8_t(value))); }
  void set(const std::string& key, const char* text) { add(key, 8, raw_text(text)); }
  void set(const std::string& key, const std::vector<std::string>& texts) {
    std::string bytes = raw_bytes(std::uint32_t(8)) + raw_bytes(std::uint64_t(texts.size()));
    for (const std::string& text : texts) bytes += raw_text(text);
    add(key, 9, bytes);
  }
  void set(const std::string& key, const std::vector<std::int32_t>& numbers) {
    std::string bytes = raw_bytes(std::uint32_t(5)) + raw_bytes(std::uint64_t(numbers.size()));
    for (const std::int32_t number : numbers) bytes += raw_bytes(number);
    add(key, 9, bytes);
  }
  /// `sizes`: the first changes fastest, as in the file.
  void add_tensor(const std::string& name, const std::vector<std::uint64_t>& sizes,
                  std::uint32_t type, const std::string& bytes) {
    heads_ += raw_text(name) + raw_bytes(std::uint32_t(sizes.size()));
    for (const std::uint64_t size : sizes) heads_ += raw_bytes(size);
    heads_ += raw_bytes(type) + raw_bytes(std::uint64_t(data_.size()));
    data_ += bytes;
    pad(data_);
    ++tensors_;
  }
  void add_floats(const std::string& name, const std::vector<std::uint64_t>& sizes,
                  const std::vector<float>& numbers) {
    std::string bytes;
    for (const float number : numbers) bytes += raw_bytes(number);
    add_tensor(name, sizes, 0, bytes);
  }

  [[nodiscard]] std::string file() const {
    std::string bytes = "GGUF" + raw_bytes(std::uint32_t(3)) + raw_bytes(tensors_) +
                        raw_bytes(entries_) + metadata_ + heads_;
    pad(bytes);
    return bytes + data_;
  }

 private:
  void add(const std::string& key, std::uint32_t kind, const std::string& value) {
    metadata_ += raw_text(key) + raw_bytes(kind) + value;
    ++entries_;
  }
  static void pad(std::string& bytes) { bytes.resize((bytes.size() + 31) / 32 * 32); }

  std::string metadata_, heads_, data_;
  std::uint64_t entries_ = 0, tensors_ = 0;
};

}  // namespace d5::testing
