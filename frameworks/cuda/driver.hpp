// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace d5::cuda {

/// Result of a driver call; 0 is success. Handles are pointers, devices and addresses are numbers.
enum class Result : int {
  success = 0,
  out_of_memory = 2,
  deinitialized = 4,
  no_device = 100,
  not_ready = 600
};
using DeviceNumber = int;
using Context = struct CUctx_st*;
using StreamHandle = struct CUstream_st*;
using EventHandle = struct CUevent_st*;
using Address = unsigned long long;

/// Functions of NVIDIA's driver that d5 calls, under their names in libcuda.so.1.
/// Source: "CUDA Driver API" (NVIDIA), the interface since CUDA 4.0.
struct Functions {
  Result (*init)(unsigned flags);
  Result (*device_count)(int* count);
  Result (*device_name)(char* name, int size, DeviceNumber device);
  Result (*device_memory)(std::size_t* bytes, DeviceNumber device);
  Result (*retain_context)(Context* context, DeviceNumber device);
  Result (*set_context)(Context context);
  Result (*allocate)(Address* address, std::size_t bytes);
  Result (*release)(Address address);
  Result (*allocate_pinned)(void** address, std::size_t bytes, unsigned flags);
  Result (*release_pinned)(void* address);
  Result (*copy)(Address to, Address from, std::size_t bytes, StreamHandle stream);
  Result (*fill)(Address to, unsigned char value, std::size_t bytes, StreamHandle stream);
  Result (*make_stream)(StreamHandle* stream, unsigned flags);
  Result (*end_stream)(StreamHandle stream);
  Result (*synchronise)(StreamHandle stream);
  Result (*stream_waits)(StreamHandle stream, EventHandle event, unsigned flags);
  Result (*make_event)(EventHandle* event, unsigned flags);
  Result (*end_event)(EventHandle event);
  Result (*record)(EventHandle event, StreamHandle stream);
  Result (*wait_for)(EventHandle event);
  Result (*query)(EventHandle event);
  Result (*error_text)(Result error, const char** text);
};

/// The driver of this process.
///
/// Thread safety: all functions.
class Driver {
 public:
  /// Opened on first use, and never closed, because the driver cannot be unloaded safely.
  [[nodiscard]] static const Driver& get();

  /// Reason why there is no usable GPU; empty if there is one.
  [[nodiscard]] const std::string& absent() const { return absent_; }
  [[nodiscard]] int devices() const { return devices_; }
  [[nodiscard]] const Functions& call() const { return functions_; }

  /// Throws: MemoryError, DeviceError for a failure, with `what` was attempted and the driver's
  /// message.
  void check(Result result, std::string_view what) const;
  /// Makes the primary context of a device current in this thread. Throws: DeviceError.
  void enter(int device) const;

 private:
  Driver();
  [[nodiscard]] bool find_functions();

  void* library_ = nullptr;
  Functions functions_ = {};
  std::string absent_;
  int devices_ = 0;
};

}  // namespace d5::cuda
