// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>
#include <vector>

#include "core/entries/system_library.hpp"
#include "d5/core/interrupts/interrupt.hpp"

namespace d5::detail {

/// libcurl's functions, by their names in its header.
struct Libcurl {
  SystemLibrary library{"curl", "HTTP", "install libcurl4"};
#define D5_CURL(name) \
  decltype(::curl_##name)* name = library.function<decltype(::curl_##name)>("curl_" #name)
  D5_CURL(easy_cleanup);
  D5_CURL(easy_escape);
  D5_CURL(easy_getinfo);
  D5_CURL(easy_init);
  D5_CURL(easy_perform);
  D5_CURL(easy_reset);
  D5_CURL(easy_setopt);
  D5_CURL(easy_strerror);
  D5_CURL(free);
  D5_CURL(global_init);
  D5_CURL(multi_add_handle);
  D5_CURL(multi_cleanup);
  D5_CURL(multi_info_read);
  D5_CURL(multi_init);
  D5_CURL(multi_perform);
  D5_CURL(multi_poll);
  D5_CURL(multi_remove_handle);
  D5_CURL(multi_wakeup);
  D5_CURL(slist_append);
  D5_CURL(slist_free_all);
  D5_CURL(strequal);
  D5_CURL(version_info);
#undef D5_CURL
};
/// Throws: Unsupported if it cannot be loaded. Thread safety: any number of threads.
[[nodiscard]] const Libcurl& libcurl();

using CurlHandle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
/// Throws: as `libcurl`; IoError if it cannot be started. Thread safety: any number of threads.
[[nodiscard]] CurlHandle open_curl();

using CurlLines = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;
/// Header lines of a request: "Accept: application/json".
[[nodiscard]] CurlLines curl_lines(const std::vector<std::string>& lines);

/// Ends a transfer with CURLE_ABORTED_BY_CALLBACK when `interrupt` is due, which must outlive it.
void heed(CURL* curl, const Interrupt& interrupt);

}  // namespace d5::detail
