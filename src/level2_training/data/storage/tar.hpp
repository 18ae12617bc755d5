// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace d5::detail {

/// Iterates over the regular files of a tar archive in memory: ustar, pax, GNU's long names and
/// sizes. Links, folders and devices are skipped. Nothing is copied, and each member's location is
/// known, so samples can be read in any order. libarchive, which `files_in_archive` uses for whole
/// archives, does not report where a member's data is.
/// Source: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Extended Header"; GNU tar manual,
/// "Basic Tar Format".
class TarReader {
 public:
  static constexpr std::size_t kBlock = 512;
  struct Member {
    std::string name;
    std::size_t begin = 0, length = 0;  ///< location of its data
  };

  /// `file` names the bytes in messages.
  TarReader(std::string_view bytes, std::string file) : bytes_(bytes), file_(std::move(file)) {}

  /// Reads the next member; false at the end. Throws: FormatError with the byte for a wrong
  /// checksum, a size past the end, a name that is absolute or has "..", an archive without its
  /// end; Unsupported for sparse files.
  bool next(Member& member);
  /// Content of the global headers so far, by keyword.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& globals() const {
    return globals_;
  }

 private:
  struct Header;
  using Records = std::map<std::string, std::string, std::less<>>;
  [[noreturn]] void fail(const std::string& what) const;
  [[nodiscard]] std::size_t number(std::string_view field, const char* what) const;
  [[nodiscard]] std::string_view data_of(std::size_t size) const;
  void read_records(std::string_view text, Records& records) const;
  void check_name(const std::string& name) const;

  std::string_view bytes_;
  std::string file_;
  std::size_t at_ = 0;
  Records globals_;
};

/// A member's header, preceded by a pax header if its name or size requires one.
[[nodiscard]] std::string tar_header(const std::string& name, std::size_t length);
/// A global pax header with one entry.
[[nodiscard]] std::string tar_global_header(const std::string& keyword, const std::string& value);
/// Zeros after `length` bytes, up to the next block.
[[nodiscard]] std::string tar_padding(std::size_t length);

}  // namespace d5::detail
