// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/environment.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <hwloc.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <boost/version.hpp>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <mutex>
#include <string_view>

#include "core/entries/loaded_plugins.hpp"
#include "core/machine/control_group.hpp"
#include "core/machine/instruction_sets.hpp"
#include "core/machine/machine.hpp"
#include "core/machine/source_commit.hpp"
#include "core/machine/thread_waits.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/peak/machine_peak.hpp"
#include "d5/core/tensor/device.hpp"
#include "d5/core/thread_pool/waiting.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/version.hpp"

extern char** environ;

namespace d5 {
namespace {

struct Libraries {
  std::mutex mutex;
  std::map<std::string, std::string> versions;
};
Libraries& noted() {
  static Libraries libraries;
  return libraries;
}

/// The first line of a file, or `otherwise`.
std::string first_line(const char* path, std::string otherwise) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) && !line.empty() ? line : otherwise;
}

/// The text after `key` in the first line that begins with it.
std::string value_in(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return "";
}

std::string operating_system(const utsname& system) {
  std::string distribution = value_in("/etc/os-release", "PRETTY_NAME=");
  std::erase(distribution, '"');
  return fmt::format("{} {} {}{}{}", system.sysname, system.release, system.machine,
                     distribution.empty() ? "" : ", ", distribution);
}

/// The first processor's flags; Linux writes "flags" on x86, "Features" on Arm.
std::string processor_flags() {
  std::string flags = value_in("/proc/cpuinfo", "flags");
  if (flags.empty()) flags = value_in("/proc/cpuinfo", "Features");
  return flags;
}

std::string virtualisation(const std::string& flags) {
  // Linux lists the flag "hypervisor" in virtual machines.
  if ((flags + ' ').find(" hypervisor ") == std::string::npos) return "none";
  const std::string type = first_line("/sys/hypervisor/type", "");
  if (!type.empty()) return type;
  return first_line("/sys/class/dmi/id/sys_vendor", "unknown hypervisor");
}

bool changes_results(std::string_view variable) {
  constexpr std::array<std::string_view, 20> prefixes = {"OPENBLAS_",
                                                         "OMP_",
                                                         "GOMP_",
                                                         "KMP_",
                                                         "MKL_",
                                                         "BLIS_",
                                                         "GOTO_",
                                                         "MALLOC_",
                                                         "GLIBC_TUNABLES=",
                                                         "LD_PRELOAD=",
                                                         "LD_LIBRARY_PATH=",
                                                         "CUDA_",
                                                         "CUBLAS_",
                                                         "NVIDIA_TF32_OVERRIDE=",
                                                         "NCCL_",
                                                         "DNNL_",
                                                         "ONEDNN_",
                                                         "PYTORCH_",
                                                         "ATEN_",
                                                         "D5_PLUGIN_PATH="};
  for (const auto prefix : prefixes) {
    if (variable.starts_with(prefix)) return true;
  }
  return false;
}

std::map<std::string, std::string> variables() {
  std::map<std::string, std::string> result;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos && changes_results(text)) {
      result.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return result;
}

std::map<std::string, std::string> libraries() {
  std::map<std::string, std::string> result;
  {
    const std::lock_guard lock(noted().mutex);
    result = noted().versions;
  }
  const unsigned hwloc = hwloc_get_api_version();
  result["glibc"] = gnu_get_libc_version();
  result["libstdc++"] = fmt::format("{}", __GLIBCXX__);
  result["hwloc API"] = fmt::format("{}.{}.{}", hwloc >> 16, hwloc >> 8 & 0xff, hwloc & 0xff);
  result["Boost"] = fmt::format("{}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000,
                                BOOST_VERSION % 100);
  result["fmt"] =
      fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
  for (const Framework* framework : detail::loaded_plugins()) {
    result["framework " + framework->name()] = framework->version();
  }
  return result;
}

/// Sources of noise, with remedies.
std::vector<std::string> warnings(const Environment& environment) {
  std::vector<std::string> result;
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  if (load > 0.5) {
    result.push_back(
        fmt::format("load average {:.2g} on {} hardware threads: other work is running", load,
                    environment.hardware_threads));
  }
  if (environment.virtualisation != "none") {
    result.push_back("a virtual machine: its speed may change with its neighbours");
  }
  if (environment.governor != "unknown" && environment.governor != "performance") {
    result.push_back("frequency governor '" + environment.governor + "': choose 'performance'");
  }
  if (first_line("/sys/devices/system/cpu/intel_pstate/no_turbo", "1") == "0" ||
      first_line("/sys/devices/system/cpu/cpufreq/boost", "0") == "1") {
    result.push_back("turbo is on: the frequency depends on temperature and on other cores");
  }
  if (environment.processor_limit > 0 &&
      environment.processor_limit < environment.hardware_threads) {
    result.push_back(fmt::format("a quota of {:.2g} processors throttles longer runs",
                                 environment.processor_limit));
  }
  if (environment.pinning.starts_with("none")) result.push_back("threads are not pinned to cores");
  const std::string unseen = detail::absence_of_waits(detail::read_scheduler().tells);
  if (!unseen.empty()) result.push_back(unseen);
  if (Trace::on()) result.push_back("a trace was recorded: times contain what that costs");
  if (environment.build_type == "Debug" || environment.build_type.empty() ||
      environment.flags.find("-fsanitize") != std::string::npos) {
    result.push_back("d5 is not an optimized build: use the release preset");
  }
  return result;
}

/// Constant properties, which take a millisecond to determine.
struct Standing {
  utsname system{};
  std::string os, virtualisation;
  std::vector<std::string> instruction_sets;
  detail::ControlGroupLimits limits = detail::control_group_limits();
  Standing() {
    uname(&system);
    os = operating_system(system);
    const std::string flags = processor_flags();
    instruction_sets = detail::instruction_sets(flags);
    virtualisation = d5::virtualisation(flags);
  }
};
const Standing& standing() {
  static const Standing result;
  return result;
}

}  // namespace

void note_library(const std::string& name, const std::string& version) {
  const std::lock_guard lock(noted().mutex);
  noted().versions[name] = version;
}

Environment environment() {
  Environment result;
  result.time = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  result.hostname = host.data();
  result.os = standing().os;
  result.architecture = standing().system.machine;
  result.instruction_sets = standing().instruction_sets;
  const auto& machine = detail::machine();
  result.cpu = machine.cpu;
  result.sockets = machine.sockets;
  result.cores = machine.cores;
  result.hardware_threads = machine.hardware_threads;
  result.numa_nodes = machine.numa_nodes;
  result.l1_bytes = machine.l1_bytes;
  result.l2_bytes = machine.l2_bytes;
  result.l3_bytes = machine.l3_bytes;
  result.memory_bytes = machine.memory_bytes;
  result.processor_limit = standing().limits.processors;
  result.memory_limit_bytes = standing().limits.memory_bytes;
  for (const auto& info : devices()) {
    if (info.present) result.devices[to_string(info.device)] = info.description;
  }
  result.virtualisation = standing().virtualisation;
  result.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "unknown");
  result.compiler = "g++ " __VERSION__;
  result.flags = D5_CXX_FLAGS;
  result.build_type = D5_BUILD_TYPE;
  result.d5_version = D5_VERSION;
  result.source_commit = detail::source_commit();
  result.libraries = libraries();
  result.threads = threads();
  result.pinning = pinning();
  result.waiting = bound_waiting();
  result.variables = variables();
  result.clock_seconds_per_read = clock_cost().seconds_per_read;
  const MachinePeak peak = machine_peak();
  result.peak_float32_flop_rate = peak.float32_flop_rate;
  result.peak_float64_flop_rate = peak.float64_flop_rate;
  result.peak_byte_rate = peak.byte_rate;
  result.warnings = warnings(result);
  return result;
}

}  // namespace d5
