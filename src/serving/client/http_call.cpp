// SPDX-License-Identifier: Apache-2.0
#include "serving/client/http_call.hpp"

#include <array>
#include <exception>

#include "core/files/curl_handle.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

struct Receiving {
  CURL* curl;
  const HttpCall& call;
  CallAnswer answer;
  std::exception_ptr thrown;
};

int answer_status(CURL* curl) {
  long status = 0;
  libcurl().easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  return int(status);
}

std::size_t take(char* data, std::size_t size, std::size_t count, void* into) {
  auto& receiving = *static_cast<Receiving*>(into);
  const std::string_view piece(data, size * count);
  constexpr int kRefused = 300;
  try {
    if (receiving.call.hear && answer_status(receiving.curl) < kRefused) {
      receiving.call.hear(piece);
    } else if (receiving.answer.body.size() + piece.size() <= receiving.call.most_bytes) {
      receiving.answer.body += piece;
    } else {
      throw IoError("the server's answer is larger than expected");
    }
  } catch (...) {
    receiving.thrown = std::current_exception();
    return 0;  // ends the transfer
  }
  return piece.size();
}

}  // namespace

CallAnswer call(const HttpCall& call) {
  const CurlHandle handle = open_curl();
  CURL* const curl = handle.get();
  const CurlLines headers = curl_lines(call.headers);
  Receiving receiving{curl, call, {}, {}};
  std::array<char, CURL_ERROR_SIZE> reason{};
  libcurl().easy_setopt(curl, CURLOPT_URL, call.url.c_str());
  libcurl().easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https,http");
  libcurl().easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  libcurl().easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  if (!call.body.empty()) {
    libcurl().easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(call.body.size()));
    libcurl().easy_setopt(curl, CURLOPT_POSTFIELDS, call.body.data());
  }
  if (!call.certificates.empty()) {
    libcurl().easy_setopt(curl, CURLOPT_CAINFO, call.certificates.c_str());
  }
  libcurl().easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 20L);
  libcurl().easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  libcurl().easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, long(call.seconds));
  libcurl().easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
  libcurl().easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  libcurl().easy_setopt(curl, CURLOPT_ERRORBUFFER, reason.data());
  libcurl().easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
  libcurl().easy_setopt(curl, CURLOPT_WRITEDATA, &receiving);
  heed(curl, call.interrupt);
  const CURLcode status = libcurl().easy_perform(curl);
  if (receiving.thrown) std::rethrow_exception(receiving.thrown);
  if (status == CURLE_ABORTED_BY_CALLBACK) call.interrupt.check("the server's answer");
  receiving.answer.status = answer_status(curl);
  if (status != CURLE_OK) {
    receiving.answer.is_distrusted = status == CURLE_PEER_FAILED_VERIFICATION;
    receiving.answer.reason = reason[0] ? reason.data() : libcurl().easy_strerror(status);
  }
  return receiving.answer;
}

}  // namespace d5::detail
