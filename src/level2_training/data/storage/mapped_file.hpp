// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace d5::detail {

/// A memory-mapped file for random access from any thread: there is no shared position, and a
/// thousand shards hold no file descriptors. Truncating the file meanwhile crashes the process, as
/// with any mapping.
class MappedFile {
 public:
  enum class Access {
    read,
    copy,  ///< may be written: a page that is becomes this process's own, the file stays
  };
  /// Throws: IoError with the system's reason, also for anything but a regular file.
  explicit MappedFile(std::string path, Access access = Access::read);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  std::string path_;
  std::string_view bytes_;
};

}  // namespace d5::detail
