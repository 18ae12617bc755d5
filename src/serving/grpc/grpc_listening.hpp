// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>

#include "d5/serving/api/access_tokens.hpp"

namespace d5::detail {

/// Address and limits of a gRPC service.
struct GrpcPlace {
  std::string what;  ///< purpose: "agents"
  std::string host;
  int port = 0;                  ///< 0: any free port
  std::string certificate = {};  ///< PEM file with its chain; empty: no TLS
  std::string key = {};          ///< PEM file
  std::string tokens = {};       ///< file of `AccessTokens`; empty: everyone may do everything
  int most_message_bytes = 0;
  int most_threads = 0;
};

/// A listening gRPC service. Callers give their token as metadata, "authorization: Bearer TOKEN".
class GrpcListening {
 public:
  /// `service` outlives it. Throws: IoError if it cannot listen or read the certificate; ValueError
  /// for an address of other machines without TLS and tokens.
  GrpcListening(grpc::Service& service, const GrpcPlace& place);

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string address() const;  ///< HOST:PORT
  /// The caller's role; nullopt without a token, or for an unknown one.
  [[nodiscard]] std::optional<ServingRole> role_of(const grpc::ServerContext& context) const;
  /// Gives running calls two seconds.
  void stop();

 private:
  std::string host_;
  std::optional<AccessTokens> tokens_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace d5::detail
