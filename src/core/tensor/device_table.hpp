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

/// Kinds of devices of plug-ins.
///
/// Thread safety: all functions. Entries are never removed: references stay valid.
class DeviceTable {
 public:
  DeviceKind add(const std::string& framework, std::string name,
                 std::shared_ptr<DeviceMemory> memory, std::optional<DeviceKind> kind);
  /// Null for an unknown kind.
  [[nodiscard]] DeviceMemory* memory(DeviceKind kind) const;
  [[nodiscard]] std::optional<DeviceKind> kind_of(std::string_view name) const;
  /// Empty for an unknown kind.
  [[nodiscard]] std::string name_of(DeviceKind kind) const;
  [[nodiscard]] std::vector<std::string> names() const;
  /// The devices of all kinds.
  [[nodiscard]] std::vector<DeviceInfo> devices() const;
  /// The default stream for copies; used under the lock `copying`.
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
