// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/inference/inference_client.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "serving/grpc/grpc_parts.hpp"
#include "serving/inference/inference_clients.hpp"

namespace d5 {

std::unique_ptr<InferenceClient> open_inference_client(const std::string& address,
                                                       const InferenceClientOptions& options) {
  const auto mark = address.find("://");
  const bool is_plain = mark == std::string::npos;
  const detail::InferenceAddress where{is_plain ? "http" : address.substr(0, mark),
                                       is_plain ? address : address.substr(mark + 3)};
  const bool has_place =
      !where.place.empty() && where.place.find_first_of("/?#@ \t\r\n") == std::string::npos;
  if (has_place && (where.scheme == "http" || where.scheme == "https")) {
    return detail::http_inference_client(where, options);
  }
  if (has_place && (where.scheme == "grpc" || where.scheme == "grpcs")) {
    return detail::grpc_parts("grpc://").inference_client(where, options);
  }
  throw ValueError(
      fmt::format("inference server '{}': expected HOST:PORT, http://, https://, grpc:// or "
                  "grpcs://HOST:PORT",
                  printable(address)));
}

}  // namespace d5
