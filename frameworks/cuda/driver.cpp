// SPDX-License-Identifier: Apache-2.0
#include "driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "d5/core/errors/error.hpp"

namespace d5::cuda {

const Driver& Driver::get() {
  static const Driver driver;
  return driver;
}

Driver::Driver() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
  if (!library_) {
    absent_ = "no NVIDIA driver: libcuda.so.1 cannot be loaded";
    return;
  }
  if (!find_functions()) return;
  const Result started = functions_.init(0);
  if (started == Result::no_device) {
    absent_ = "the NVIDIA driver finds no GPU";
  } else if (started != Result::success) {
    absent_ = fmt::format("the NVIDIA driver cannot be initialised: error {}", int(started));
  } else if (functions_.device_count(&devices_) != Result::success || devices_ == 0) {
    devices_ = 0;
    absent_ = "the NVIDIA driver finds no GPU";
  }
}

bool Driver::find_functions() {
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library_, name));
    if (!function && absent_.empty()) {
      absent_ = fmt::format("libcuda.so.1 is not a driver that d5 supports: {} is missing", name);
    }
  };
  auto& f = functions_;
  find(f.init, "cuInit");
  find(f.device_count, "cuDeviceGetCount");
  find(f.device_name, "cuDeviceGetName");
  find(f.device_memory, "cuDeviceTotalMem_v2");
  find(f.retain_context, "cuDevicePrimaryCtxRetain");
  find(f.set_context, "cuCtxSetCurrent");
  find(f.allocate, "cuMemAlloc_v2");
  find(f.release, "cuMemFree_v2");
  find(f.allocate_pinned, "cuMemHostAlloc");
  find(f.release_pinned, "cuMemFreeHost");
  find(f.copy, "cuMemcpyAsync");
  find(f.fill, "cuMemsetD8Async");
  find(f.make_stream, "cuStreamCreate");
  find(f.end_stream, "cuStreamDestroy_v2");
  find(f.synchronise, "cuStreamSynchronize");
  find(f.stream_waits, "cuStreamWaitEvent");
  find(f.make_event, "cuEventCreate");
  find(f.end_event, "cuEventDestroy_v2");
  find(f.record, "cuEventRecord");
  find(f.wait_for, "cuEventSynchronize");
  find(f.query, "cuEventQuery");
  find(f.error_text, "cuGetErrorString");
  return absent_.empty();
}

void Driver::check(Result result, std::string_view what) const {
  if (result == Result::success) return;
  const char* text = nullptr;
  if (functions_.error_text(result, &text) != Result::success || !text) text = "unknown error";
  const auto message = fmt::format("cuda: {}: {} (error {})", what, text, int(result));
  if (result == Result::out_of_memory) throw MemoryError(message);
  throw DeviceError(message);
}

void Driver::enter(int device) const {
  static std::mutex mutex;
  static std::map<int, Context> contexts;  // never released: they end with the process
  const std::lock_guard lock(mutex);
  Context& context = contexts[device];
  if (!context) {
    check(functions_.retain_context(&context, device),
          fmt::format("cuda:{} cannot be used", device));
  }
  check(functions_.set_context(context), fmt::format("cuda:{} cannot be made current", device));
}

}  // namespace d5::cuda
