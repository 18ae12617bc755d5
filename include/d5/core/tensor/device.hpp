// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace d5 {

/// Kinds of devices, with DLPack's numbers. Numbers from 1000 on are d5's own, for devices of
/// plug-ins (`add_device` in device_memory.hpp).
enum class DeviceKind : int { cpu = 1, cuda = 2 };

/// A device that holds memory and runs work: "cpu", "cuda:1". The default is the host.
struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;
  auto operator<=>(const Device&) const = default;
};

[[nodiscard]] std::string to_string(Device device);
/// Parses a device name. An unknown kind may load a framework's plug-in of that name. Throws:
/// NotFound for an unknown kind, Unsupported with the reason for an absent device.
[[nodiscard]] Device device_from_name(std::string_view name);

/// Description of a device, or the reason for its absence.
struct DeviceInfo {
  Device device = {};
  bool present = false;
  std::string reason = {};       ///< why it is absent; empty if present
  std::string description = {};  ///< "Intel Xeon ..., 2 cores, L2 1.2 MiB, L3 48 MiB"
  double memory_bytes = 0;
};

/// All devices of d5 and the loaded frameworks, including absent ones.
[[nodiscard]] std::vector<DeviceInfo> devices();

}  // namespace d5
