// SPDX-License-Identifier: Apache-2.0
#include "isolated.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "core/process/owned_process.hpp"

namespace d5 {
namespace {

[[noreturn]] void throw_system_error(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// A child process that works on the items `begin`, `begin + step`, ..., one answer a line.
class Child {
 public:
  Child(std::size_t begin, std::size_t step, std::size_t count,
        const std::function<std::string(std::size_t)>& work) {
    detail::DescriptorPair ends = detail::make_pipe();
    const pid_t process = detail::fork_in_group();
    if (process < 0) throw_system_error("fork");
    if (process == 0) {
      ends.here.close();
      for (std::size_t i = begin; i < count; i += step) {
        const std::string line = work(i) + "\n";
        if (write(ends.there.get(), line.data(), line.size()) != ssize_t(line.size())) _exit(1);
      }
      _exit(0);  // no destructors: they belong to the parent
    }
    process_.emplace(process);
    answers_ = std::move(ends.here);
  }

  /// Whether a whole line came before the child died or `most_seconds` passed.
  bool read_line(std::string& line, int most_seconds) {
    for (;;) {
      if (const auto end = buffer_.find('\n'); end != std::string::npos) {
        line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return true;
      }
      if (!says_something(most_seconds)) {
        silent_ = true;
        return false;
      }
      char bytes[65536];
      const ssize_t got = read(answers_.get(), bytes, sizeof(bytes));
      if (got <= 0) return false;
      buffer_.append(bytes, std::size_t(got));
    }
  }

  /// Ends it if it still runs, and says how it ended.
  std::string end() {
    if (silent_) process_->kill();
    process_->wait();
    if (silent_) return "no answer in time";
    const detail::ProcessEnd& how = process_->how();
    if (how.signal > 0) return std::string("crashed: ") + strsignal(how.signal);
    return "ended with status " + std::to_string(how.status);
  }

 private:
  /// In waits of a second: one that ends while all processes stand still, as on a machine that
  /// slept, is a second of the child's silence and no more.
  bool says_something(int most_seconds) const {
    for (int waits = 0; waits < most_seconds;) {
      pollfd waiting{answers_.get(), POLLIN, 0};
      const int ready = poll(&waiting, 1, 1000);
      if (ready > 0) return true;
      if (ready == 0) ++waits;
      if (ready < 0 && errno != EINTR) return false;
    }
    return false;
  }

  std::optional<detail::OwnedProcess> process_;
  detail::OwnedDescriptor answers_;
  bool silent_ = false;
  std::string buffer_;
};

}  // namespace

std::vector<std::string> run_isolated(std::size_t count,
                                      const std::function<std::string(std::size_t)>& work,
                                      const std::function<std::string(const std::string&)>& died,
                                      int most_seconds, std::size_t children) {
  std::vector<std::string> answers(count);
  std::vector<std::optional<Child>> running(children);
  for (std::size_t k = 0; k < children; ++k) running[k].emplace(k, children, count, work);
  for (std::size_t i = 0; i < count; ++i) {
    auto& child = running[i % children];
    if (child->read_line(answers[i], most_seconds)) continue;
    answers[i] = died(child->end());
    child.emplace(i + children, children, count, work);
  }
  for (auto& child : running) (void)child->end();
  return answers;
}

}  // namespace d5
