// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/files/gzip.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "level2_training/data/storage/mapped_file.hpp"

namespace d5::detail {

/// A file's bytes: mapped, or decompressed into memory if it is compressed as a whole.
class UnpackedFile {
 public:
  explicit UnpackedFile(const std::string& path) : file_(path), bytes_(file_.bytes()) {}
  UnpackedFile(const UnpackedFile&) = delete;
  UnpackedFile& operator=(const UnpackedFile&) = delete;

  /// Decompresses; call it before reading the bytes. Throws: FormatError for a broken stream;
  /// MemoryError if the content exceeds the memory budget; Interrupted.
  void unpack(Packing packing, const Interrupt& interrupt);

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  MappedFile file_;
  std::string unpacked_;
  std::string_view bytes_;
};

/// Whether `bytes` begin like a gzip file (RFC 1952).
[[nodiscard]] bool is_gzip(std::string_view bytes);

/// For formats that cannot be read compressed. Throws: Unsupported with a way out.
void expect_not_packed(std::string_view bytes, const std::string& path);

}  // namespace d5::detail
