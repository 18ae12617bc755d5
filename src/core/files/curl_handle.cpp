// SPDX-License-Identifier: Apache-2.0
#include "core/files/curl_handle.hpp"

#include <mutex>

#include "d5/core/error.hpp"

namespace d5::detail {
namespace {

/// Called while a transfer runs, at each signal, and each second while it waits; not 0 ends it.
int is_due(void* interrupt, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const Interrupt*>(interrupt)->due() ? 1 : 0;
}

}  // namespace

CurlHandle open_curl() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  CurlHandle handle(curl_easy_init(), curl_easy_cleanup);
  if (!handle) throw IoError("libcurl cannot be started");
  return handle;
}

CurlLines curl_lines(const std::vector<std::string>& lines) {
  CurlLines list(nullptr, curl_slist_free_all);
  for (const std::string& line : lines) {
    list.reset(curl_slist_append(list.release(), line.c_str()));
  }
  return list;
}

void heed(CURL* curl, const Interrupt& interrupt) {
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_due);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &interrupt);
}

}  // namespace d5::detail
