// SPDX-License-Identifier: Apache-2.0
#include "core/files/files_read.hpp"

#include <utility>

namespace d5::detail {
namespace {

thread_local FilesRead* innermost = nullptr;

bool is_same_moment(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

FileStamp::FileStamp(std::string path, const struct stat& status)
    : path_(std::move(path)), status_(status) {}

bool FileStamp::is_as_it_was() const {
  struct stat now{};
  if (::stat(path_.c_str(), &now) != 0) return false;
  return now.st_dev == status_.st_dev && now.st_ino == status_.st_ino &&
         now.st_size == status_.st_size && is_same_moment(now.st_mtim, status_.st_mtim) &&
         is_same_moment(now.st_ctim, status_.st_ctim);
}

FilesRead::FilesRead() : outer_(std::exchange(innermost, this)) {}
FilesRead::~FilesRead() { innermost = outer_; }

void FilesRead::note(const std::string& path, const struct stat& status) {
  for (FilesRead* hearing = innermost; hearing; hearing = hearing->outer_) {
    hearing->stamps_.emplace_back(path, status);
  }
}

void FilesRead::note(const std::string& path) {
  struct stat status{};
  if (innermost && ::stat(path.c_str(), &status) == 0) note(path, status);
}

}  // namespace d5::detail
