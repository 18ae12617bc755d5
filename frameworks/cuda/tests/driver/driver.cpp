// SPDX-License-Identifier: Apache-2.0
// Replaces NVIDIA's driver if there is no GPU: one device, whose memory is the host's, and whose
// streams are threads that run with a delay. It allocates at most 1 MiB at a time; a copy from or
// to address 1 fails. With D5_TEST_GPUS=0 in the environment there is no GPU.
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace {

constexpr int kSuccess = 0, kOutOfMemory = 2, kInvalidContext = 201, kNoDevice = 100,
              kNotReady = 600, kIllegalAddress = 700;
thread_local const void* current = nullptr;
int context = 0;  // its address is that of the one context

class Queue {
 public:
  Queue() : worker_([this] { work(); }) {}
  ~Queue() {
    push({});
    worker_.join();
  }
  void push(std::function<int()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    ++queued_;
    changed_.notify_all();
  }
  long queued() {
    const std::lock_guard lock(mutex_);
    return queued_;
  }
  int wait_for(long count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ >= count; });
    return failure_;
  }
  int query(long count) {
    const std::lock_guard lock(mutex_);
    return done_ >= count ? failure_ : kNotReady;
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !tasks_.empty(); });
      const auto task = std::move(tasks_.front());
      tasks_.pop_front();
      if (!task) return;
      if (failure_ == kSuccess) {
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        const int result = task();
        lock.lock();
        failure_ = result;
      }
      ++done_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<int()>> tasks_;
  long queued_ = 0, done_ = 0;
  int failure_ = kSuccess;
  std::thread worker_;  // the last: it uses the others
};

struct Event {
  Queue* queue = nullptr;
  long count = 0;
};

void* pointer(unsigned long long address) { return reinterpret_cast<void*>(address); }

/// First check of every function: a thread without a context can do nothing.
int entered() { return current == &context ? kSuccess : kInvalidContext; }

}  // namespace

extern "C" {

int cuInit(unsigned) {
  const char* gpus = std::getenv("D5_TEST_GPUS");
  return gpus && std::strcmp(gpus, "0") == 0 ? kNoDevice : kSuccess;
}
int cuDeviceGetCount(int* count) { return *count = 1, kSuccess; }
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Test GPU", std::size_t(size));
  return kSuccess;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = std::size_t(1) << 20, kSuccess; }
int cuDevicePrimaryCtxRetain(void** result, int device) {
  *result = &context;
  return device == 0 ? kSuccess : kNoDevice;
}
int cuCtxSetCurrent(const void* wanted) { return current = wanted, kSuccess; }
int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  if (entered() != kSuccess) return entered();
  if (bytes > std::size_t(1) << 20) return kOutOfMemory;
  *address =
      reinterpret_cast<unsigned long long>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return kSuccess;
}
int cuMemFree_v2(unsigned long long address) { return std::free(pointer(address)), kSuccess; }
int cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  *address = std::malloc(bytes);
  return entered();
}
int cuMemFreeHost(void* address) { return std::free(address), kSuccess; }
int cuMemcpyAsync(unsigned long long to, unsigned long long from, std::size_t bytes, Queue* queue) {
  if (entered() != kSuccess) return entered();
  queue->push([=] {
    if (to == 1 || from == 1) return kIllegalAddress;
    std::memcpy(pointer(to), pointer(from), bytes);
    return kSuccess;
  });
  return kSuccess;
}
int cuMemsetD8Async(unsigned long long to, unsigned char value, std::size_t bytes, Queue* queue) {
  if (entered() != kSuccess) return entered();
  queue->push([=] { return std::memset(pointer(to), value, bytes), kSuccess; });
  return kSuccess;
}
int cuLaunchHostFunc(Queue* queue, void (*function)(void*), void* data) {
  queue->push([=] { return function(data), kSuccess; });
  return kSuccess;
}
int cuStreamCreate(Queue** queue, unsigned) {
  if (entered() != kSuccess) return entered();
  return *queue = new Queue, kSuccess;
}
int cuStreamDestroy_v2(Queue* queue) { return delete queue, kSuccess; }
int cuStreamSynchronize(Queue* queue) { return queue->wait_for(queue->queued()); }
int cuStreamWaitEvent(Queue* queue, const Event* event, unsigned) {
  const Event seen = *event;
  queue->push([seen] { return seen.queue->wait_for(seen.count); });
  return kSuccess;
}
int cuEventCreate(Event** event, unsigned) { return *event = new Event, entered(); }
int cuEventDestroy_v2(const Event* event) { return delete event, kSuccess; }
int cuEventRecord(Event* event, Queue* queue) {
  *event = {queue, queue->queued()};
  return kSuccess;
}
int cuEventSynchronize(const Event* event) { return event->queue->wait_for(event->count); }
int cuEventQuery(const Event* event) { return event->queue->query(event->count); }
int cuGetErrorString(int error, const char** text) {
  *text = error == kIllegalAddress ? "an illegal address" : "another error";
  return kSuccess;
}

}  // extern "C"
