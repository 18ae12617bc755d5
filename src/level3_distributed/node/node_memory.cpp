// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/node/node_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "level3_distributed/communicator/gather_texts.hpp"

namespace d5 {
namespace {

constexpr const char* kFolder = "/dev/shm";

/// A file descriptor that is closed in the destructor.
class OpenFile {
 public:
  explicit OpenFile(int number = -1) : number_(number) {}
  OpenFile(OpenFile&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~OpenFile() {
    if (number_ >= 0) close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

MemoryError no_room(std::size_t bytes, const std::string& why) {
  return MemoryError(
      fmt::format("node memory of {} bytes: {}; ask for less, or make {} larger (mount -o "
                  "remount,size=; docker "
                  "run --shm-size)",
                  bytes, why, kFolder));
}

/// Creates an unnamed file with reserved pages.
OpenFile create_file(std::size_t bytes) {
  if (bytes > memory_budget()) {
    throw no_room(bytes, fmt::format("the memory budget is {} bytes", memory_budget()));
  }
  struct statvfs room = {};
  if (statvfs(kFolder, &room) == 0 && bytes / room.f_frsize >= room.f_bavail) {
    throw no_room(bytes, fmt::format("{} has {} bytes left", kFolder,
                                     std::uintmax_t(room.f_bavail) * room.f_frsize));
  }
  OpenFile file(open(kFolder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.number() < 0) {
    throw IoError(
        fmt::format("node memory: no file can be made in {}: {}", kFolder, std::strerror(errno)));
  }
  int code = EINTR;
  while (code == EINTR) code = posix_fallocate(file.number(), 0, static_cast<off_t>(bytes));
  if (code != 0) throw no_room(bytes, std::strerror(code));
  return file;
}

std::byte* map_file(const OpenFile& file, std::size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (data == MAP_FAILED) throw no_room(bytes, std::strerror(errno));
  return static_cast<std::byte*>(data);
}

/// The outcome of one rank's attempt, sent to the others.
struct Outcome {
  std::string text;  ///< message for the others, or the error
  bool failed = false, no_room = false;
};

template <class F>
Outcome attempt(const F& what) {
  try {
    return {what()};
  } catch (const MemoryError& error) {
    return {error.what(), true, true};
  } catch (const Error& error) {
    return {error.what(), true, false};
  }
}

/// The texts of all ranks. Throws the first failure of any rank, on all ranks.
std::vector<std::string> agree(Communicator& ranks, const Outcome& mine) {
  auto all =
      detail::gather_texts(ranks, (mine.failed ? mine.no_room ? "m" : "f" : " ") + mine.text);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const char kind = all[rank].front();
    all[rank].erase(0, 1);
    if (kind == ' ') continue;
    const std::string text = fmt::format("rank {}: {}", rank, all[rank]);
    if (kind == 'm') throw MemoryError(text);
    throw IoError(text);
  }
  return all;
}

}  // namespace

std::shared_ptr<NodeMemory> NodeMemory::make(Communicator& ranks, std::size_t bytes) {
  bytes = std::max<std::size_t>(bytes, 1);
  const auto nodes = detail::gather_texts(ranks, node_identity(ranks));
  for (std::size_t rank = 1; rank < nodes.size(); ++rank) {
    if (nodes[rank] == nodes[0]) continue;
    throw Unsupported(fmt::format(
        "node memory: ranks 0 and {} do not share a node ({} and {}); make it of a node_group",
        rank, nodes[0], nodes[rank]));
  }
  const auto sizes = detail::gather_texts(ranks, std::to_string(bytes));
  for (std::size_t rank = 1; rank < sizes.size(); ++rank) {
    if (sizes[rank] == sizes[0]) continue;
    throw ValueError(
        fmt::format("node memory: rank 0 asks for {} bytes, rank {} for {}; expected one number",
                    sizes[0], rank, sizes[rank]));
  }
  OpenFile file;  // rank 0 keeps it open until all have opened it
  const Outcome made = attempt([&] {
    if (ranks.rank() != 0) return std::string();
    file = create_file(bytes);
    return fmt::format("/proc/{}/fd/{}", getpid(), file.number());
  });
  const std::string path = agree(ranks, made).front();
  std::byte* data = nullptr;
  const Outcome mapped = attempt([&] {
    if (ranks.rank() != 0) file = OpenFile(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (file.number() < 0) {
      throw IoError(fmt::format("node memory: {} does not open: {}", path, std::strerror(errno)));
    }
    data = map_file(file, bytes);
    return std::string();
  });
  std::shared_ptr<NodeMemory> memory;
  if (data) memory.reset(new NodeMemory(data, bytes));
  agree(ranks, mapped);
  return memory;
}

NodeMemory::~NodeMemory() { munmap(data_, bytes_); }

Tensor NodeMemory::at(std::size_t offset_bytes, const TensorDesc& desc) {
  if (offset_bytes > bytes_ || desc.bytes() > bytes_ - offset_bytes) {
    throw ShapeError(fmt::format("node memory of {} bytes: {} at byte {} goes past its end", bytes_,
                                 to_string(desc), offset_bytes));
  }
  return Tensor::borrow(desc, data_ + offset_bytes, shared_from_this());
}

}  // namespace d5
