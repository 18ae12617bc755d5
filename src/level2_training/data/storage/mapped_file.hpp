// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace d5::detail {

/// A file's bytes, read at random from any thread: there is no position to share, and a thousand
/// shards hold no descriptors. Whoever cuts the file meanwhile ends the process, as with any
/// mapping.
class MappedFile {
 public:
  enum class Access {
    read,
    copy,  ///< may be written: a page that is becomes this process's own, the file stays
  };
  /// Throws: IoError with the system's reason; for what is no regular file.
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
