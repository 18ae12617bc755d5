// SPDX-License-Identifier: Apache-2.0
#include "d5/core/device.hpp"

#include <fmt/format.h>

namespace d5 {

std::string to_string(Device device) {
  if (device.kind == DeviceKind::cpu) return "cpu";
  return fmt::format("cuda:{}", device.index);
}

}  // namespace d5
