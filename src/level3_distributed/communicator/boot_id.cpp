// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/communicator/boot_id.hpp"

#include <fstream>

namespace d5::detail {

const std::string& boot_id() {
  static const std::string id = [] {
    std::string text;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> text;
    return text;
  }();
  return id;
}

}  // namespace d5::detail
