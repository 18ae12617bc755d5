// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/isolated_worker.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "core/files/send_all.hpp"
#include "core/machine/plain_crashes.hpp"
#include "core/machine/signal_words.hpp"
#include "core/process/owned_process.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/tensor/tensor.hpp"

namespace d5 {
namespace {

/// Size of this process's address space in bytes.
std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * std::size_t(sysconf(_SC_PAGE_SIZE));
}

/// In the child: sets its limits and default crash signals.
void enter(const Isolation& isolation) {
  detail::crash_plainly();
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  const std::size_t bytes = isolation.most_bytes ? isolation.most_bytes : memory_budget();
  const rlimit space{address_space() + bytes, address_space() + bytes};
  setrlimit(RLIMIT_AS, &space);
  // If the system runs out of memory before the limit, it shall kill this process.
  std::ofstream("/proc/self/oom_score_adj") << 1000;
}

constexpr std::string_view kSampled = ".\n";  ///< a line while a piece runs

/// One line: the records of a piece.
std::string answer_of(const WorkPiece& piece, int socket) {
  std::vector<Measurement> records;
  try {
    records = piece.run([socket] { (void)detail::send_all(socket, kSampled); });
  } catch (const Interrupted&) {  // the parent is interrupted, too
    _exit(1);
  } catch (...) {
    records = {piece.record};
    record_failure(records.front(), std::current_exception());
  }
  std::string text = to_json(Results{{}, records});
  std::ranges::replace(text, '\n', ' ');  // between the values: in a string it is escaped
  return text + '\n';
}

/// In the child: serves requests until the parent closes the socket. No destructors run afterwards:
/// they belong to the parent.
[[noreturn]] void serve(int socket, const std::vector<WorkPiece>& pieces) {
  std::uint64_t number = 0;
  for (;;) {
    const ssize_t count = recv(socket, &number, sizeof number, MSG_WAITALL);
    if (count < 0 && errno == EINTR) continue;
    if (count != sizeof number || number >= pieces.size()) break;
    if (!detail::send_all(socket, answer_of(pieces[number], socket))) break;
  }
  std::fflush(nullptr);
  _exit(0);
}

std::string words_of(const detail::ProcessEnd& end) {
  if (end.signal == 0) {
    return fmt::format("it ended its process with status {} before its work was done", end.status);
  }
  return fmt::format("crashed: {}{}", detail::signal_words(end.signal),
                     end.signal == SIGKILL ? ", which the system sends if memory runs out" : "");
}

}  // namespace

/// The parent's side of the process.
class IsolatedWorker::Process {
 public:
  Process(const Isolation& isolation, const std::vector<WorkPiece>& pieces)
      : interrupt_(isolation.interrupt) {
    std::fflush(nullptr);  // or both would print it
    detail::DescriptorPair sockets = detail::make_socket_pair(SOCK_STREAM);
    const pid_t process = detail::fork_in_group();  // not a program: the pieces are in this memory
    if (process < 0) throw IoError(fmt::format("no process: {}", std::strerror(errno)));
    if (process == 0) {
      sockets.here.close();
      enter(isolation);
      serve(sockets.there.get(), pieces);
    }
    process_.emplace(process);
    socket_ = std::move(sockets.here);
  }

  /// Whether the process has ended.
  bool has_ended() { return process_->has_ended(); }
  void ask(std::uint64_t number, double most_seconds) {
    deadline_ = now_seconds() + most_seconds;
    (void)detail::send_all(socket_.get(), {reinterpret_cast<const char*>(&number), sizeof number});
  }
  /// Its answer; truncated or empty if it ends, or the time limit passes, before.
  std::string listen(const std::function<void()>& sampled) {
    std::string text;
    while (look() && (text.empty() || text.back() != '\n')) {
      pollfd waiting{socket_.get(), POLLIN, 0};
      if (poll(&waiting, 1, kLookUp) <= 0) continue;
      char bytes[1 << 16];
      const ssize_t count = read(socket_.get(), bytes, sizeof bytes);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      text.append(bytes, std::size_t(count));
      while (text.starts_with(kSampled)) {
        if (sampled) sampled();
        text.erase(0, kSampled.size());
      }
    }
    return text;
  }
  /// How it ended; nothing if the time limit passed before.
  std::optional<detail::ProcessEnd> end() {
    constexpr double kLookSeconds = 0.001;
    while (!process_->wait(now_seconds() + kLookSeconds)) {
      if (!look()) return std::nullopt;
    }
    return process_->how();
  }

 private:
  static constexpr int kLookUp = 50;  ///< ms between polls of the interrupt

  /// Whether there is time left. Throws: Interrupted.
  bool look() const {
    interrupt_.check("isolated work");
    return now_seconds() < deadline_;
  }

  Interrupt interrupt_;
  double deadline_ = 0;
  std::optional<detail::OwnedProcess> process_;
  detail::OwnedDescriptor socket_;
};

IsolatedWorker::IsolatedWorker(const Isolation& isolation, std::vector<WorkPiece> pieces)
    : isolation_(isolation), pieces_(std::move(pieces)) {
  if (isolation_.most_seconds > 0) return;
  throw ValueError("an isolated process needs a time limit above 0 s");
}
IsolatedWorker::~IsolatedWorker() = default;

std::vector<Measurement> IsolatedWorker::run(std::size_t number,
                                             const std::function<void()>& sampled) {
  if (process_ && process_->has_ended()) process_.reset();
  if (!process_) process_ = std::make_unique<Process>(isolation_, pieces_);
  Measurement failed = pieces_.at(number).record;
  failed.status = Status::failed;
  std::string text;
  try {
    process_->ask(number, isolation_.most_seconds);
    text = process_->listen(sampled);
    if (text.empty() || text.back() != '\n') {
      const auto end = process_->end();
      failed.reason = end ? words_of(*end)
                          : fmt::format("no answer within {} s: it hangs, or needs more time",
                                        isolation_.most_seconds);
      process_.reset();
      return {failed};
    }
  } catch (...) {  // later output would be taken for the next answer
    process_.reset();
    throw;
  }
  try {
    return results_from_json(text, "answer of an isolated process").measurements;
  } catch (const FormatError& error) {
    failed.reason = error.what();
    return {failed};
  }
}

}  // namespace d5
