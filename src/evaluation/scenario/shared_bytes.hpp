// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

/// Values one after another in their memory layout, for another process of the same program.
class ByteWriter {
 public:
  template <class T>
  void one(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  /// Writes anything with data() and size().
  template <class Values>
  void all(const Values& values) {
    static_assert(std::is_trivially_copyable_v<std::remove_cvref_t<decltype(*values.data())>>);
    one(std::size_t(values.size()));
    bytes.append(reinterpret_cast<const char*>(values.data()),
                 values.size() * sizeof(*values.data()));
  }

  std::string bytes = {};
};

/// Reads them in the same order. Throws: IoError if they end early.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }
  template <class T>
  void one(T& value) {
    take(&value, sizeof value);
  }
  template <class Values>
  void all(Values& values) {
    std::size_t count = 0;
    one(count);
    if (count > bytes_.size()) throw cut_short();
    values.resize(count);
    take(values.data(), count * sizeof(*values.data()));
  }

 private:
  static IoError cut_short() { return IoError("records of a process of its own are cut short"); }
  void take(void* to, std::size_t count) {
    if (count > bytes_.size()) throw cut_short();
    if (count > 0) std::memcpy(to, bytes_.data(), count);
    bytes_.remove_prefix(count);
  }
  std::string_view bytes_;
};

/// Bytes that a process leaves for its parent; kept in memory. Throws: IoError.
class SharedBytes {
 public:
  SharedBytes();
  ~SharedBytes();
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;
  /// Replaces the former bytes.
  void write(std::string_view bytes);
  [[nodiscard]] std::string read() const;

 private:
  int file_ = -1;
};

}  // namespace d5::detail
