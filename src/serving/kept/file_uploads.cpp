// SPDX-License-Identifier: Apache-2.0
#include "serving/kept/file_uploads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/files/artefact_places.hpp"
#include "core/files/artefact_quota.hpp"
#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"

namespace d5::detail {
namespace {

namespace fs = std::filesystem;

/// An upload that got no piece for so long is given up.
constexpr std::chrono::hours kForgotten{24};

std::uint64_t size_of(const fs::path& file) {
  std::error_code absent;
  const auto bytes = fs::file_size(file, absent);
  return absent ? 0 : bytes;
}

std::uint64_t size_of_files(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code absent;
  for (const auto& file : fs::directory_iterator(folder, absent)) bytes += size_of(file.path());
  return bytes;
}

void append(const std::string& file, std::string_view content) {
  std::ofstream out(file, std::ios::binary | std::ios::app);
  out.write(content.data(), std::streamsize(content.size()));
  if (!out.flush()) {
    throw IoError(fmt::format("'{}' cannot be written; is the disk full?", printable(file)));
  }
}

}  // namespace

FileUploads::FileUploads(std::string folder, ArtefactStore store, std::uint64_t most_bytes)
    : folder_(std::move(folder)),
      store_(std::move(store)),
      most_bytes_(std::min(most_bytes, artefact_quota())) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) {
    throw IoError(
        fmt::format("'{}' cannot be a folder of uploads: {}", printable(folder_), error.message()));
  }
}

std::string FileUploads::part_of(const std::string& sha256) const {
  return (fs::path(folder_) / sha256).string();
}

std::uint64_t FileUploads::used() const {
  return size_of_files(folder_) + size_of_files(ArtefactPlaces(store_.folder()).files());
}

std::string FileUploads::why_full(std::uint64_t bytes) const {
  const std::uint64_t now = used();
  if (bytes <= most_bytes_ && now <= most_bytes_ - bytes) return {};
  return fmt::format(
      "{} bytes more do not fit: the models kept here have {}, their quota is {}; 'd5 model "
      "remove' makes room",
      bytes, now, byte_words(most_bytes_));
}

void FileUploads::forget_old() const {
  std::error_code ignored;
  std::vector<fs::path> old;
  for (const auto& part : fs::directory_iterator(folder_, ignored)) {
    const auto written = part.last_write_time(ignored);
    if (!ignored && fs::file_time_type::clock::now() - written > kForgotten) {
      old.push_back(part.path());
    }
  }
  for (const fs::path& part : old) fs::remove(part, ignored);
}

std::uint64_t FileUploads::take(const Piece& piece) {
  check_digest(piece.sha256, "an upload");
  if (store_.has(piece.sha256)) return piece.bytes;
  if (piece.content.size() > piece.bytes || piece.offset > piece.bytes - piece.content.size()) {
    throw ValueError(fmt::format("a piece of {} bytes at {} is beyond the file's {} bytes",
                                 piece.content.size(), piece.offset, piece.bytes));
  }
  const std::lock_guard lock(mutex_);
  const std::string part = part_of(piece.sha256);
  std::uint64_t here = size_of(part);
  if (here > piece.bytes) {  // begun with another size
    fs::remove(part);
    here = 0;
  }
  if (piece.offset > here) return here;
  if (here == 0) forget_old();
  const std::string_view fresh =
      piece.content.substr(std::min<std::uint64_t>(here - piece.offset, piece.content.size()));
  if (const std::string why = why_full(piece.bytes - here); !why.empty()) throw MemoryError(why);
  append(part, fresh);
  here += fresh.size();
  if (here < piece.bytes) return here;
  const std::string digest = sha256_of_file(part);
  if (digest != piece.sha256) {
    fs::remove(part);
    throw FormatError(fmt::format("the file has the SHA-256 {}, but was sent as {}; it is removed",
                                  digest, piece.sha256));
  }
  (void)store_.add(part);
  fs::remove(part);
  return here;
}

}  // namespace d5::detail
