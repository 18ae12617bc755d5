// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/idx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/files/gzip.hpp"
#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/tensor/tensor.hpp"
#include "level2_training/data/published/data_file.hpp"

namespace d5::detail {
namespace {

constexpr std::uint32_t kUnsignedBytes = 0x0800;

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return std::uint32_t(bytes[0]) << 24 | std::uint32_t(bytes[1]) << 16 |
         std::uint32_t(bytes[2]) << 8 | bytes[3];
}

/// Bytes read, decompressed or hashed between two checks of the interrupt: some 10 ms of work.
constexpr std::size_t kWorkPiece = std::size_t{8} << 20;

std::string checksum(std::string_view file, const std::function<void()>& go_on) {
  Sha256 sum;
  while (!file.empty()) {
    go_on();
    sum.add(file.substr(0, kWorkPiece));
    file.remove_prefix(std::min(kWorkPiece, file.size()));
  }
  return sum.digest();
}

/// Reads up to `total` bytes, fewer at the end.
std::vector<std::uint8_t> unpack(GzipReader& reader, std::size_t total,
                                 const std::function<void()>& go_on) {
  std::vector<std::uint8_t> values;
  values.reserve(total);
  while (values.size() < total) {
    go_on();
    const std::size_t done = values.size(), wanted = std::min(kWorkPiece, total - done);
    values.resize(done + wanted);
    const std::size_t read = reader.read(values.data() + done, wanted);
    if (read < wanted) {
      values.resize(done + read);
      break;
    }
  }
  return values;
}

/// Whether `total` bytes of data may compress to `packed` bytes of gzip. A large file that expands
/// a hundredfold is a bomb; one twice as large as its content consists of many empty members.
/// Either costs much time for its size.
bool is_plausible(std::size_t total, std::size_t packed) {
  constexpr std::size_t kMostRatio = 100, kLarge = std::size_t{256} << 20, kSmall = 64 << 10;
  return (total <= kLarge || total / kMostRatio <= packed) && packed / 2 <= total + kSmall;
}

}  // namespace

IdxBytes read_idx(const std::string& folder, const std::string& name, int rank,
                  const std::string& content, const Interrupt& interrupt,
                  const std::function<void(const std::vector<std::int64_t>& dims)>& check) {
  const std::string path = data_file(folder, name);
  const std::string file = read_file(path, memory_budget(), interrupt);
  GzipReader reader(file, path);
  const auto fail = [&](const std::string& what) {
    throw FormatError(fmt::format("'{}': {}", printable(path), what));
  };
  const auto go_on = [&] { interrupt.check(fmt::format("reading '{}'", printable(path))); };

  std::array<std::uint8_t, 4> word{};
  if (reader.read(word.data(), 4) < 4) fail("byte 0: ends before its magic number; fetch it again");
  const std::uint32_t magic = big_endian(word.data());
  const std::uint32_t expected = kUnsignedBytes + std::uint32_t(rank);
  if (magic != expected) {
    const bool other_rank = (magic & ~0xffu) == kUnsignedBytes;
    fail(fmt::format("byte 0: magic number 0x{:08x}, but {} have 0x{:08x}; {}", magic, content,
                     expected,
                     other_rank ? fmt::format("it holds {} dimensions of bytes, were images and "
                                              "labels swapped?",
                                              magic & 0xff)
                                : "it is not an IDX file of bytes"));
  }

  IdxBytes result;
  result.file = {.name = std::filesystem::path(path).filename().string(),
                 .sha256 = checksum(file, go_on)};
  std::size_t total = 1;
  bool overflow = false;
  for (int i = 0; i < rank; ++i) {
    if (reader.read(word.data(), 4) < 4)
      fail(fmt::format("byte {}: ends in its header", 4 + 4 * i));
    result.dims.push_back(big_endian(word.data()));
    overflow |= __builtin_mul_overflow(total, std::size_t(result.dims.back()), &total);
  }
  const int header = 4 + 4 * rank;
  const std::string promised =
      fmt::format("byte {}: the header promises {} bytes", header, to_string(Shape(result.dims)));
  // A cheap bound, checked before memory is allocated for the size in a header.
  if (overflow || total > reader.most_left()) {
    fail(fmt::format("{}, but the file can hold no more than {}; fetch it again", promised,
                     reader.most_left()));
  }
  if (reader.compressed() && !is_plausible(total, reader.packed_left())) {
    fail(fmt::format(
        "{}, that is {}, compressed to {}: no data compresses like that; fetch it again", promised,
        total, reader.packed_left()));
  }
  if (check) check(result.dims);
  if (total > memory_budget()) {
    throw MemoryError(fmt::format("'{}': {}, above the memory budget of {}", printable(path),
                                  promised, memory_budget()));
  }
  result.values = unpack(reader, total, go_on);
  if (result.values.size() < total) {
    fail(fmt::format("{}, that is {}, but {} follow; fetch it again", promised, total,
                     result.values.size()));
  }
  if (reader.read(word.data(), 1) != 0) {
    fail(
        fmt::format("{}, that is {}, but more follow; it is another file's header, or two files "
                    "in one",
                    promised, total));
  }
  return result;
}

}  // namespace d5::detail
