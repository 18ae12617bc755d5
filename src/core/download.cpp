// SPDX-License-Identifier: Apache-2.0
#include "d5/core/download.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <mutex>

#include "core/gzip.hpp"
#include "core/sha256.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"

namespace d5 {
namespace {

/// Empty if `content` is what was asked for, otherwise what is wrong with it.
std::string fault(const std::string& content, const Download& what, const std::string& from,
                  const Interrupt& interrupt) {
  try {
    detail::GzipReader reader(content, from);
    detail::Sha256 sum;
    std::string piece(std::size_t{1} << 16, '\0');
    std::size_t total = 0;
    while (const std::size_t n = reader.read(piece.data(), piece.size())) {
      interrupt.check("download");
      if ((total += n) > what.most_bytes) {
        return fmt::format("unpacks to more than {} bytes", what.most_bytes);
      }
      sum.add(std::string_view(piece).substr(0, n));
    }
    const std::string given = sum.digest();
    if (given == what.sha256) return {};
    return fmt::format("SHA-256 is {}, expected {}", given, what.sha256);
  } catch (const FormatError& error) {
    return error.what();
  }
}

struct Body {
  std::string bytes;
  std::size_t most_bytes;
};

std::size_t receive(char* data, std::size_t size, std::size_t count, void* into) {
  auto& body = *static_cast<Body*>(into);
  if (size * count > body.most_bytes - body.bytes.size()) return 0;  // ends the transfer
  body.bytes.append(data, size * count);
  return size * count;
}

/// Called while a transfer runs, at each signal, and each second while it waits; not 0 ends it.
int is_due(void* interrupt, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const Interrupt*>(interrupt)->due() ? 1 : 0;
}

/// The content behind `url`. Throws: IoError, Interrupted.
std::string fetch(const std::string& url, std::size_t most_bytes, const Interrupt& interrupt) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle(curl_easy_init(),
                                                                   curl_easy_cleanup);
  if (!handle) throw IoError("libcurl cannot be started");
  CURL* curl = handle.get();
  Body body{{}, most_bytes};
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https,http,file");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "https,http");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 20L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1000L);  // bytes a second ...
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 30L);     // ... for so many seconds gives up
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_due);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &interrupt);
  std::array<char, CURL_ERROR_SIZE> reason{};
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason.data());
  const CURLcode status = curl_easy_perform(curl);
  if (status == CURLE_ABORTED_BY_CALLBACK) interrupt.check("download");
  if (status == CURLE_WRITE_ERROR)
    throw IoError(fmt::format("is larger than {} bytes", most_bytes));
  if (status != CURLE_OK) throw IoError(reason[0] ? reason.data() : curl_easy_strerror(status));
  return std::move(body.bytes);
}

}  // namespace

void download(const Download& what, const std::string& path, const Interrupt& interrupt) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored) &&
      fault(read_file(path, what.most_bytes, interrupt), what, path, interrupt).empty()) {
    return;
  }
  std::string reasons;
  for (const std::string& url : what.urls) {
    try {
      const std::string content = fetch(url, what.most_bytes, interrupt);
      const std::string wrong = fault(content, what, url, interrupt);
      if (wrong.empty()) return write_file(path, content);
      reasons += fmt::format("\n  {}: {}", printable(url), wrong);
    } catch (const IoError& error) {
      reasons += fmt::format("\n  {}: {}", printable(url), error.what());
    }
  }
  throw IoError(fmt::format("cannot download '{}':{}", printable(path),
                            reasons.empty() ? " no address is given" : reasons));
}

}  // namespace d5
