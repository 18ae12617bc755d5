// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/cuda_driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace d5::detail {
namespace {

std::vector<DeviceInfo> absent(const std::string& reason) {
  return {{.device = {DeviceKind::cuda, 0}, .present = false, .reason = reason}};
}

}  // namespace

std::vector<DeviceInfo> cuda_devices() {
  // Never closed: the driver does not like to be unloaded.
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) return absent("no NVIDIA driver: libcuda.so.1 cannot be loaded");
  // The driver's C interface: a device is an int, 0 is success.
  const auto function = [](auto type, const char* name) {
    return reinterpret_cast<decltype(type)>(dlsym(driver, name));
  };
  const auto init = function((int (*)(unsigned)) nullptr, "cuInit");
  const auto device_count = function((int (*)(int*)) nullptr, "cuDeviceGetCount");
  const auto device_name = function((int (*)(char*, int, int)) nullptr, "cuDeviceGetName");
  const auto device_memory = function((int (*)(std::size_t*, int)) nullptr, "cuDeviceTotalMem_v2");
  if (!init || !device_count || !device_name || !device_memory) {
    return absent("libcuda.so.1 is not a driver that d5 knows: functions are missing");
  }
  if (const int error = init(0); error != 0) {
    return absent(error == 100 ? "the NVIDIA driver finds no GPU"
                               : fmt::format("the NVIDIA driver does not start: error {}", error));
  }
  int count = 0;
  if (device_count(&count) != 0 || count == 0) return absent("the NVIDIA driver finds no GPU");
  std::vector<DeviceInfo> result;
  for (int i = 0; i < count; ++i) {
    DeviceInfo& info = result.emplace_back();
    info.device = {DeviceKind::cuda, i};
    info.present = true;
    std::array<char, 256> name{};
    if (device_name(name.data(), int(name.size()) - 1, i) == 0) info.description = name.data();
    std::size_t bytes = 0;
    if (device_memory(&bytes, i) == 0) info.memory_bytes = double(bytes);
  }
  return result;
}

}  // namespace d5::detail
