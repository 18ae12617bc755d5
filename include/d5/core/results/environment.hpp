// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

namespace d5 {

/// What a number depends on besides the code: recorded with every result.
struct Environment {
  std::string time;  ///< ISO 8601, UTC
  std::string hostname;
  std::string os;            ///< kernel and distribution
  std::string architecture;  ///< "x86_64", "aarch64"
  std::string cpu;
  std::vector<std::string> instruction_sets;  ///< vectors and half floats: "avx2", "fma", "asimd"
  int sockets = 0, cores = 0, hardware_threads = 0, numa_nodes = 0;
  double processor_limit = 0;  ///< of the control group (a container's); 0: none
  double l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;  ///< of one cache; 0 where there is none
  double memory_bytes = 0;
  double memory_limit_bytes = 0;               ///< of the control group; 0: none
  std::map<std::string, std::string> devices;  ///< those present: "cuda:0" to what it is
  std::string virtualisation;  ///< "none", or the name that the virtual machine gives itself
  std::string governor;        ///< of the CPU frequency; "unknown" where the system hides it
  std::string compiler, flags, build_type;
  std::string d5_version;
  std::string source_commit;  ///< of d5, "-dirty" if changed; "unknown" where it was built without
  std::map<std::string, std::string> libraries;  ///< name to version
  int threads = 0;
  std::string pinning;                           ///< "cores 0-1", "none"
  std::string waiting;                           ///< how long threads without work spin
  std::map<std::string, std::string> variables;  ///< those set that change results
  double clock_seconds_per_read = 0;
  /// `machine_peak`, on so many threads; 0: never measured.
  double peak_float32_flop_rate = 0, peak_float64_flop_rate = 0, peak_byte_rate = 0;
  std::vector<std::string> warnings;  ///< what makes numbers scatter: turbo, a loaded machine
};

/// Looks at this machine now.
[[nodiscard]] Environment environment();

/// Adds a library to every later record: files that compute with one name it.
void note_library(const std::string& name, const std::string& version);

}  // namespace d5
