// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>
#include <vector>

#include "d5/core/interrupt.hpp"

namespace d5::detail {

using CurlHandle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
/// Throws: IoError where libcurl cannot be started. Thread safety: any number of threads.
[[nodiscard]] CurlHandle open_curl();

using CurlLines = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;
/// Header lines of a request: "Accept: application/json".
[[nodiscard]] CurlLines curl_lines(const std::vector<std::string>& lines);

/// Ends a transfer when `interrupt`, which outlives it, is due: CURLE_ABORTED_BY_CALLBACK.
void heed(CURL* curl, const Interrupt& interrupt);

}  // namespace d5::detail
