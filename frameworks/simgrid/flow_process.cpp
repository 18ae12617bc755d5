// SPDX-License-Identifier: Apache-2.0
#include "flow_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>

#include "d5/core/errors/error.hpp"

namespace d5::simgrid {
namespace {

struct Question {
  std::uint64_t flows = 0;  ///< number of flows that follow
  double limit = 0;
};
struct Answer {
  std::uint64_t ids = 0;  ///< number of ids that follow
  double time = 0;
};

/// Whether everything was sent; the other end may be gone.
bool send_all(int socket, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t count = send(socket, at, bytes, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t bytes) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t count = recv(socket, at, bytes, MSG_WAITALL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

template <class Head, class Element>
bool send_list(int socket, std::vector<char>& buffer, const Head& head,
               const std::vector<Element>& list) {
  buffer.resize(sizeof head + list.size() * sizeof(Element));
  std::memcpy(buffer.data(), &head, sizeof head);
  if (!list.empty()) {
    std::memcpy(buffer.data() + sizeof head, list.data(), list.size() * sizeof(Element));
  }
  return send_all(socket, buffer.data(), buffer.size());
}

/// In the child: releases everything of the parent except the socket. The child ends when that
/// closes.
void leave_the_parent(int socket, int words) {
  dup2(socket, STDIN_FILENO);
  dup2(words, STDOUT_FILENO);
  dup2(words, STDERR_FILENO);
  close_range(STDERR_FILENO + 1, ~0U, 0);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    std::signal(signal, SIG_DFL);
  }
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
}

/// Serves requests until the socket is closed.
void serve(const ClusterDescription& cluster, const Topology& topology, int hosts) {
  constexpr int kSocket = STDIN_FILENO;
  FlowEngine engine(cluster, topology, hosts);
  // The parent handles Ctrl-C.
  std::signal(SIGINT, SIG_IGN);
  std::vector<Flow> flows;
  std::vector<char> buffer;
  for (Question question; receive_all(kSocket, &question, sizeof question);) {
    flows.resize(question.flows);
    if (!receive_all(kSocket, flows.data(), flows.size() * sizeof(Flow))) return;
    for (const Flow& flow : flows) engine.start(flow);
    const Arrivals arrivals = engine.advance(question.limit);
    const Answer answer{arrivals.ids.size(), arrivals.time};
    if (!send_list(kSocket, buffer, answer, arrivals.ids)) return;
  }
}

/// The last output, on one line.
std::string last_words(int file) {
  constexpr off_t kMost = 1000;
  const off_t size = lseek(file, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::clamp<off_t>(size, 0, kMost)), '\0');
  const ssize_t count = pread(file, text.data(), text.size(), std::max<off_t>(0, size - kMost));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return printable_message(text);
}

}  // namespace

FlowProcess::FlowProcess(const ClusterDescription& cluster, const Topology& topology, int hosts)
    : network_(cluster.name) {
  const auto no = [&](const char* what) {
    throw IoError(
        fmt::format("simgrid: cannot start its own process: {}: {}", what, std::strerror(errno)));
  };
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) no("no socket");
  words_ = memfd_create("d5 simgrid", MFD_CLOEXEC);
  // d5's type for processes is private, and a plug-in includes only public headers.
  process_ = words_ < 0 ? -1 : fork();
  if (process_ == 0) {
    leave_the_parent(ends[1], words_);
    try {
      serve(cluster, topology, hosts);
    } catch (const std::exception& error) {
      // Bypasses stdio, whose locks another thread may have held at the fork.
      (void)!write(STDERR_FILENO, error.what(), std::strlen(error.what()));
      _exit(1);
    }
    _exit(0);  // no destructors: they belong to the parent
  }
  close(ends[1]);
  socket_ = ends[0];
  if (process_ > 0) return;
  close(socket_);
  if (words_ >= 0) close(words_);
  no("no process");
}

FlowProcess::~FlowProcess() {
  close(socket_);
  close(words_);
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Arrivals FlowProcess::ask(const std::vector<Flow>& flows, double limit) {
  std::vector<char> buffer;
  Answer answer;
  if (!send_list(socket_, buffer, Question{flows.size(), limit}, flows) ||
      !receive_all(socket_, &answer, sizeof answer)) {
    fail();
  }
  Arrivals arrivals{answer.time, std::vector<std::int64_t>(answer.ids)};
  if (!receive_all(socket_, arrivals.ids.data(), answer.ids * sizeof(std::int64_t))) fail();
  return arrivals;
}

void FlowProcess::fail() {
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  const std::string how =
      WIFSIGNALED(status) ? fmt::format(" (SIG{})", sigabbrev_np(WTERMSIG(status))) : "";
  throw Unsupported(
      fmt::format("simgrid: network '{}': SimGrid ended{}: {}; the network 'ports' knows no "
                  "topology, and needs "
                  "no SimGrid",
                  printable(network_), how, last_words(words_)));
}

}  // namespace d5::simgrid
