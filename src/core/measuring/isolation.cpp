// SPDX-License-Identifier: Apache-2.0
#include "d5/core/isolation.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include "d5/core/clock.hpp"
#include "d5/core/results.hpp"
#include "d5/core/tensor.hpp"

namespace d5 {
namespace {

using ChildWork = std::function<std::vector<Measurement>()>;

[[noreturn]] void fail(const char* what) {
  throw IoError(fmt::format("a process of its own: {}: {}", what, std::strerror(errno)));
}

/// Bytes of address space that this process has.
std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * std::size_t(sysconf(_SC_PAGE_SIZE));
}

/// In the child: what it may take, and that nobody but its parent cares how it dies.
void enter(const Isolation& isolation, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    std::signal(signal, SIG_DFL);  // a test's or a sanitizer's handler would tell of a crash itself
  }
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  const std::size_t bytes = isolation.most_bytes ? isolation.most_bytes : memory_budget();
  const rlimit space{address_space() + bytes, address_space() + bytes};
  setrlimit(RLIMIT_AS, &space);
  // Where the system runs out of memory before the limit, this is the process to end.
  std::ofstream("/proc/self/oom_score_adj") << 1000;
}

/// One line on the pipe. No destructors run after it: they belong to the parent.
[[noreturn]] void answer(int pipe, const Measurement& record, const ChildWork& work) {
  std::vector<Measurement> records;
  try {
    records = work();
  } catch (const Interrupted&) {  // so is the parent
    _exit(1);
  } catch (...) {
    records = {record};
    record_failure(records.front(), std::current_exception());
  }
  std::string text = to_json(Results{{}, records});
  std::ranges::replace(text, '\n', ' ');  // between the values: in a string it is escaped
  text += '\n';
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = write(pipe, text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) _exit(1);
    at += std::size_t(count);
  }
  std::fflush(nullptr);
  _exit(0);
}

/// The process, as its parent sees it.
class Child {
 public:
  Child(const Isolation& isolation, const Measurement& record, const ChildWork& work)
      : deadline_(now_seconds() + isolation.most_seconds) {
    std::fflush(nullptr);  // or both would print it
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("no pipe");
    const pid_t parent = getpid();
    process_ = fork();
    if (process_ == 0) {
      enter(isolation, parent);
      close(ends[0]);
      answer(ends[1], record, work);
    }
    close(ends[1]);
    pipe_ = ends[0];
    if (process_ < 0) {
      close(pipe_);
      fail("no process");
    }
  }
  ~Child() {
    close(pipe_);
    if (process_ < 0) return;
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Its answer; cut short or empty where it ends, or the time is over, before.
  std::string listen(const Interrupt& interrupt) {
    std::string text;
    while (look(interrupt) && (text.empty() || text.back() != '\n')) {
      pollfd waiting{pipe_, POLLIN, 0};
      if (poll(&waiting, 1, kLookUp) <= 0) continue;
      char bytes[1 << 16];
      const ssize_t count = read(pipe_, bytes, sizeof bytes);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      text.append(bytes, std::size_t(count));
    }
    return text;
  }

  /// How it ended; nothing if the time was over before.
  std::optional<int> status(const Interrupt& interrupt) {
    int status = 0;
    while (waitpid(process_, &status, WNOHANG) == 0) {
      if (!look(interrupt)) return std::nullopt;
      poll(nullptr, 0, 1);
    }
    process_ = -1;
    return status;
  }

 private:
  static constexpr int kLookUp = 50;  ///< ms between two looks for an interrupt

  /// Whether there is time left. Throws: Interrupted.
  bool look(const Interrupt& interrupt) const {
    interrupt.check("isolated work");
    return now_seconds() < deadline_;
  }

  double deadline_;
  pid_t process_ = -1;
  int pipe_ = -1;
};

std::string end_of(int status) {
  if (!WIFSIGNALED(status)) {
    return fmt::format("it ended its process with status {} before its work was done",
                       WEXITSTATUS(status));
  }
  const int signal = WTERMSIG(status);
  const char* name = sigabbrev_np(signal);
  return fmt::format("crashed: SIG{} ({}){}", name ? name : std::to_string(signal),
                     strsignal(signal),
                     signal == SIGKILL ? ", which the system sends where memory runs out" : "");
}

}  // namespace

std::vector<Measurement> isolated(const Isolation& isolation, const Measurement& record,
                                  const ChildWork& work) {
  if (isolation.most_seconds <= 0) return work();
  Measurement failed = record;
  failed.status = Status::failed;
  Child child(isolation, record, work);
  const std::string text = child.listen(isolation.interrupt);
  const bool answered = !text.empty() && text.back() == '\n';
  if (!answered) {
    const auto status = child.status(isolation.interrupt);
    failed.reason = status ? end_of(*status)
                           : fmt::format("no answer within {} s: it hangs, or needs more time",
                                         isolation.most_seconds);
    return {failed};
  }
  try {
    return results_from_json(text, "answer of a process of its own").measurements;
  } catch (const FormatError& error) {
    failed.reason = error.what();
    return {failed};
  }
}

}  // namespace d5
