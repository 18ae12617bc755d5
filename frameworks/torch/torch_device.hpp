// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Device.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <optional>
#include <vector>

#include "d5/core/tensor/device.hpp"
#include "d5/core/tensor/stream.hpp"

namespace d5::torch {

/// DLPack's number of devices that an extension brings to torch (PrivateUse1), and to d5 under the
/// same number (`add_device`).
inline constexpr auto kExtensionDevice = DeviceKind{12};

/// Kinds of devices that torch computes on: the host; cuda, if the package of torch was built for
/// it; an extension's, if it was loaded before.
[[nodiscard]] const std::vector<DeviceKind>& kernel_devices();

/// Torch's name of a device. Throws: Unsupported for a kind that torch does not know.
[[nodiscard]] c10::Device torch_device(Device device);
[[nodiscard]] Device device_of(c10::Device device);

/// A random generator of the device's own.
[[nodiscard]] at::Generator make_generator(c10::Device device);

/// While it lives, this thread's calls of torch queue their work on d5's stream. The host's stream
/// changes nothing.
class OnStream {
 public:
  explicit OnStream(Stream& stream) {
    if (stream.device() != Device{}) enter(stream);
  }
  ~OnStream() {
    if (guard_) leave();
  }
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;

 private:
  void enter(Stream& stream);
  void leave();

  std::optional<c10::impl::VirtualGuardImpl> guard_;
  std::optional<c10::Stream> stream_before_;
  std::optional<c10::Device> device_before_;
};

}  // namespace d5::torch
