// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

namespace d5::detail {

/// State of a file at the time it was read.
class FileStamp {
 public:
  FileStamp(std::string path, const struct stat& status);
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Whether the file still exists, unmodified and not replaced.
  [[nodiscard]] bool is_as_it_was() const;

 private:
  std::string path_;
  struct stat status_;
};

/// Records the files that this thread reads by `read_file` while it lives, and those that a data
/// set counts as its own (`Dataset::artefacts`), which it may read later.
class FilesRead {
 public:
  FilesRead();
  ~FilesRead();
  FilesRead(const FilesRead&) = delete;
  FilesRead& operator=(const FilesRead&) = delete;

  [[nodiscard]] const std::vector<FileStamp>& stamps() const { return stamps_; }

  /// Adds a file to all recorders of this thread, including nested ones.
  static void note(const std::string& path, const struct stat& status);
  /// The same for a file that is not open. Without a recorder it costs a branch.
  static void note(const std::string& path);

 private:
  FilesRead* outer_;
  std::vector<FileStamp> stamps_;
};

}  // namespace d5::detail
