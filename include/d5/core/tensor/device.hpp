// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace d5 {

/// DLPack's numbers; those from 1000 on are d5's own, for devices that plug-ins bring (`add_device`
/// in device_memory.hpp).
enum class DeviceKind : int { cpu = 1, cuda = 2 };

/// Where memory is and work runs: "cpu", "cuda:1". The default is the host.
struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;
  auto operator<=>(const Device&) const = default;
};

[[nodiscard]] std::string to_string(Device device);
/// A kind that is not known yet is looked for in a framework's plug-in of that name.
/// Throws: NotFound for an unknown word, Unsupported with the reason for a device that is absent.
[[nodiscard]] Device device_from_name(std::string_view name);

/// What one device is, or why it is not there.
struct DeviceInfo {
  Device device = {};
  bool present = false;
  std::string reason = {};       ///< why it is absent; empty if present
  std::string description = {};  ///< "Intel Xeon ..., 2 cores, L2 1.2 MiB, L3 48 MiB"
  double memory_bytes = 0;
};

/// Every device that d5 and the loaded frameworks know of, the absent ones too.
[[nodiscard]] std::vector<DeviceInfo> devices();

}  // namespace d5
