// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/device_memory.hpp"

// A device on the host's processor that forgives nothing: a missing copy crashes, a missing wait
// reads old values.
namespace d5::toy {

/// Memory under two addresses: the one that d5 sees cannot be touched (PROT_NONE); the other is
/// known to the device's own code alone.
class Memory {
 public:
  std::shared_ptr<void> allocate(std::size_t bytes) {
    const int file = memfd_create("toy", 0);
    if (file < 0 || ftruncate(file, off_t(bytes)) != 0) {
      throw MemoryError("toy: " + std::to_string(bytes) + " bytes are not to be had");
    }
    void* seen = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file, 0);
    void* real = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (seen == MAP_FAILED || real == MAP_FAILED) {
      throw MemoryError("toy: " + std::to_string(bytes) + " bytes cannot be mapped");
    }
    const std::lock_guard lock(mutex_);
    blocks_[static_cast<std::byte*>(seen)] = {static_cast<std::byte*>(real), bytes};
    return {seen, [this](void* p) { release(static_cast<std::byte*>(p)); }};
  }

  /// The device's own address of what d5 knows as `seen`. Throws: DeviceError.
  [[nodiscard]] std::byte* real(const void* seen) {
    const std::lock_guard lock(mutex_);
    const auto* address = static_cast<const std::byte*>(seen);
    auto block = blocks_.upper_bound(const_cast<std::byte*>(address));
    if (block != blocks_.begin()) {
      --block;
      const std::ptrdiff_t offset = address - block->first;
      if (std::size_t(offset) < block->second.bytes) return block->second.real + offset;
    }
    throw DeviceError("toy: an address that is not the device's");
  }

 private:
  struct Block {
    std::byte* real;
    std::size_t bytes;
  };
  void release(std::byte* seen) {
    const std::lock_guard lock(mutex_);
    const auto block = blocks_.find(seen);
    munmap(block->second.real, block->second.bytes);
    munmap(seen, block->second.bytes);
    blocks_.erase(block);
  }
  std::mutex mutex_;
  std::map<std::byte*, Block> blocks_;
};

/// Work of a thread of its own: later, in order. After a failure nothing more runs.
class LateStream final : public Stream {
 public:
  explicit LateStream(Device device) : device_(device), worker_([this] { work(); }) {}
  ~LateStream() override {
    push({});
    worker_.join();
  }

  void push(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    ++queued_;
    changed_.notify_all();
  }
  void wait_for(std::int64_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ >= count; });
    if (failure_) std::rethrow_exception(failure_);
  }
  bool reached(std::int64_t count) {
    const std::lock_guard lock(mutex_);
    return done_ >= count;
  }

  Device device() const override { return device_; }
  void synchronise() override { wait_for(queued()); }
  void* native() override { return this; }
  std::shared_ptr<Moment> record() override;
  void wait(const std::shared_ptr<Moment>& moment) override {
    push([moment] { moment->wait(); });
  }

 private:
  static constexpr auto kLate = std::chrono::microseconds(200);

  std::int64_t queued() {
    const std::lock_guard lock(mutex_);
    return queued_;
  }
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !tasks_.empty(); });
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      if (!task) return;
      if (!failure_) {
        lock.unlock();
        std::this_thread::sleep_for(kLate);
        std::exception_ptr failure;
        try {
          task();
        } catch (...) {
          failure = std::current_exception();
        }
        lock.lock();
        failure_ = failure;
      }
      ++done_;
      changed_.notify_all();
    }
  }

  Device device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::int64_t queued_ = 0, done_ = 0;
  std::exception_ptr failure_;
  std::thread worker_;  // the last: it uses the others
};

class LateMoment final : public Moment {
 public:
  LateMoment(LateStream& stream, std::int64_t count) : stream_(stream), count_(count) {}
  void wait() override { stream_.wait_for(count_); }
  bool reached() override { return stream_.reached(count_); }

 private:
  LateStream& stream_;
  std::int64_t count_;
};

inline std::shared_ptr<Moment> LateStream::record() {
  return std::make_shared<LateMoment>(*this, queued());
}

/// toy:0 works; the copies of toy:1 fail; toy:2 is absent.
class ToyMemory : public DeviceMemory {
 public:
  [[nodiscard]] Memory& memory() { return memory_; }

  std::vector<DeviceInfo> devices() const override {
    return {{.device = {.index = 0}, .present = true, .description = "a thread of this process"},
            {.device = {.index = 1}, .present = true, .description = "its copies fail"},
            {.device = {.index = 2}, .present = false, .reason = "there are two toys"}};
  }
  std::shared_ptr<void> allocate(int, std::size_t bytes) override {
    return memory_.allocate(bytes);
  }
  std::unique_ptr<Stream> make_stream(int index) override {
    return std::make_unique<LateStream>(Device{kind, index});
  }
  void copy(Place to, Place from, std::size_t bytes, Stream& stream) override {
    static_cast<LateStream&>(stream).push([=, this, broken = stream.device().index == 1] {
      if (broken) throw DeviceError("toy:1: the copy failed, as all of this device do");
      std::memcpy(real(to), real(from), bytes);
    });
  }
  void zero(Place to, std::size_t bytes, Stream& stream) override {
    static_cast<LateStream&>(stream).push([=, this] { std::memset(real(to), 0, bytes); });
  }

  DeviceKind kind = {};  ///< set when it is registered

 private:
  void* real(Place place) {
    return place.device == Device{} ? place.address : memory_.real(place.address);
  }
  Memory memory_;
};

}  // namespace d5::toy
