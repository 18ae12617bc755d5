// SPDX-License-Identifier: Apache-2.0
#include "core/files/transfer.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "core/files/curl_handle.hpp"
#include "d5/core/error.hpp"

namespace d5::detail {
namespace {

struct Body {
  std::FILE* file;
  std::size_t bytes;  ///< that the file has
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

/// The server has no such range, or ranges at all.
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
  libcurl().easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1000L);  // bytes a second ...
  libcurl().easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 30L);     // ... for so many seconds gives up
  libcurl().easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  libcurl().easy_setopt(curl, CURLOPT_RESUME_FROM_LARGE, curl_off_t(body.bytes));
  libcurl().easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
  libcurl().easy_setopt(curl, CURLOPT_WRITEDATA, &body);
  heed(curl, interrupt);
}

}  // namespace

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

}  // namespace d5::detail
