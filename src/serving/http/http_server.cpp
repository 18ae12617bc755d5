// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/http/http_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <limits>
#include <list>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "core/files/owned_descriptor.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "serving/http/byte_stream.hpp"
#include "serving/http/http_connection.hpp"

namespace d5 {
namespace {

using detail::OwnedDescriptor;

constexpr double kFarAhead = std::numeric_limits<double>::infinity();

std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses_of(const std::string& host, int port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  const int error = ::getaddrinfo(host.c_str(), service.c_str(), &wanted, &found);
  if (error != 0) {
    throw IoError(
        fmt::format("'{}' is no address here: {}", printable(host), ::gai_strerror(error)));
  }
  return {found, ::freeaddrinfo};
}

OwnedDescriptor listening_socket(const std::string& host, int port) {
  const auto found = addresses_of(host, port);
  int reason = 0;
  for (const addrinfo* one = found.get(); one; one = one->ai_next) {
    OwnedDescriptor socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int yes = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    constexpr int kBacklog = 128;
    if (::bind(socket.get(), one->ai_addr, one->ai_addrlen) == 0 &&
        ::listen(socket.get(), kBacklog) == 0) {
      return socket;
    }
    reason = errno;
  }
  throw IoError(
      fmt::format("cannot listen at {}:{}: {}{}", printable(host), port, std::strerror(reason),
                  reason == EADDRINUSE ? ": another server is there; port 0 is any free one" : ""));
}

int port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  const bool six = address.ss_family == AF_INET6;
  return ntohs(six ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

std::string text_of(const sockaddr_storage& address, socklen_t size) {
  std::array<char, 128> host{};
  const int error = ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host.data(),
                                  socklen_t(host.size()), nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? host.data() : "unknown";
}

std::set<std::string> own_names(const HttpServerOptions& options) {
  std::set<std::string> names(options.names.begin(), options.names.end());
  names.insert("localhost");
  names.insert(options.host);
  std::array<char, 256> machine{};
  if (::gethostname(machine.data(), machine.size() - 1) == 0) names.insert(machine.data());
  std::set<std::string> small;
  for (const auto& name : names) small.insert(detail::small_letters(name));
  return small;
}

}  // namespace

std::size_t HttpHandler::most_body_bytes(const HttpRequest&, std::size_t usual) { return usual; }
HttpResponse HttpHandler::error_form(const HttpRequest&, HttpResponse problem) { return problem; }

bool is_loopback(const std::string& host) {
  if (host == "localhost" || host == "::1") return true;
  in_addr four{};
  constexpr std::uint32_t kNet = 127;
  return ::inet_pton(AF_INET, host.c_str(), &four) == 1 && ntohl(four.s_addr) >> 24 == kNet;
}

class HttpServer::Listening {
 public:
  Listening(HttpHandler& handler, const HttpServerOptions& options)
      : handler_(handler),
        options_(options),
        names_(own_names(options)),
        identity_(options.certificate.empty()
                      ? nullptr
                      : std::make_unique<detail::TlsIdentity>(options.certificate, options.key)),
        socket_(listening_socket(options.host, options.port)),
        port_(port_of(socket_.get())),
        accepting_([this] { accept_all(); }) {}

  ~Listening() { stop(); }

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string address() const {
    const bool six = options_.host.find(':') != std::string::npos;
    return fmt::format("{}://{}:{}", identity_ ? "https" : "http",
                       six ? "[" + options_.host + "]" : options_.host, port_);
  }

  void stop() {
    stop_.request_stop();
    ::shutdown(socket_.get(), SHUT_RDWR);  // wakes waiting calls
    if (accepting_.joinable()) accepting_.join();
    std::unique_lock lock(mutex_);
    shut_all(SHUT_RD);
    constexpr std::chrono::seconds kPatience{2};
    ended_.wait_for(lock, kPatience, [&] { return all_done(); });
    shut_all(SHUT_RDWR);
    ended_.wait(lock, [&] { return all_done(); });
    connections_.clear();
  }

 private:
  struct Connection {
    explicit Connection(int socket) : socket(socket) {}
    OwnedDescriptor socket;
    bool done = false;    ///< guarded by `mutex_`
    std::jthread thread;  ///< last: it ends before the socket is closed
  };

  void shut_all(int how) {
    for (auto& connection : connections_) {
      if (!connection.done) ::shutdown(connection.socket.get(), how);
    }
  }
  [[nodiscard]] bool all_done() const {
    return std::ranges::all_of(connections_, [](const Connection& one) { return one.done; });
  }

  void accept_all() {
    while (!stop_.stop_requested()) {
      if (!detail::wait_for(socket_.get(), POLLIN, kFarAhead)) {
        if (stop_.stop_requested()) return;
        continue;
      }
      sockaddr_storage address{};
      socklen_t size = sizeof address;
      const int socket = ::accept4(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size,
                                   SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (socket >= 0) {
        begin(socket, text_of(address, size));
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until some are closed
      }
    }
  }

  void begin(int socket, std::string peer) {
    const int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    const std::scoped_lock lock(mutex_);
    connections_.remove_if([](const Connection& one) { return one.done; });
    Connection& one = connections_.emplace_back(socket);
    try {
      if (connections_.size() > options_.most_connections) {
        throw std::system_error(std::make_error_code(std::errc::too_many_files_open));
      }
      one.thread = std::jthread([this, &one, peer = std::move(peer)] { serve(one, peer); });
    } catch (const std::system_error&) {
      if (!identity_) {
        const auto busy = HttpResponse::problem(503, "too many connections; try again later");
        detail::plain_stream(socket)->write(
            detail::response_text(busy, {.after = detail::ResponseForm::After::end}), 0);
      }
      connections_.pop_back();
    }
  }

  void serve(Connection& one, const std::string& peer) {
    sigset_t pipe;  // OpenSSL may write to a closed socket
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    try {
      const int socket = one.socket.get();
      const auto stream = identity_
                              ? identity_->accept(socket, now_seconds() + options_.head_seconds)
                              : detail::plain_stream(socket);
      if (stream) {
        detail::serve_connection(*stream, {handler_, options_, names_, peer, stop_.get_token()});
      }
    } catch (const std::exception&) {  // such as out of memory: this connection alone ends
    }
    ::shutdown(one.socket.get(), SHUT_RDWR);
    const std::scoped_lock lock(mutex_);
    one.socket.close();  // else a client that still sends would wait for its room
    one.done = true;
    ended_.notify_all();
  }

  HttpHandler& handler_;
  const HttpServerOptions options_;
  const std::set<std::string> names_;
  const std::unique_ptr<detail::TlsIdentity> identity_;
  const OwnedDescriptor socket_;
  const int port_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::list<Connection> connections_;  ///< guarded by `mutex_`
  std::jthread accepting_;
};

HttpServer::HttpServer(HttpHandler& handler, const HttpServerOptions& options)
    : listening_(std::make_unique<Listening>(handler, options)) {}
HttpServer::~HttpServer() = default;

int HttpServer::port() const { return listening_->port(); }
std::string HttpServer::address() const { return listening_->address(); }
void HttpServer::stop() { listening_->stop(); }

}  // namespace d5
