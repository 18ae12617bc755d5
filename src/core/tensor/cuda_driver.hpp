// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/device.hpp"

namespace d5::detail {

/// The GPUs that NVIDIA's driver shows; one absent entry with the reason where it shows none. The
/// driver is opened while running: d5 needs neither CUDA nor a GPU to be built.
[[nodiscard]] std::vector<DeviceInfo> cuda_devices();

}  // namespace d5::detail
