// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5::detail {

/// One request to a server.
struct HttpCall {
  std::string method = "GET";
  std::string url;
  std::vector<std::string> headers = {};  ///< "Accept: application/json"
  std::string body = {};
  std::string certificates = {};  ///< PEM file of authorities; empty: the system's
  std::size_t most_bytes = std::size_t{1} << 30;
  double seconds = 60;  ///< time without a byte; 0: no limit
  Interrupt interrupt = {};
  /// Receives each piece of a successful answer's body as it arrives, instead of
  /// `CallAnswer::body`.
  std::function<void(std::string_view)> hear = {};
};

struct CallAnswer {
  int status = 0;  ///< 0: there was no answer
  std::string body = {};
  std::string reason = {};     ///< why there was none, or why it broke off; empty: it is complete
  bool is_distrusted = false;  ///< no authority vouches for the server's certificate
};

/// Throws: Interrupted, and what `hear` throws.
[[nodiscard]] CallAnswer call(const HttpCall& call);

}  // namespace d5::detail
