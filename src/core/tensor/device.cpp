// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/device.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/machine/machine.hpp"
#include "core/tensor/device_table.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"

namespace d5 {
namespace {

DeviceInfo cpu() {
  const auto& machine = detail::machine();
  DeviceInfo result{.present = true, .memory_bytes = machine.memory_bytes};
  result.description = fmt::format("{}, {} cores", machine.cpu, machine.cores);
  const auto add_cache = [&](const char* name, double bytes) {
    if (bytes > 0) result.description += fmt::format(", {} {}", name, memory_size(bytes));
  };
  add_cache("L1", machine.l1_bytes);
  add_cache("L2", machine.l2_bytes);
  add_cache("L3", machine.l3_bytes);
  return result;
}

/// Loads the framework called `kind`, if there is one, because it may provide the device.
void look_for(std::string_view kind) {
  for (const auto& info : frameworks()) {
    if (info.name == kind && !info.loaded) (void)framework(kind);
  }
}

[[noreturn]] void throw_unknown_device(std::string_view name) {
  std::vector<std::string> known = {"cpu", "cuda", "cuda:0"};
  for (auto& own : detail::device_table().names()) known.push_back(std::move(own));
  const bool is_gpu = name.substr(0, name.find(':')) == "gpu";
  throw_unknown_name("device", name, known,
                     is_gpu ? std::vector<std::string>{"cuda"} : std::vector<std::string>{});
}

DeviceKind kind_of(std::string_view word, std::string_view name) {
  if (word == "cpu") return DeviceKind::cpu;
  if (!detail::device_table().kind_of(word)) look_for(word);
  if (const auto own = detail::device_table().kind_of(word)) return *own;
  if (word == "cuda") return DeviceKind::cuda;
  throw_unknown_device(name);
}

int index_of(std::string_view text, std::string_view name) {
  int index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc{} || end != text.data() + text.size() || index < 0) {
    throw_unknown_device(name);
  }
  return index;
}

}  // namespace

std::string to_string(Device device) {
  if (device == Device{}) return "cpu";
  std::string kind = detail::device_table().name_of(device.kind);
  if (kind.empty()) {
    kind = device.kind == DeviceKind::cuda ? "cuda" : fmt::format("device {}", int(device.kind));
  }
  return fmt::format("{}:{}", kind, device.index);
}

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> result{cpu()};
  if (!detail::device_table().memory(DeviceKind::cuda)) look_for("cuda");
  if (!detail::device_table().memory(DeviceKind::cuda)) {
    result.push_back({.device = {DeviceKind::cuda, 0},
                      .present = false,
                      .reason = "no plug-in provides it (D5_PLUGIN_PATH)"});
  }
  for (auto& info : detail::device_table().devices()) result.push_back(std::move(info));
  return result;
}

Device device_from_name(std::string_view name) {
  const auto colon = name.find(':');
  Device device{.kind = kind_of(name.substr(0, colon), name)};
  if (colon != std::string_view::npos) device.index = index_of(name.substr(colon + 1), name);
  std::string reason = fmt::format("there is no device {} of this kind", device.index);
  for (const auto& info : devices()) {
    if (info.device.kind != device.kind) continue;
    if (info.present && info.device == device) return device;
    if (!info.present) reason = info.reason;
  }
  throw Unsupported(fmt::format("device '{}' is absent: {}", printable(name), reason));
}

}  // namespace d5
