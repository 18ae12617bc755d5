// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "d5/core/files/artefact_store.hpp"

namespace d5::detail {

/// Files that arrive in pieces. A file gets into the store when it is whole and its digest is
/// right; until then its pieces lie in a folder of their own, where an upload that broke off goes
/// on. Two uploads of one file help each other.
///
/// Thread safety: all functions. Throws: IoError.
class FileUploads {
 public:
  /// `most_bytes` bounds pieces and store together, as $D5_ARTEFACT_QUOTA does.
  FileUploads(std::string folder, ArtefactStore store, std::uint64_t most_bytes);

  struct Piece {
    std::string sha256;
    std::uint64_t bytes = 0;  ///< size of the whole file
    std::uint64_t offset = 0;
    std::string_view content;
  };
  /// Takes a piece, and returns how many bytes of the file are here; a piece that lies beyond is
  /// not taken. Throws: ValueError for a malformed digest, or a piece beyond the end; FormatError
  /// for a whole file with another digest, which is removed; MemoryError beyond the quota.
  std::uint64_t take(const Piece& piece);

  /// Why `bytes` more do not fit; empty if they do.
  [[nodiscard]] std::string why_full(std::uint64_t bytes) const;

 private:
  [[nodiscard]] std::string part_of(const std::string& sha256) const;
  [[nodiscard]] std::uint64_t used() const;
  void forget_old() const;

  std::string folder_;
  ArtefactStore store_;
  std::uint64_t most_bytes_;
  std::mutex mutex_;
};

}  // namespace d5::detail
