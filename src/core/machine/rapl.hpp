// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace d5::detail {

/// The energy of all processor packages, and of everything that ran on them meanwhile, from the
/// RAPL counters as Linux shows them (powercap). They tick about once a millisecond, and begin
/// again at zero after some minutes of full load: ask more often than that.
class Rapl {
 public:
  explicit Rapl(const std::filesystem::path& folder = "/sys/class/powercap");

  /// Why there is no number; empty if there is one.
  [[nodiscard]] const std::string& absence() const { return absence_; }
  /// J since it was made.
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
