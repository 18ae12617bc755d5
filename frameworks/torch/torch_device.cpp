// SPDX-License-Identifier: Apache-2.0
#include "torch_device.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <c10/core/DeviceType.h>
#include <dlfcn.h>

#include "d5/core/errors/error.hpp"

namespace d5::torch {

const std::vector<DeviceKind>& kernel_devices() {
  static const std::vector<DeviceKind> kinds = [] {
    std::vector<DeviceKind> result = {DeviceKind::cpu};
    // Its kernels register themselves. A package for the host alone has no such file.
    if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_LOCAL)) result.push_back(DeviceKind::cuda);
    if (c10::is_privateuse1_backend_registered()) result.push_back(kExtensionDevice);
    return result;
  }();
  return kinds;
}

c10::Device torch_device(Device device) {
  const auto index = c10::DeviceIndex(device.index);
  if (device.kind == DeviceKind::cpu) return {c10::DeviceType::CPU};
  if (device.kind == DeviceKind::cuda) return {c10::DeviceType::CUDA, index};
  if (device.kind == kExtensionDevice) return {c10::DeviceType::PrivateUse1, index};
  throw Unsupported("torch has no device " + to_string(device));
}

Device device_of(c10::Device device) {
  if (device.is_cpu()) return {};
  if (device.is_cuda()) return {DeviceKind::cuda, device.index()};
  if (device.is_privateuseone()) return {kExtensionDevice, device.index()};
  throw Unsupported("torch's device " + device.str() + " has no counterpart");
}

at::Generator make_generator(c10::Device device) {
  if (device.is_cpu()) return at::detail::createCPUGenerator();
  return at::globalContext()
      .getAcceleratorHooksInterface(device.type())
      .getNewGenerator(device.index());
}

void OnStream::enter(Stream& stream) {
  const c10::Device device = torch_device(stream.device());
  guard_.emplace(device.type());
  device_before_ = guard_->exchangeDevice(device);
  // An external stream's id is its native handle, as a number.
  stream_before_ = guard_->exchangeStream(
      c10::Stream(c10::Stream::UNSAFE, device, reinterpret_cast<c10::StreamId>(stream.native())));
}

void OnStream::leave() {
  guard_->exchangeStream(*stream_before_);
  guard_->setDevice(*device_before_);
}

}  // namespace d5::torch
