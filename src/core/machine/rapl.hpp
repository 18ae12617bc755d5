// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace d5::detail {

/// Energy of all processor packages, including all work on them, from the RAPL counters (Linux
/// powercap). The counters tick about once a millisecond, and wrap after some minutes of full load:
/// read them more often.
class Rapl {
 public:
  explicit Rapl(const std::filesystem::path& folder = "/sys/class/powercap");

  /// The reason why there is no number; empty if there is one.
  [[nodiscard]] const std::string& absence() const { return absence_; }
  /// Energy since construction, in J.
  [[nodiscard]] double joules();

 private:
  struct Package {
    std::filesystem::path counter;
    double range = 0, last = 0;  // microjoules
  };
  std::vector<Package> packages_;
  std::string absence_;
  double joules_ = 0;
};

}  // namespace d5::detail
