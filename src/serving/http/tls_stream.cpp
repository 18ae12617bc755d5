// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <climits>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "serving/http/byte_stream.hpp"

namespace d5::detail {
namespace {

std::string openssl_reason() {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return text.data();
}

class TlsStream final : public ByteStream {
 public:
  TlsStream(SSL_CTX* context, int socket) : ssl_(SSL_new(context)), socket_(socket) {
    if (!ssl_ || SSL_set_fd(ssl_, socket) != 1) throw IoError("TLS: " + openssl_reason());
  }
  ~TlsStream() override {
    SSL_shutdown(ssl_);
    ERR_clear_error();
    SSL_free(ssl_);
  }
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  bool shake_hands(double deadline) {
    for (;;) {
      const int done = SSL_accept(ssl_);
      if (done == 1) return true;
      if (!wait(done, deadline)) return false;
    }
  }

  std::size_t read(std::span<char> room, double deadline) override {
    for (;;) {
      const int count =
          SSL_read(ssl_, room.data(), int(std::min<std::size_t>(room.size(), INT_MAX)));
      if (count > 0) return std::size_t(count);
      if (!wait(count, deadline)) return 0;
    }
  }

  bool write(std::string_view bytes, double seconds) override {
    while (!bytes.empty()) {
      const int count =
          SSL_write(ssl_, bytes.data(), int(std::min<std::size_t>(bytes.size(), INT_MAX)));
      if (count > 0) {
        bytes.remove_prefix(std::size_t(count));
      } else if (!wait(count, now_seconds() + seconds)) {
        return false;
      }
    }
    return true;
  }

  void end_writing() override {
    SSL_shutdown(ssl_);
    ERR_clear_error();
    ::shutdown(socket_, SHUT_WR);
  }

  bool is_gone() override {
    char byte = 0;
    const int count = SSL_peek(ssl_, &byte, 1);
    return count <= 0 && event_of(count) == 0;
  }

 private:
  /// The event for which a failed call must wait; 0: it failed for good.
  [[nodiscard]] short event_of(int result) const {
    const int error = SSL_get_error(ssl_, result);
    ERR_clear_error();
    if (error == SSL_ERROR_WANT_READ) return POLLIN;
    if (error == SSL_ERROR_WANT_WRITE) return POLLOUT;
    return 0;
  }
  [[nodiscard]] bool wait(int result, double deadline) const {
    const short event = event_of(result);
    return event != 0 && wait_for(socket_, event, deadline);
  }

  SSL* ssl_;
  int socket_;
};

SSL_CTX* context_of(void* context) { return static_cast<SSL_CTX*>(context); }

}  // namespace

TlsIdentity::TlsIdentity(const std::string& certificate, const std::string& key)
    : context_(SSL_CTX_new(TLS_server_method())) {
  SSL_CTX* const context = context_of(context_);
  const auto fail = [&](const std::string& what) {
    const std::string reason = openssl_reason();
    SSL_CTX_free(context);
    throw IoError(fmt::format("TLS: {}: {}", what, reason));
  };
  if (!context) fail("OpenSSL cannot begin");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  if (SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1) {
    fail(fmt::format("the certificate '{}' cannot be read", printable(certificate)));
  }
  if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context) != 1) {
    fail(fmt::format("the key '{}' cannot be read, or is not that of the certificate",
                     printable(key)));
  }
}

TlsIdentity::~TlsIdentity() { SSL_CTX_free(context_of(context_)); }

std::unique_ptr<ByteStream> TlsIdentity::accept(int socket, double deadline) const {
  auto stream = std::make_unique<TlsStream>(context_of(context_), socket);
  if (!stream->shake_hands(deadline)) return nullptr;
  return stream;
}

}  // namespace d5::detail
