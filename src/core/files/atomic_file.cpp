// SPDX-License-Identifier: Apache-2.0
#include "d5/core/files/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>

#include "core/files/files_read.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  throw IoError(fmt::format("{} '{}': {}", what, printable(path), std::strerror(errno)));
}

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

/// True for a device or a pipe: it has no content to replace, and a rename would remove it.
bool is_written_in_place(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

/// The name of this machine, as part of a temporary file's name: other machines may share the
/// folder.
const std::string& machine() {
  static const std::string name = [] {
    std::array<char, 65> text{};
    ::gethostname(text.data(), text.size() - 1);
    std::string result = text.data();
    std::ranges::replace_if(result, [](unsigned char c) { return !std::isalnum(c); }, '_');
    return result;
  }();
  return name;
}

/// The temporary files of this process that are being written.
class OwnFiles {
 public:
  void add(const std::string& name) {
    const std::lock_guard lock(mutex_);
    names_.insert(name);
  }
  void remove(const std::string& name) {
    const std::lock_guard lock(mutex_);
    names_.erase(name);
  }
  [[nodiscard]] bool have(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return names_.contains(name);
  }

 private:
  std::mutex mutex_;
  std::set<std::string> names_;
};
/// Never destroyed: threads may write to the end.
OwnFiles& own_files() {
  static OwnFiles& files = *new OwnFiles;
  return files;
}

std::string name_within(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// A temporary file beside `path`, unique to this process.
std::string temporary_beside(const std::string& path) {
  static std::atomic<unsigned> count{0};
  std::string name = fmt::format("{}.tmp-{}-{}-{}", path, machine(), ::getpid(), count++);
  own_files().add(name_within(name));
  return name;
}
void remove_temporary(const std::string& temporary) {
  ::unlink(temporary.c_str());
  own_files().remove(name_within(temporary));
}

/// In a container, each start may get the same process number as the previous one.
bool is_dead(pid_t process, const std::string& name) {
  if (process == ::getpid()) return !own_files().have(name);
  return ::kill(process, 0) != 0 && errno == ESRCH;
}

/// Removes files that dead processes of this machine left beside `path`.
void remove_left_behind(const std::string& path) {
  const std::filesystem::path target(path);
  const std::string begin = fmt::format("{}.tmp-{}-", target.filename().string(), machine());
  const auto folder = target.has_parent_path() ? target.parent_path() : ".";
  std::error_code error_of_folder;  // reported by writing
  std::filesystem::directory_iterator entry(folder, error_of_folder), none;
  for (; !error_of_folder && entry != none; entry.increment(error_of_folder)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(begin)) continue;
    pid_t process = 0;
    const char* const end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + begin.size(), end, process);
    const bool ours = error == std::errc() && process > 0 && rest != end && *rest == '-';
    if (ours && is_dead(process, name)) ::unlink(entry->path().c_str());
  }
}

constexpr int kNewFile = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;

}  // namespace

void check_writable(const std::string& path) {
  if (is_written_in_place(path)) {
    // Not opened, because a pipe would wait for its reader.
    const bool is_folder = std::filesystem::is_directory(path);
    if (is_folder) errno = EISDIR;
    if (is_folder || ::access(path.c_str(), W_OK) != 0) fail("cannot write", path);
    return;
  }
  remove_left_behind(path);  // now, because a resumed run may have nothing to write
  const std::string temporary = temporary_beside(path);
  const Descriptor file(::open(temporary.c_str(), kNewFile, 0644));
  const int error = errno;
  remove_temporary(temporary);
  errno = error;
  if (file.get() < 0) fail("cannot write", path);
}

ReplacedFile::ReplacedFile(std::string path) : path_(std::move(path)) {
  if (is_written_in_place(path_)) {
    file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    remove_left_behind(path_);
    temporary_ = temporary_beside(path_);
    file_ = ::open(temporary_.c_str(), kNewFile, 0644);
  }
  if (file_ >= 0) return;
  const int error = errno;
  if (!temporary_.empty()) own_files().remove(name_within(temporary_));
  errno = error;
  fail("cannot write", path_);
}

ReplacedFile::~ReplacedFile() {
  ::close(file_);
  if (!temporary_.empty()) remove_temporary(temporary_);
}

void ReplacedFile::write(std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(file_, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot write", path_);
    content.remove_prefix(std::size_t(n));
  }
}

void ReplacedFile::overwrite(std::size_t offset, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::pwrite(file_, content.data(), content.size(), off_t(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot write", path_);
    content.remove_prefix(std::size_t(n));
    offset += std::size_t(n);
  }
}

void ReplacedFile::commit() {
  if (temporary_.empty()) return;
  if (::fsync(file_) != 0 && errno != EINVAL) fail("cannot flush", path_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot replace", path_);
  own_files().remove(name_within(temporary_));
  temporary_.clear();
  // The name must survive a power cut too. A folder that cannot be synced is not an error.
  const auto folder = std::filesystem::path(path_).parent_path();
  const Descriptor directory(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC));
  if (directory.get() >= 0) ::fsync(directory.get());
}

void write_file(const std::string& path, std::string_view content) {
  ReplacedFile file(path);
  file.write(content);
  file.commit();
}

std::string read_file(const std::string& path, std::size_t most_bytes, const Interrupt& interrupt) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail("cannot read", path);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) fail("cannot read", path);
  if (S_ISDIR(status.st_mode)) {
    throw IoError(fmt::format("cannot read '{}': it is a folder", printable(path)));
  }
  detail::FilesRead::note(path, status);
  // A block larger than the file would be zeroed and faulted in for nothing. One byte more than the
  // file's size suffices to detect its end.
  constexpr std::size_t kLargestBlock = std::size_t{1} << 20, kSmallestBlock = 4096;
  const auto promised = std::size_t(std::max<off_t>(status.st_size, 0));
  std::string content;
  std::string block(std::clamp(promised + 1, kSmallestBlock, kLargestBlock), '\0');
  for (;;) {
    interrupt.check(fmt::format("reading '{}'", printable(path)));
    const ssize_t n = ::read(file.get(), block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot read", path);
    if (n == 0) return content;
    if (content.size() + std::size_t(n) > most_bytes) {
      throw IoError(fmt::format("'{}' is larger than {} bytes", printable(path), most_bytes));
    }
    if (content.empty() && promised > 0) content.reserve(std::min(promised, most_bytes));
    content.append(block.data(), std::size_t(n));
  }
}

}  // namespace d5
