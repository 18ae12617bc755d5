// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

namespace d5::detail {

/// A file as it was when it was read.
class FileStamp {
 public:
  FileStamp(std::string path, const struct stat& status);
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Whether it is there, and nobody wrote to it or put another in its place since.
  [[nodiscard]] bool is_as_it_was() const;

 private:
  std::string path_;
  struct stat status_;
};

/// Hears which files this thread reads by `read_file` while it lives.
class FilesRead {
 public:
  FilesRead();
  ~FilesRead();
  FilesRead(const FilesRead&) = delete;
  FilesRead& operator=(const FilesRead&) = delete;

  [[nodiscard]] const std::vector<FileStamp>& stamps() const { return stamps_; }
  /// Whether a file of that name, in whichever folder, is among them.
  [[nodiscard]] bool have(const std::string& name) const;

  /// Tells all that hear this thread, also those around others.
  static void note(const std::string& path, const struct stat& status);

 private:
  FilesRead* outer_;
  std::vector<FileStamp> stamps_;
};

}  // namespace d5::detail
