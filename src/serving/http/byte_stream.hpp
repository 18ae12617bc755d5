// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace d5::detail {

/// A connection's bytes, plain or through TLS, of one thread. Another may shut the socket down at
/// any time, which ends what waits.
///
/// Not Asio's streams: each connection has a thread that calls with a deadline, and Asio has
/// deadlines for asynchronous calls alone. Requests are parsed by Beast (`RequestParser`).
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// At least one byte, but no more than there is room for; 0: the other side is done, or it is
  /// past `deadline` (s, of `now_seconds`), or the connection broke.
  [[nodiscard]] virtual std::size_t read(std::span<char> room, double deadline) = 0;
  /// All of it. False: the connection broke, or nothing was taken for `seconds`.
  virtual bool write(std::string_view bytes, double seconds) = 0;
  /// Whether the other side went away.
  [[nodiscard]] virtual bool is_gone() = 0;
};

/// Waits until a descriptor can be read or written. False: `deadline` is past, or it broke.
[[nodiscard]] bool wait_for(int descriptor, short events, double deadline);

/// Of a connected socket that does not block, which outlives it.
[[nodiscard]] std::unique_ptr<ByteStream> plain_stream(int socket);

/// What a server shows to prove who it is. Thread safety: all functions.
class TlsIdentity {
 public:
  /// Throws: IoError for files that cannot be read, or do not belong together.
  TlsIdentity(const std::string& certificate, const std::string& key);
  ~TlsIdentity();
  TlsIdentity(const TlsIdentity&) = delete;
  TlsIdentity& operator=(const TlsIdentity&) = delete;
  /// Shakes hands; null where that fails, or is not done by `deadline`.
  [[nodiscard]] std::unique_ptr<ByteStream> accept(int socket, double deadline) const;

 private:
  void* context_;
};

}  // namespace d5::detail
