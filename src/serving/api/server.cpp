// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/server.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "serving/api/router.hpp"

namespace d5 {
namespace {

/// Whoever reaches it may do everything, and everyone between hears all that is said.
ServerOptions checked(ServerOptions options) {
  const HttpServerOptions& http = options.http;
  if (http.certificate.empty() != http.key.empty()) {
    throw ValueError("TLS takes both a certificate and its key");
  }
  if (is_loopback(http.host)) return options;
  std::string missing;
  if (!options.tokens) missing = "tokens ('d5 token add')";
  if (http.certificate.empty()) {
    missing += std::string(missing.empty() ? "" : ", and ") + "TLS (a certificate and its key)";
  }
  if (missing.empty()) return options;
  throw ValueError(fmt::format(
      "'{}' is reached from other machines, which takes {}; without them a server stays on "
      "127.0.0.1",
      printable(http.host), missing));
}

}  // namespace

Server::Server(ServerOptions options)
    : options_(checked(std::move(options))),
      context_(options_.database),
      router_(std::make_unique<detail::Router>(context_, options_.tokens)) {}

Server::~Server() { stop(); }

void Server::begin() {
  if (!http_) http_ = std::make_unique<HttpServer>(*router_, options_.http);
}

std::string Server::address() const { return http_ ? http_->address() : ""; }
int Server::port() const { return http_ ? http_->port() : 0; }

void Server::stop() {
  if (http_) http_->stop();
}

}  // namespace d5
