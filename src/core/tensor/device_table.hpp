// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tensor/device_memory.hpp"

namespace d5::detail {

/// The kinds of devices that plug-ins brought.
///
/// Thread safety: all functions. Entries stay: references into them may be kept.
class DeviceTable {
 public:
  DeviceKind add(const std::string& framework, std::string name,
                 std::shared_ptr<DeviceMemory> memory, std::optional<DeviceKind> kind);
  /// Null for a kind that nobody brought.
  [[nodiscard]] DeviceMemory* memory(DeviceKind kind) const;
  [[nodiscard]] std::optional<DeviceKind> kind_of(std::string_view name) const;
  /// Empty for a kind that nobody brought.
  [[nodiscard]] std::string name_of(DeviceKind kind) const;
  [[nodiscard]] std::vector<std::string> names() const;
  /// Those of every kind.
  [[nodiscard]] std::vector<DeviceInfo> devices() const;
  /// The stream of copies that nobody gave one for; used under `copying`.
  [[nodiscard]] Stream& copy_stream(Device device);
  std::mutex copying;

 private:
  struct Entry {
    std::string name, framework;
    std::shared_ptr<DeviceMemory> memory;
  };
  mutable std::mutex mutex_;
  std::map<DeviceKind, Entry> entries_;
  std::map<std::pair<DeviceKind, int>, std::unique_ptr<Stream>> copy_streams_;
};

[[nodiscard]] DeviceTable& device_table();

}  // namespace d5::detail
