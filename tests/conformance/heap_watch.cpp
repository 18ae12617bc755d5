// SPDX-License-Identifier: Apache-2.0
#include "conformance/heap_watch.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string_view>

// The C library's own functions, under the names that stay when a program brings its own malloc.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

constexpr int kMostFrames = 32;
using Frames = std::array<void*, kMostFrames>;

/// Libraries through which others allocate.
constexpr std::array<std::string_view, 5> kThrough = {"libc.so", "libstdc++.so", "libgomp",
                                                      "libgcc_s", "libm.so"};

std::atomic<bool> watching{false};
std::atomic<std::size_t> counted{0};
Frames first_frames;
int first_size = 0;
thread_local bool inside = false;

std::string_view library_of(void* address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname) return {};
  const std::string_view path = info.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

bool passes_on(std::string_view library) {
  return std::any_of(kThrough.begin(), kThrough.end(),
                     [&](std::string_view name) { return library.starts_with(name); });
}

bool is_ours(std::string_view library) {
  return library.starts_with("libd5_") || library.starts_with("d5_framework_");
}

/// Walks from the allocation outwards to the first library that asked for it.
void look() {
  if (!watching.load(std::memory_order_relaxed) || inside) return;
  inside = true;
  Frames frames;
  const int size = backtrace(frames.data(), kMostFrames);
  const std::string_view own = library_of(reinterpret_cast<void*>(&look));
  for (int i = 0; i < size; ++i) {
    const std::string_view library = library_of(frames[std::size_t(i)]);
    if (library == own || passes_on(library)) continue;
    if (is_ours(library) && counted.fetch_add(1) == 0) first_frames = frames, first_size = size;
    break;
  }
  inside = false;
}

}  // namespace

extern "C" {
void* malloc(std::size_t size) {
  look();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  look();
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  look();
  return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  look();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  look();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  look();
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}
}

namespace d5::conformance {

HeapWatch::HeapWatch() {
  Frames frames;
  backtrace(frames.data(), kMostFrames);  // the first call loads a library
  counted = 0;
  first_size = 0;
  watching = true;
}
HeapWatch::~HeapWatch() { stop(); }
void HeapWatch::stop() { watching = false; }
std::size_t HeapWatch::count() const { return counted; }

std::string HeapWatch::first() const {
  std::string result;
  for (int i = 0; i < first_size; ++i) {
    Dl_info info;
    void* const frame = first_frames[std::size_t(i)];
    if (!is_ours(library_of(frame)) || !dladdr(frame, &info) || !info.dli_sname) continue;
    int status = 0;
    char* name = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
    if (!name) continue;
    constexpr std::size_t kMostLetters = 80;  // enough to tell a function by
    if (!result.empty()) result += " < ";
    result += std::string_view(name).substr(0, kMostLetters);
    std::free(name);
  }
  return result;
}

}  // namespace d5::conformance
