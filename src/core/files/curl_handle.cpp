// SPDX-License-Identifier: Apache-2.0
#include "core/files/curl_handle.hpp"

#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// Called during a transfer, at each signal, and each second while it waits. A nonzero result ends
/// the transfer.
int is_due(void* interrupt, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const Interrupt*>(interrupt)->due() ? 1 : 0;
}

/// The file of certificate authorities. A libcurl from a wheel uses the path of the system that
/// compiled it, which may differ here. Empty: libcurl's default.
std::string authorities() {
  namespace fs = std::filesystem;
  if (const char* asked = std::getenv("SSL_CERT_FILE"); asked && *asked) return asked;
  const char* own = libcurl().version_info(CURLVERSION_NOW)->cainfo;
  std::error_code ignored;
  if (!own || fs::exists(own, ignored)) return {};
  for (const char* file : {"/etc/ssl/certs/ca-certificates.crt",  // Debian, Arch, Alpine
                           "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora, RHEL
                           "/etc/ssl/ca-bundle.pem"}) {           // SUSE
    if (fs::exists(file, ignored)) return file;
  }
  return {};
}

}  // namespace

const Libcurl& libcurl() {
  static const Libcurl loaded;
  return loaded;
}

CurlHandle open_curl() {
  static std::once_flag once;
  std::call_once(once, [] { libcurl().global_init(CURL_GLOBAL_DEFAULT); });
  CurlHandle handle(libcurl().easy_init(), libcurl().easy_cleanup);
  if (!handle) throw IoError("libcurl cannot be started");
  if (const std::string file = authorities(); !file.empty()) {
    libcurl().easy_setopt(handle.get(), CURLOPT_CAINFO, file.c_str());
  }
  return handle;
}

CurlLines curl_lines(const std::vector<std::string>& lines) {
  CurlLines list(nullptr, libcurl().slist_free_all);
  for (const std::string& line : lines) {
    list.reset(libcurl().slist_append(list.release(), line.c_str()));
  }
  return list;
}

void heed(CURL* curl, const Interrupt& interrupt) {
  libcurl().easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  libcurl().easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_due);
  libcurl().easy_setopt(curl, CURLOPT_XFERINFODATA, &interrupt);
}

}  // namespace d5::detail
