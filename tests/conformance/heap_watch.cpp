// SPDX-License-Identifier: Apache-2.0
#include "conformance/heap_watch.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
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

/// Address range of a library's code, and its counter.
struct Library {
  std::uintptr_t begin, end;
  bool ours;       ///< d5's
  bool passes_on;  ///< others allocate through it
};
constexpr std::size_t kMostLibraries = 512;
std::array<Library, kMostLibraries> libraries;
std::size_t library_count = 0;

std::string_view symbol_of(const char* path) {
  const std::string_view whole = path ? path : "";
  return whole.substr(whole.rfind('/') + 1);
}

/// Notes the code of one library; the program itself has no name.
int note_library(dl_phdr_info* info, std::size_t, void*) {
  const std::string_view name = symbol_of(info->dlpi_name);
  const bool ours = name.starts_with("libd5_") || name.starts_with("d5_framework_");
  const bool through =
      name.empty() || std::any_of(kThrough.begin(), kThrough.end(),
                                  [&](std::string_view other) { return name.starts_with(other); });
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || !(part.p_flags & PF_X) || library_count == kMostLibraries)
      continue;
    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    libraries[library_count++] = {begin, begin + part.p_memsz, ours, through};
  }
  return 0;
}

/// Null for code that no library holds.
const Library* library_of(const void* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  for (std::size_t i = 0; i < library_count; ++i) {
    if (libraries[i].begin <= place && place < libraries[i].end) return &libraries[i];
  }
  return nullptr;
}

/// Walks from the allocation outwards to the first library that asked for it.
void look() {
  if (!watching.load(std::memory_order_relaxed) || inside) return;
  inside = true;
  Frames frames;
  const int size = backtrace(frames.data(), kMostFrames);
  for (int i = 0; i < size; ++i) {
    const Library* library = library_of(frames[std::size_t(i)]);
    if (library && library->passes_on) continue;
    if (library && library->ours && counted.fetch_add(1) == 0) {
      first_frames = frames;
      first_size = size;
    }
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
  library_count = 0;
  dl_iterate_phdr(note_library, nullptr);
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
    void* const frame = first_frames[std::size_t(i)];
    const Library* library = library_of(frame);
    Dl_info info;
    if (!library || !library->ours || !dladdr(frame, &info)) continue;
    if (!result.empty()) result += " < ";
    int status = 0;
    char* name = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
    constexpr std::size_t kMostLetters = 80;  // enough to tell a function by
    result += name ? std::string(name).substr(0, kMostLetters)
                   : fmt::format("{}+{:#x}", symbol_of(info.dli_fname),
                                 reinterpret_cast<std::uintptr_t>(frame) -
                                     reinterpret_cast<std::uintptr_t>(info.dli_fbase));
    std::free(name);
  }
  return result;
}

}  // namespace d5::conformance
