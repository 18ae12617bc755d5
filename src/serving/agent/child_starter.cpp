// SPDX-License-Identifier: Apache-2.0
#include "serving/agent/child_starter.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string_view>

#include "core/numbers/whole_number.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/manifest/dataset_samples.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "d5/serving/agent/agent.hpp"
#include "evaluation/database/open_database.hpp"

namespace d5 {
namespace {

// A message is one packet: either words, each followed by a zero byte, with the two streams of a
// child to start; or the id of a child to end. The answer is a number. All symbols are bound at the
// process's start, so that no child does it.
constexpr const char* kBindNow = "LD_BIND_NOW";
constexpr std::size_t kMostOrderBytes = std::size_t{1} << 16;
using Streams = std::array<int, 2>;  // output, error

struct Order {
  std::string text;
  std::optional<Streams> streams;
};

union Control {  // aligned as its header
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(Streams))];
};

bool send_order(int socket, std::string_view text, const Streams* streams) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  Control control{};
  if (streams) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof *streams);
    std::memcpy(CMSG_DATA(header), streams->data(), sizeof *streams);
  }
  ssize_t sent = -1;
  do sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == ssize_t(text.size());
}

/// Returns nothing if the other side is gone. `room` fits the longest message.
std::optional<Order> receive_order(int socket, std::span<char> room) {
  iovec part{room.data(), room.size()};
  Control control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t count = -1;
  do count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (count < 0 && errno == EINTR);
  if (count <= 0) return std::nullopt;
  Order order{std::string(room.data(), std::size_t(count)), std::nullopt};
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_type == SCM_RIGHTS) {
    std::memcpy(order.streams.emplace().data(), CMSG_DATA(header), sizeof(Streams));
  }
  return order;
}

std::optional<int> receive_number(int socket) {
  int number = 0;
  ssize_t count = -1;
  do count = ::recv(socket, &number, sizeof number, 0);
  while (count < 0 && errno == EINTR);
  return count == ssize_t(sizeof number) ? std::optional(number) : std::nullopt;
}
void send_number(int socket, int number) {
  (void)::send(socket, &number, sizeof number, MSG_NOSIGNAL);
}

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t end; (end = text.find('\0')) != std::string_view::npos;
       text.remove_prefix(end + 1)) {
    words.emplace_back(text.substr(0, end));
  }
  return words;
}

/// Reads what the evaluation of a child's command names ("d5 eval run FILE ..."), and keeps its
/// samples. The child reports errors.
void prepare(const std::vector<std::string>& words) {
  constexpr std::size_t kFile = 3;
  if (words.size() <= kFile || words[1] != "eval" || words[2] != "run") return;
  try {
    const auto evaluation =
        fixed_evaluation_from(detail::read_manifest_file(words[kFile]), words[kFile]);
    std::vector<DatasetManifest> samples;
    for (const auto& dataset : evaluation.datasets) samples.push_back(dataset.manifest);
    hold_samples(samples);
  } catch (const std::exception&) {
  }
}

/// Runs in the new child. Its standard input was the socket.
void take_streams(const Streams& streams) {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(streams[0], STDOUT_FILENO);
  ::dup2(streams[1], STDERR_FILENO);
  for (const int descriptor : {nothing, streams[0], streams[1]}) {
    if (descriptor > STDERR_FILENO) ::close(descriptor);
  }
}

}  // namespace

int start_children(const std::function<int(std::vector<std::string>)>& run) {
  constexpr int kSocket = STDIN_FILENO;
  ::unsetenv(kBindNow);
  detail::prepare_unsynced();
  std::vector<char> room(kMostOrderBytes);
  while (const std::optional<Order> order = receive_order(kSocket, room)) {
    if (!order->streams) {
      int status = SIGKILL;  // for an unknown child
      const pid_t asked = detail::whole_number<pid_t>(order->text).value_or(0);
      while (asked > 0 && ::waitpid(asked, &status, 0) < 0 && errno == EINTR) {
      }
      send_number(kSocket, status);
      continue;
    }
    const std::vector<std::string> words = words_in(order->text);
    prepare(words);
    ::malloc_trim(
        0);  // once here, because each child would do it, and copy the pages that it touches
    const pid_t child = detail::fork_in_group();
    if (child == 0) {
      take_streams(*order->streams);
      return run(words);
    }
    for (const int descriptor : *order->streams) ::close(descriptor);
    send_number(kSocket, child);
  }
  return 0;
}

namespace detail {

ChildStarter::ChildStarter(const std::vector<std::string>& command)
    : ChildStarter(command, make_socket_pair(SOCK_SEQPACKET)) {}

ChildStarter::ChildStarter(const std::vector<std::string>& command, DescriptorPair sockets)
    : process_(Program{.words = command,
                       .variables = {fmt::format("{}=1", kBindNow), "D5_TOKEN"},
                       .input = sockets.there.get(),
                       .error = STDERR_FILENO,
                       .ends_with_parent = SIGKILL}),
      socket_(std::move(sockets.here)) {}

pid_t ChildStarter::start(const std::vector<std::string>& words, int output, int error) {
  std::string text;
  for (const std::string& word : words) text.append(word).push_back('\0');
  const Streams streams{output, error};
  const bool heard = text.size() <= kMostOrderBytes && send_order(socket_.get(), text, &streams);
  const std::optional<int> child = heard ? receive_number(socket_.get()) : std::nullopt;
  if (!child || *child <= 0) throw IoError("the process that starts others started none");
  return *child;
}

int ChildStarter::end_of(pid_t child) {
  if (!send_order(socket_.get(), std::to_string(child), nullptr)) return SIGKILL;
  return receive_number(socket_.get()).value_or(SIGKILL);  // without the starter they end
}

}  // namespace detail
}  // namespace d5
