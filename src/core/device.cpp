// SPDX-License-Identifier: Apache-2.0
#include "d5/core/device.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/cuda_driver.hpp"
#include "core/machine.hpp"
#include "d5/core/error.hpp"
#include "d5/core/registry.hpp"

namespace d5 {
namespace {

DeviceInfo cpu() {
  const auto& machine = detail::machine();
  DeviceInfo result{.present = true, .memory_bytes = machine.memory_bytes};
  result.description = fmt::format("{}, {} cores", machine.cpu, machine.cores);
  const auto add_cache = [&](const char* name, double bytes) {
    if (bytes >= 1 << 20)
      result.description += fmt::format(", {} {:.3g} MiB", name, bytes / (1 << 20));
    if (bytes > 0 && bytes < 1 << 20) {
      result.description += fmt::format(", {} {:.3g} KiB", name, bytes / (1 << 10));
    }
  };
  add_cache("L1", machine.l1_bytes);
  add_cache("L2", machine.l2_bytes);
  add_cache("L3", machine.l3_bytes);
  return result;
}

}  // namespace

std::string to_string(Device device) {
  if (device.kind == DeviceKind::cpu) return "cpu";
  return fmt::format("cuda:{}", device.index);
}

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> result{cpu()};
  for (auto& info : detail::cuda_devices()) result.push_back(std::move(info));
  return result;
}

Device device_from_name(std::string_view name) {
  const auto colon = name.find(':');
  const std::string_view kind = name.substr(0, colon);
  Device device;
  if (kind == "cuda") {
    device.kind = DeviceKind::cuda;
  } else if (kind != "cpu") {
    throw_unknown_name("device", name, {"cpu", "cuda", "cuda:0"});
  }
  if (colon != std::string_view::npos) {
    const std::string_view index = name.substr(colon + 1);
    const auto [end, error] =
        std::from_chars(index.data(), index.data() + index.size(), device.index);
    if (error != std::errc{} || end != index.data() + index.size() || device.index < 0) {
      throw_unknown_name("device", name, {"cpu", "cuda", "cuda:0"});
    }
  }
  std::string reason = fmt::format("there is no device {} of this kind", device.index);
  for (const auto& info : devices()) {
    if (info.device.kind != device.kind) continue;
    if (info.present && info.device == device) return device;
    if (!info.present) reason = info.reason;
  }
  throw Unsupported(fmt::format("device '{}' is absent: {}", printable(name), reason));
}

}  // namespace d5
