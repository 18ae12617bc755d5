// SPDX-License-Identifier: Apache-2.0
#include "d5/core/download.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/files/gzip.hpp"
#include "core/files/sha256.hpp"
#include "core/files/transfer.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

/// Of one address, as long as each brings more than the one before.
constexpr int kMostAttempts = 5;

std::string sum_of_content(const std::string& bytes, const Download& what, const std::string& from,
                           const Interrupt& interrupt) {
  detail::GzipReader reader(bytes, from);
  detail::Sha256 sum;
  std::string piece(std::size_t{1} << 16, '\0');
  std::size_t total = 0;
  while (const std::size_t n = reader.read(piece.data(), piece.size())) {
    interrupt.check("download");
    if ((total += n) > what.most_bytes) {
      throw FormatError(fmt::format("unpacks to more than {} bytes", what.most_bytes));
    }
    sum.add(std::string_view(piece).substr(0, n));
  }
  return sum.digest();
}

/// What came of a transfer, until it is whole and right.
class PartialFile {
 public:
  PartialFile(const std::string& path, const std::string& sha256)
      : path_(fmt::format("{}.{}.part", path, sha256.substr(0, 12))) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::size_t size() const {
    std::error_code absent;
    const auto size = fs::file_size(path_, absent);
    return absent ? 0 : std::size_t(size);
  }
  void remove() const {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  /// On the disk first, so that a crash leaves the old file or the new.
  void become(const std::string& path) const {
    const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    const bool kept = file >= 0 && ::fsync(file) == 0;
    const int reason = errno;
    if (file >= 0) ::close(file);
    if (!kept || ::rename(path_.c_str(), path.c_str()) != 0) {
      throw IoError(fmt::format("cannot write '{}': {}", printable(path),
                                std::strerror(kept ? errno : reason)));
    }
  }

 private:
  std::string path_;
};

/// Empty once `part` is whole and right; otherwise why `url` did not make it so.
std::string fetch(const std::string& url, const Download& what, const PartialFile& part,
                  const Interrupt& interrupt) {
  std::string reason;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const std::size_t before = part.size();
    const detail::Transfer transfer =
        detail::append_from(url, part.path(), what.most_bytes, interrupt);
    reason = transfer.reason;
    if (transfer.end == detail::Transfer::End::whole) {
      reason = fault_of(part.path(), what, interrupt);
      if (reason.empty()) return {};
      part.remove();
      // It went on from another mirror's beginning, perhaps of a file that is packed otherwise.
      if (before > 0) continue;
      return reason;
    }
    if (transfer.end == detail::Transfer::End::cannot_go_on) {
      part.remove();
      if (before == 0) return reason;
      continue;
    }
    if (part.size() <= before) return reason;
  }
  return reason;
}

}  // namespace

std::string fault_of(const std::string& path, const Download& what, const Interrupt& interrupt) {
  const auto judge = [&](const std::string& given) {
    if (given == what.sha256) return std::string();
    return fmt::format("SHA-256 is {}, expected {}", given, what.sha256);
  };
  if (what.sum_of == Download::Sum::file) return judge(detail::sha256_of_file(path, interrupt));
  const std::string bytes = read_file(path, what.most_bytes, interrupt);
  try {
    return judge(sum_of_content(bytes, what, path, interrupt));
  } catch (const FormatError& error) {
    return error.what();
  }
}

void download(const Download& what, const std::string& path, const Interrupt& interrupt) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored) && fault_of(path, what, interrupt).empty()) return;
  const PartialFile part(path, what.sha256);
  if (part.size() > 0 && fault_of(part.path(), what, interrupt).empty()) return part.become(path);
  std::string reasons;
  for (const std::string& url : what.urls) {
    const std::string reason = fetch(url, what, part, interrupt);
    if (reason.empty()) return part.become(path);
    reasons += fmt::format("\n  {}: {}", printable(url), reason);
  }
  throw IoError(fmt::format("cannot download '{}':{}", printable(path),
                            reasons.empty() ? " no address is given" : reasons));
}

}  // namespace d5
