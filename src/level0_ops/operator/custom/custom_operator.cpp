// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/custom_operator.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "level0_ops/operator/custom/c_operator.hpp"

namespace d5 {
namespace {

/// The present operator of a name.
struct Held {
  std::mutex mutex;
  OperatorRegistry::Make make;
  std::set<DeviceKind> devices = {};
};

OperatorRegistry::Make behind(std::shared_ptr<Held> held) {
  return [held = std::move(held)](const onnx::Node& node) {
    OperatorRegistry::Make make;
    {
      const std::lock_guard lock(held->mutex);
      make = held->make;
    }
    return make(node);
  };
}

/// Throws: ValueError for an operator of the reference, which would run in the custom one's place.
void expect_free(const std::string& name, const std::string& domain) {
  for (const auto& entry : framework("reference").part<OperatorRegistry>().list()) {
    if (entry.name != name || entry.domain != domain) continue;
    throw ValueError(fmt::format(
        "custom operator '{0}': d5 has an operator {0}, which would run in its place; give yours a "
        "domain of its own, or give a framework of yours a kernel of {0}",
        printable(name)));
  }
}

/// `devices` are those besides the host for which the operators' `plan` makes kernels.
void add(const std::string& name, const OperatorVersions& versions, OperatorRegistry::Make make,
         IfTaken if_taken, const std::vector<DeviceKind>& devices) {
  expect_free(name, versions.domain);
  static std::mutex mutex;
  static std::map<std::tuple<std::string, std::string, int>, std::shared_ptr<Held>> known;
  const std::lock_guard lock(mutex);
  const std::tuple key{versions.domain, name, versions.since};
  std::shared_ptr<Held> held = known.contains(key) ? known[key] : nullptr;
  if (!held || if_taken == IfTaken::refuse) {
    held = std::make_shared<Held>();
    held->make = std::move(make);
    custom_operators().add(name, versions, behind(held));
    known[key] = held;
  } else {
    const std::lock_guard held_lock(held->mutex);
    held->make = std::move(make);
  }
  for (const DeviceKind device : devices) {
    if (!held->devices.insert(device).second) continue;
    custom_operators().add_kernel(
        name, versions,
        [](PlanContext& context) { return custom_operators().make(context.node())->plan(context); },
        {}, device);
  }
}

std::vector<DeviceKind> devices_of(const d5_operator& op) {
  std::vector<DeviceKind> devices;
  if (op.device_kind > D5_CPU) devices.emplace_back(DeviceKind(op.device_kind));
  if (op.forward_cuda) devices.emplace_back(DeviceKind::cuda);
  return devices;
}

/// The library's table. Throws: Unsupported.
const d5_operator_table& table_in(void* library, const std::string& who) {
  using Entry = const d5_operator_table* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "d5_custom_operators"));
  const d5_operator_table* table = entry ? entry() : nullptr;
  if (table && table->abi_version == D5_ABI_VERSION) return *table;
  const std::string found = !entry   ? "exports no d5_custom_operators"
                            : !table ? "has no table of operators"
                                     : fmt::format("is of ABI version {}", table->abi_version);
  throw Unsupported(
      fmt::format("{}: the library {}, expected one built against d5/abi.h of version {}", who,
                  found, D5_ABI_VERSION));
}

std::vector<d5_operator> entries_of(const d5_operator_table& table, const std::string& who) {
  std::vector<d5_operator> entries(table.operator_count);
  const auto* bytes = reinterpret_cast<const std::byte*>(table.operators);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    d5_operator& op = entries[i];  // fields that the library lacks are null
    std::memcpy(&op, bytes + i * table.operator_size, std::min(sizeof op, table.operator_size));
    if (op.domain && op.name && op.infer && op.forward) continue;
    throw Unsupported(
        fmt::format("{}: operator {} lacks a domain, a name, infer or forward", who, i));
  }
  return entries;
}

}  // namespace

OperatorRegistry& custom_operators() {
  static OperatorRegistry registry("custom operators");
  return registry;
}

void add_custom_operator(const std::string& name, const OperatorVersions& versions,
                         OperatorRegistry::Make make, IfTaken if_taken) {
  add(name, versions, std::move(make), if_taken, {});
}

std::vector<std::string> load_custom_operators(const std::string& library_path, IfTaken if_taken) {
  const std::string who = fmt::format("custom operators '{}'", printable(library_path));
  void* library = dlopen(library_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw IoError(fmt::format("{}: {}", who, dlerror()));
  std::vector<d5_operator> entries;
  try {
    entries = entries_of(table_in(library, who), who);
  } catch (...) {
    dlclose(library);
    throw;
  }
  std::vector<std::string> names;
  for (const d5_operator& op : entries) {
    const int until = op.until_version > 0 ? op.until_version : std::numeric_limits<int>::max();
    const OperatorVersions versions{.since = op.since_version, .until = until, .domain = op.domain};
    const auto make = [op](const onnx::Node& node) { return detail::make_c_operator(op, node); };
    add(op.name, versions, make, if_taken, devices_of(op));
    names.push_back(*op.domain ? fmt::format("{}.{}", op.domain, op.name) : op.name);
  }
  return names;
}

}  // namespace d5
