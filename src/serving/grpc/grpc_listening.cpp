// SPDX-License-Identifier: Apache-2.0
#include "serving/grpc/grpc_listening.hpp"

#include <fmt/format.h>

#include <chrono>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "serving/api/safe_place.hpp"

namespace d5::detail {
namespace {

std::shared_ptr<grpc::ServerCredentials> credentials_of(const GrpcPlace& place) {
  if (place.certificate.empty()) return grpc::InsecureServerCredentials();
  constexpr std::size_t kMostPemBytes = std::size_t{1} << 20;
  grpc::SslServerCredentialsOptions tls;
  tls.pem_key_cert_pairs.push_back(
      {read_file(place.key, kMostPemBytes), read_file(place.certificate, kMostPemBytes)});
  return grpc::SslServerCredentials(tls);
}

std::string bracketed(const std::string& host) {
  const bool is_bare_ipv6 = host.find(':') != std::string::npos && host[0] != '[';
  return is_bare_ipv6 ? "[" + host + "]" : host;
}

}  // namespace

GrpcListening::GrpcListening(grpc::Service& service, const GrpcPlace& place)
    : host_(bracketed(place.host)) {
  expect_safe_place(place.host, !place.tokens.empty(), place.certificate, place.key);
  if (!place.tokens.empty()) tokens_.emplace(place.tokens);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(fmt::format("{}:{}", host_, place.port), credentials_of(place), &port_);
  builder.SetMaxReceiveMessageSize(place.most_message_bytes);
  builder.SetResourceQuota(
      grpc::ResourceQuota("d5 " + place.what).SetMaxThreads(place.most_threads));
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a port belongs to one server
  builder.RegisterService(&service);
  server_ = builder.BuildAndStart();
  if (!server_ || port_ == 0) {
    throw IoError(fmt::format(
        "cannot listen at {}:{} for {}: another server may be there; port 0 is any free one",
        printable(host_), place.port, place.what));
  }
}

std::string GrpcListening::address() const { return fmt::format("{}:{}", host_, port_); }

std::optional<ServingRole> GrpcListening::role_of(const grpc::ServerContext& context) const {
  if (!tokens_) return ServingRole::admin;
  const auto told = context.client_metadata().find("authorization");
  if (told == context.client_metadata().end()) return {};
  const auto token = tokens_->told({told->second.data(), told->second.size()});
  if (!token) return {};
  return token->role;
}

void GrpcListening::stop() {
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(2));
  server_->Wait();
}

}  // namespace d5::detail
