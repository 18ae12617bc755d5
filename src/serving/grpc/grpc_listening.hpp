// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>

#include "d5/serving/api/access_tokens.hpp"

namespace d5::detail {

/// Where a service of gRPC listens, and within which limits.
struct GrpcPlace {
  std::string what;  ///< it is for: "agents"
  std::string host;
  int port = 0;                  ///< 0: any that is free
  std::string certificate = {};  ///< PEM file with its chain; empty: no TLS
  std::string key = {};          ///< PEM file
  std::string tokens = {};       ///< file of `AccessTokens`; empty: everyone may do everything
  int most_message_bytes = 0;
  int most_threads = 0;
};

/// A service of gRPC that listens. What calls it is asked for its token: metadata,
/// "authorization: Bearer TOKEN".
class GrpcListening {
 public:
  /// `service` outlives it. Throws: IoError where it cannot listen or read the certificate;
  /// ValueError for an address of other machines without TLS and tokens.
  GrpcListening(grpc::Service& service, const GrpcPlace& place);

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string address() const;  ///< HOST:PORT
  /// What the caller may do; nothing where it tells no token, or one that there is not.
  [[nodiscard]] std::optional<ServingRole> role_of(const grpc::ServerContext& context) const;
  /// Calls that are under way have two seconds.
  void stop();

 private:
  std::string host_;
  std::optional<AccessTokens> tokens_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace d5::detail
