// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/storage/record_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/storage/crc32c.hpp"
#include "level2_training/data/storage/little_endian.hpp"

namespace d5::detail {
namespace {

constexpr std::size_t kLengthBytes = sizeof(std::uint64_t), kSumBytes = sizeof(std::uint32_t);

/// Whether `bytes` start with the length of a record, verified by its checksum.
bool begins_with_length(std::string_view bytes) {
  return bytes.size() >= kLengthBytes + kSumBytes &&
         from_little_endian<std::uint32_t>(bytes.data() + kLengthBytes) ==
             masked_crc32c(bytes.substr(0, kLengthBytes));
}

/// Compression of `bytes`, if any.
std::optional<Packing> packing_of(std::string_view bytes) {
  if (begins_with_length(bytes) || bytes.size() < 2) return {};
  if (is_gzip(bytes)) return Packing::gzip_or_none;
  // A zlib stream starts with method 8 and a window, in two bytes divisible by 31 (RFC 1950).
  const unsigned first = std::uint8_t(bytes[0]), second = std::uint8_t(bytes[1]);
  if ((first & 0x0f) == 8 && first >> 4 <= 7 && (first * 256 + second) % 31 == 0) {
    return Packing::zlib;
  }
  return {};
}

}  // namespace

RecordFile::RecordFile(const std::string& path, const Interrupt& interrupt) : file_(path) {
  if (const auto packing = packing_of(bytes())) file_.unpack(*packing, interrupt);
}

SampleIndex RecordFile::index(const Interrupt& interrupt) const {
  SampleIndex index;
  for (std::size_t at = 0; at < bytes().size();) {
    if (index.begins.size() % 4096 == 0) {
      interrupt.check(fmt::format("indexing '{}'", printable(path())));
    }
    const std::string_view rest = bytes().substr(at);
    const auto fail = [&](const std::string& what) {
      throw FormatError(fmt::format("'{}': record {}, byte {}: {}", printable(path()),
                                    index.begins.size(), at, what));
    };
    if (rest.size() < kBefore) {
      fail(fmt::format("{} bytes are left, a record has {} at least; it is truncated", rest.size(),
                       kBefore + kBehind));
    }
    if (!begins_with_length(rest)) {
      fail(
          fmt::format("its length has the masked CRC-32C {:08x}, but {:08x} is written; it is "
                      "damaged, or not a TFRecord file",
                      masked_crc32c(rest.substr(0, kLengthBytes)),
                      from_little_endian<std::uint32_t>(rest.data() + kLengthBytes)));
    }
    const auto length = from_little_endian<std::uint64_t>(rest.data());
    const std::size_t left = rest.size() - kBefore;
    if (left < kBehind || length > left - kBehind) {
      fail(fmt::format("is declared to have {} bytes, but {} follow; it is truncated", length,
                       left));
    }
    index.begins.push_back(std::int64_t(at) + kBefore);
    index.lengths.push_back(std::int64_t(length));
    at += std::size_t(kBefore + kBehind) + std::size_t(length);
  }
  return index;
}

std::string RecordFile::flaw(std::int64_t begin, std::int64_t length) const {
  const auto size = std::int64_t(bytes().size());
  if (begin < kBefore || size - begin - length < kBehind ||
      from_little_endian<std::int64_t>(bytes().data() + begin - kBefore) != length) {
    return "no record is there; the index is of another file: remove it, or open with index=memory";
  }
  const std::string_view data = bytes().substr(std::size_t(begin), std::size_t(length));
  const auto expected = from_little_endian<std::uint32_t>(data.data() + length);
  const std::uint32_t found = masked_crc32c(data);
  if (found == expected) return {};
  return fmt::format(
      "its data have the masked CRC-32C {:08x}, but {:08x} is written; it is damaged", found,
      expected);
}

std::string framed_record(std::string_view data) {
  std::string record = to_little_endian(std::uint64_t(data.size()));
  record += to_little_endian(masked_crc32c(record));
  record += data;
  record += to_little_endian(masked_crc32c(data));
  return record;
}

}  // namespace d5::detail
