// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace d5::detail {

/// The bytes of a connection, plain or by TLS, for one thread. Another thread may shut the socket
/// down at any time, which ends waiting calls.
///
/// Asio's streams do not replace it: each connection has a thread that calls with a deadline, and
/// Asio has deadlines for asynchronous calls only. Beast parses the requests (`RequestParser`).
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Reads at least one byte, at most as many as fit. Returns 0 if the other side is done,
  /// `deadline` (s, of `now_seconds`) is past, or the connection broke.
  [[nodiscard]] virtual std::size_t read(std::span<char> room, double deadline) = 0;
  /// Writes everything. Returns false if the connection broke, or nothing was taken for `seconds`.
  virtual bool write(std::string_view bytes, double seconds) = 0;
  /// Tells the other side that nothing more is written; it may still be read.
  virtual void end_writing() = 0;
  /// Whether the other side disconnected.
  [[nodiscard]] virtual bool is_gone() = 0;
};

/// Waits until a descriptor can be read or written. Returns false if `deadline` is past, or it
/// broke.
[[nodiscard]] bool wait_for(int descriptor, short events, double deadline);

/// The stream of a connected, non-blocking socket, which outlives it.
[[nodiscard]] std::unique_ptr<ByteStream> plain_stream(int socket);

/// A server's certificate. Thread safety: all functions.
class TlsIdentity {
 public:
  /// Throws: IoError for files that cannot be read, or do not belong together.
  TlsIdentity(const std::string& certificate, const std::string& key);
  ~TlsIdentity();
  TlsIdentity(const TlsIdentity&) = delete;
  TlsIdentity& operator=(const TlsIdentity&) = delete;
  /// Performs the handshake; returns null if it fails, or is not done by `deadline`.
  [[nodiscard]] std::unique_ptr<ByteStream> accept(int socket, double deadline) const;

 private:
  void* context_;
};

}  // namespace d5::detail
