// SPDX-License-Identifier: Apache-2.0
#include "d5/core/files/download.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "core/files/curl_handle.hpp"
#include "core/files/gzip.hpp"
#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/interrupts/interrupt.hpp"

namespace d5::detail {
namespace {

/// Result of a file transfer.
struct Transfer {
  enum class End {
    whole,
    broke_off,     ///< the received part is kept
    cannot_go_on,  ///< no resuming from the file's end, or the file is too large
  } end;
  std::string reason;  ///< empty if complete
};

struct Body {
  std::FILE* file;
  std::size_t bytes;  ///< size of the file
  std::size_t most_bytes;
  bool too_large = false;
};

std::size_t receive(char* data, std::size_t size, std::size_t count, void* into) {
  auto& body = *static_cast<Body*>(into);
  body.too_large = size * count > body.most_bytes - body.bytes;
  if (body.too_large) return 0;  // ends the transfer
  const std::size_t written = std::fwrite(data, 1, size * count, body.file);
  body.bytes += written;
  return written;
}

/// True if the server lacks the range, or does not support ranges.
bool is_refused_range(CURL* curl, CURLcode status) {
  constexpr long kRangeNotSatisfiable = 416;
  long answer = 0;
  libcurl().easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer);
  return status == CURLE_RANGE_ERROR || status == CURLE_BAD_DOWNLOAD_RESUME ||
         answer == kRangeNotSatisfiable;
}

void configure(CURL* curl, const std::string& url, Body& body, const Interrupt& interrupt) {
  libcurl().easy_setopt(curl, CURLOPT_URL, url.c_str());
  libcurl().easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https,http,file");
  libcurl().easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "https,http");
  libcurl().easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  libcurl().easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
  libcurl().easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  libcurl().easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 20L);
  libcurl().easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT,
                        1000L);  // give up below this rate, in bytes per second,
  libcurl().easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 30L);  // for this time, in seconds
  libcurl().easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  libcurl().easy_setopt(curl, CURLOPT_RESUME_FROM_LARGE, curl_off_t(body.bytes));
  libcurl().easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
  libcurl().easy_setopt(curl, CURLOPT_WRITEDATA, &body);
  heed(curl, interrupt);
}

/// Resumes the transfer of `url` (https, http or file) from the end of `path`, and appends to it.
/// Throws: IoError if `path` cannot be written; Interrupted, which keeps the received part.
Transfer append_from(const std::string& url, const std::string& path, std::size_t most_bytes,
                     const Interrupt& interrupt) {
  const CurlHandle handle = open_curl();
  CURL* curl = handle.get();
  std::unique_ptr<std::FILE, decltype(&std::fclose)> file(std::fopen(path.c_str(), "abe"),
                                                          std::fclose);
  const auto cannot_write = [&] {
    return IoError(fmt::format("cannot write '{}': {}", printable(path), std::strerror(errno)));
  };
  if (!file) throw cannot_write();
  std::error_code error;
  Body body{file.get(), std::size_t(std::filesystem::file_size(path, error)), most_bytes};
  if (error || body.bytes > most_bytes) body.bytes = most_bytes;
  configure(curl, url, body, interrupt);
  std::array<char, CURL_ERROR_SIZE> reason{};
  libcurl().easy_setopt(curl, CURLOPT_ERRORBUFFER, reason.data());
  const CURLcode status = libcurl().easy_perform(curl);
  if (std::fclose(file.release()) != 0) throw cannot_write();
  if (status == CURLE_ABORTED_BY_CALLBACK) interrupt.check("download");
  if (body.too_large) {
    return {Transfer::End::cannot_go_on, fmt::format("is larger than {} bytes", most_bytes)};
  }
  if (status == CURLE_WRITE_ERROR) throw cannot_write();
  if (status == CURLE_OK) return {Transfer::End::whole, {}};
  return {is_refused_range(curl, status) ? Transfer::End::cannot_go_on : Transfer::End::broke_off,
          reason[0] ? reason.data() : libcurl().easy_strerror(status)};
}

}  // namespace
}  // namespace d5::detail

namespace d5 {
namespace {

namespace fs = std::filesystem;

/// Limit of attempts per address, as long as each receives more than the previous one.
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

/// The file of a partial transfer, until it is complete and correct.
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
  /// Flushed to the disk first, so that a crash leaves the old file or the new.
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

/// Downloads `url` to `part`. Empty if it is complete and correct; otherwise the reason.
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
      // The beginning came from another mirror, whose compression may differ.
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
