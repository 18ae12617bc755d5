// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/tensor/device.hpp"
#include "d5/core/tensor/stream.hpp"

namespace d5 {

class Framework;
class Tensor;

/// The memory and the queues of one kind of device: what a framework that computes elsewhere than
/// on the host brings besides its kernels. d5 lays arenas, copies and waits through it, and knows
/// nothing else of the device.
///
/// Thread safety: all functions; a stream is used by one thread at a time.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  /// Those of this kind, index 0 first; the kind in `DeviceInfo::device` is filled in by d5. An
  /// absent one has its reason.
  [[nodiscard]] virtual std::vector<DeviceInfo> devices() const = 0;
  /// `bytes` > 0 on device `index`, aligned to 64 bytes; given back when the last owner goes. Only
  /// kernels and copies of this device may touch it. Throws: MemoryError.
  [[nodiscard]] virtual std::shared_ptr<void> allocate(int index, std::size_t bytes) = 0;
  /// Host memory from and to which the device copies without staging. Ordinary memory by default.
  [[nodiscard]] virtual std::shared_ptr<void> allocate_pinned(std::size_t bytes);
  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream(int index) = 0;

  struct Place {
    Device device = {};
    void* address = nullptr;
  };
  /// Queues a copy on `stream`, of this kind: between host and device, or within a device. Both
  /// ends stay as they are until it is done. Throws: DeviceError, here or at a wait.
  virtual void copy(Place to, Place from, std::size_t bytes, Stream& stream) = 0;
  /// Queues the writing of zeros.
  virtual void zero(Place to, std::size_t bytes, Stream& stream) = 0;
};

/// Makes devices of the kind `name` ("cuda") known, with the framework that brings them: from then
/// on `device_from_name`, tensors, executors and `--device` take them. `kind` is DLPack's number,
/// or a new one if it is left out. Throws: ValueError if the name or the kind is taken.
DeviceKind add_device(Framework& framework, std::string name, std::shared_ptr<DeviceMemory> memory,
                      std::optional<DeviceKind> kind = {});

/// The memory of `device`, no host. Throws: Unsupported if nobody brought it.
[[nodiscard]] DeviceMemory& device_memory(Device device);

/// A stream on `device`; the host's does everything at once.
[[nodiscard]] std::shared_ptr<Stream> make_stream(Device device);

/// Queues a copy of `from`'s elements into `to`, of the same type and shape; `stream` is of the
/// device that takes part, the host's if both are there. Both tensors live until it is done.
/// Throws: ShapeError, TypeError, Unsupported between devices of two kinds, DeviceError.
void queue_copy(Tensor& to, const Tensor& from, Stream& stream);
/// Queues zeros for every element.
void queue_zero(Tensor& to, Stream& stream);

}  // namespace d5
