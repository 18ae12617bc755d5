// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/storage/unpacked_file.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

void UnpackedFile::unpack(Packing packing, const Interrupt& interrupt) {
  GzipReader reader(file_.bytes(), path(), packing);
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  for (;;) {
    interrupt.check(fmt::format("unpacking '{}'", printable(path())));
    const std::size_t done = unpacked_.size();
    if (done + kPiece > memory_budget()) {
      throw MemoryError(fmt::format(
          "'{}': packed as a whole, it is unpacked into memory, but it has more than the budget of "
          "{} bytes; unpack it into a file, or into smaller ones",
          printable(path()), memory_budget()));
    }
    unpacked_.resize(done + kPiece);
    const std::size_t count = reader.read(unpacked_.data() + done, kPiece);
    unpacked_.resize(done + count);
    if (count < kPiece) break;
  }
  unpacked_.shrink_to_fit();
  bytes_ = unpacked_;
}

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

void expect_not_packed(std::string_view bytes, const std::string& path) {
  if (!is_gzip(bytes) || !path.ends_with(".gz")) return;
  throw Unsupported(fmt::format(
      "'{}' is packed by gzip, and this format is mapped as it lies; unpack it (gunzip)",
      printable(path)));
}

}  // namespace d5::detail
