// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/device_table.hpp"

#include <fmt/format.h>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

constexpr int kFirstOwnKind = 1000;  // smaller numbers are DLPack's

}  // namespace

DeviceKind DeviceTable::add(const std::string& framework, std::string name,
                            std::shared_ptr<DeviceMemory> memory, std::optional<DeviceKind> kind) {
  if (!memory) throw ValueError(fmt::format("device '{}' has no memory", printable(name)));
  const std::lock_guard lock(mutex_);
  int next = kFirstOwnKind;
  for (const auto& [other, entry] : entries_) {
    if (entry.name == name || (kind && other == *kind)) {
      throw ValueError(fmt::format("device '{}' of framework '{}' exists already, from '{}'",
                                   printable(name), printable(framework), entry.framework));
    }
    next = std::max(next, int(other) + 1);
  }
  if (name == "cpu" || (kind && *kind == DeviceKind::cpu)) throw_duplicate_name("device", name);
  const DeviceKind result = kind.value_or(DeviceKind(next));
  entries_[result] = {std::move(name), framework, std::move(memory)};
  return result;
}

DeviceMemory* DeviceTable::memory(DeviceKind kind) const {
  const std::lock_guard lock(mutex_);
  const auto place = entries_.find(kind);
  return place == entries_.end() ? nullptr : place->second.memory.get();
}

std::optional<DeviceKind> DeviceTable::kind_of(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [kind, entry] : entries_) {
    if (entry.name == name) return kind;
  }
  return std::nullopt;
}

std::string DeviceTable::name_of(DeviceKind kind) const {
  const std::lock_guard lock(mutex_);
  const auto place = entries_.find(kind);
  return place == entries_.end() ? std::string() : place->second.name;
}

std::vector<std::string> DeviceTable::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> result;
  for (const auto& [_, entry] : entries_) result.push_back(entry.name);
  return result;
}

std::vector<DeviceInfo> DeviceTable::devices() const {
  const std::lock_guard lock(mutex_);
  std::vector<DeviceInfo> result;
  for (const auto& [kind, entry] : entries_) {
    for (DeviceInfo& info : entry.memory->devices()) {
      info.device.kind = kind;
      result.push_back(std::move(info));
    }
  }
  return result;
}

Stream& DeviceTable::copy_stream(Device device) {
  DeviceMemory& memory = device_memory(device);
  const std::lock_guard lock(mutex_);
  auto& stream = copy_streams_[{device.kind, device.index}];
  if (!stream) stream = memory.make_stream(device.index);
  return *stream;
}

DeviceTable& device_table() {
  // Never destroyed: devices outlive every static object that holds tensors on them.
  static auto& table = *new DeviceTable;
  return table;
}

}  // namespace d5::detail
