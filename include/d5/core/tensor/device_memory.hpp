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

/// Memory and streams of one kind of device. A framework for a device provides this besides its
/// kernels; d5 uses nothing else of the device to allocate arenas, copy and wait.
///
/// Thread safety: all functions; a stream is used by one thread at a time.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  /// All devices of this kind, index 0 first. Absent ones have a reason. d5 sets the kind in
  /// `DeviceInfo::device`.
  [[nodiscard]] virtual std::vector<DeviceInfo> devices() const = 0;
  /// Allocates `bytes` > 0 on device `index`, aligned to 64 bytes, freed with the last owner. Only
  /// kernels and copies of this device may access it. Throws: MemoryError.
  [[nodiscard]] virtual std::shared_ptr<void> allocate(int index, std::size_t bytes) = 0;
  /// Pinned host memory, which the device copies without staging. Ordinary memory by default.
  [[nodiscard]] virtual std::shared_ptr<void> allocate_pinned(std::size_t bytes);
  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream(int index) = 0;

  struct Place {
    Device device = {};
    void* address = nullptr;
  };
  /// Queues a copy between host and device, or within a device, on `stream`, which is of this kind.
  /// Both memory blocks must stay valid, and `from` unchanged, until it is done. Throws:
  /// DeviceError, here or at a wait.
  virtual void copy(Place to, Place from, std::size_t bytes, Stream& stream) = 0;
  /// Queues a fill with zeros.
  virtual void zero(Place to, std::size_t bytes, Stream& stream) = 0;
};

/// Registers devices of the kind `name` ("cuda") with the framework that provides them, for
/// `device_from_name`, tensors, executors and `--device`. `kind` is DLPack's number; by default a
/// new one. Throws: ValueError if the name or the kind is taken.
DeviceKind add_device(Framework& framework, std::string name, std::shared_ptr<DeviceMemory> memory,
                      std::optional<DeviceKind> kind = {});

/// The memory of `device`, which is not the host. Throws: Unsupported if no framework provides it.
[[nodiscard]] DeviceMemory& device_memory(Device device);

/// A new stream on `device`. The host's stream is synchronous.
[[nodiscard]] std::shared_ptr<Stream> make_stream(Device device);

/// Queues a copy of `from`'s elements into `to`, of the same type and shape. `stream` belongs to
/// whichever device is not the host, or to the host if both are. Both tensors must live until the
/// copy is done.
/// Throws: ShapeError, TypeError, Unsupported between devices of two kinds, DeviceError.
void queue_copy(Tensor& to, const Tensor& from, Stream& stream);
/// Queues a fill of all elements with zero.
void queue_zero(Tensor& to, Stream& stream);

}  // namespace d5
