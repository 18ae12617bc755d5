// SPDX-License-Identifier: Apache-2.0
#include "core/machine/machine.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>

namespace d5::detail {
namespace {

std::string cpu_from_proc() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name"))
      return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "unknown";
}

Machine look_at_machine() {
  Machine result;
  // hwloc counts the memory of the visible NUMA nodes, which may be incomplete in containers and
  // virtual machines.
  result.memory_bytes = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE));
  hwloc_topology_t handle = nullptr;
  if (hwloc_topology_init(&handle) != 0) return result;
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> topology(
      handle, &hwloc_topology_destroy);
  if (hwloc_topology_load(handle) != 0) return result;

  const auto count = [&](hwloc_obj_type_t type) {
    return std::max(0, hwloc_get_nbobjs_by_type(handle, type));
  };
  const auto cache_bytes = [&](hwloc_obj_type_t type) {
    const hwloc_obj_t cache = hwloc_get_obj_by_type(handle, type, 0);
    return cache ? double(cache->attr->cache.size) : 0.0;
  };
  result.sockets = count(HWLOC_OBJ_PACKAGE);
  result.cores = count(HWLOC_OBJ_CORE);
  result.hardware_threads = count(HWLOC_OBJ_PU);
  result.numa_nodes = count(HWLOC_OBJ_NUMANODE);
  result.l1_bytes = cache_bytes(HWLOC_OBJ_L1CACHE);
  result.l2_bytes = cache_bytes(HWLOC_OBJ_L2CACHE);
  result.l3_bytes = cache_bytes(HWLOC_OBJ_L3CACHE);
  const hwloc_obj_t package = hwloc_get_obj_by_type(handle, HWLOC_OBJ_PACKAGE, 0);
  const char* model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : nullptr;
  result.cpu = model ? model : cpu_from_proc();

  const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> allowed(hwloc_bitmap_alloc(),
                                                                              &hwloc_bitmap_free);
  if (hwloc_get_cpubind(handle, allowed.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    hwloc_bitmap_copy(allowed.get(), hwloc_topology_get_allowed_cpuset(handle));
  }
  std::vector<std::pair<int, int>> order;  // index within the core, number
  for (int i = 0; i < result.hardware_threads; ++i) {
    const hwloc_obj_t thread = hwloc_get_obj_by_type(handle, HWLOC_OBJ_PU, unsigned(i));
    if (!hwloc_bitmap_isset(allowed.get(), thread->os_index)) continue;
    const bool in_core = thread->parent && thread->parent->type == HWLOC_OBJ_CORE;
    order.emplace_back(in_core ? int(thread->sibling_rank) : 0, int(thread->os_index));
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [place, number] : order) result.allowed.push_back(number);
  return result;
}

}  // namespace

const Machine& machine() {
  static const Machine result = look_at_machine();
  return result;
}

std::string to_ranges(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string result;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!result.empty()) result += ',';
    result +=
        last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return result;
}

}  // namespace d5::detail
