// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

namespace d5 {

/// Hardware and software that affect a measurement, recorded with every result.
struct Environment {
  std::string time;  ///< ISO 8601, UTC
  std::string hostname;
  std::string os;            ///< kernel and distribution
  std::string architecture;  ///< "x86_64", "aarch64"
  std::string cpu;
  /// Vector and half-precision extensions: "avx2", "fma", "asimd".
  std::vector<std::string> instruction_sets;
  int sockets = 0, cores = 0, hardware_threads = 0, numa_nodes = 0;
  double processor_limit = 0;  ///< CPU limit of the control group (a container's); 0: none
  double l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;  ///< size of one cache; 0: none
  double memory_bytes = 0;
  double memory_limit_bytes = 0;               ///< memory limit of the control group; 0: none
  std::map<std::string, std::string> devices;  ///< present devices: "cuda:0" to its description
  std::string virtualisation;  ///< "none", or the name that the virtual machine reports
  std::string governor;        ///< governor of the CPU frequency; "unknown" if the system hides it
  std::string compiler, flags, build_type;
  std::string d5_version;
  /// The commit of d5, with "-dirty" if changed; "unknown" if built without one.
  std::string source_commit;
  std::map<std::string, std::string> libraries;  ///< name to version
  int threads = 0;
  std::string pinning;  ///< "cores 0-1", "none"
  std::string waiting;  ///< spinning of idle threads, in words
  /// Environment variables that are set and affect results.
  std::map<std::string, std::string> variables;
  double clock_seconds_per_read = 0;
  /// `machine_peak` for `threads`; 0: never measured.
  double peak_float32_flop_rate = 0, peak_float64_flop_rate = 0, peak_byte_rate = 0;
  std::vector<std::string> warnings;  ///< sources of noise: turbo, a loaded machine
};

/// The present environment.
[[nodiscard]] Environment environment();

/// Adds a library to all later environments. Called by code that computes with it.
void note_library(const std::string& name, const std::string& version);

}  // namespace d5
