// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/server.hpp"

#include "serving/api/router.hpp"
#include "serving/api/safe_place.hpp"

namespace d5 {
namespace {

ServerOptions checked(ServerOptions options) {
  detail::expect_safe_place(options.http.host, options.tokens.has_value(), options.http.certificate,
                            options.http.key);
  return options;
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
