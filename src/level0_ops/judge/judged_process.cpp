// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/judged_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <utility>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "level0_ops/judge/judge_fault.hpp"

namespace d5::detail {
namespace {

namespace fs = std::filesystem;

/// Removals of all variables: nothing of this process's environment reaches the judged one.
std::vector<std::string> no_environment() {
  std::vector<std::string> names;
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text(*variable);
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

pid_t start_judged(const std::vector<std::string>& words, int socket) {
  return start({.words = words,
                .variables = no_environment(),
                .input = socket,
                .ends_with_parent = SIGKILL});
}

void bind(pid_t process, const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int one : processors) CPU_SET(one, &set);
  if (::sched_setaffinity(process, sizeof set, &set) == 0) return;
  throw IoError(fmt::format("the judged process cannot be bound to its processors: {}",
                            std::strerror(errno)));
}

/// More than `--threads` at a time are a fault; these are for the machine's protection.
constexpr int kMostTasks = 256;

/// Threads of a process; 0 if unknown.
int thread_count(pid_t process) {
  std::error_code unknown;
  int count = 0;
  for (fs::directory_iterator at(fmt::format("/proc/{}/task", process), unknown), end; at != end;
       at.increment(unknown)) {
    ++count;
  }
  return count;
}

/// Room for one descriptor's message.
template <int kCount>
struct Control {
  alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int) * kCount)] = {};
};

OwnedDescriptor received_descriptor(int socket) {
  char byte = 0;
  iovec data{&byte, 1};
  Control<1> control;
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) != 1) return OwnedDescriptor();
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_len != CMSG_LEN(sizeof(int))) return OwnedDescriptor();
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return OwnedDescriptor(descriptor);
}

}  // namespace

std::string tensor_name(const judged::Orders& orders, std::size_t i) {
  if (i < orders.input_count) return fmt::format("input {}", i);
  i -= orders.input_count;
  if (i < orders.output_count) return fmt::format("output {}", i);
  i -= orders.output_count;
  if (i < orders.output_count) return fmt::format("gradient of output {}", i);
  return fmt::format("gradient of input {}", i - orders.output_count);
}

JudgedProcess::JudgedProcess(const JudgedSource& source, std::size_t input_bytes,
                             std::size_t output_bytes, const JudgedLimits& limits)
    : source_(source),
      limits_(limits),
      orders_("orders", sizeof(judged::Orders), SharedPages::Others::read),
      answers_("answers", sizeof(judged::Answers), SharedPages::Others::write),
      inputs_("inputs", input_bytes, SharedPages::Others::read),
      outputs_("outputs", output_bytes, SharedPages::Others::write),
      sockets_(make_socket_pair(SOCK_STREAM)),
      number_(start_judged(source.words, sockets_.there.get())),
      group_(number_, {.bytes = limits.bytes > 0 ? limits.bytes + input_bytes + output_bytes : 0,
                       .tasks = kMostTasks}),
      process_(number_) {
  bind(number_, limits.processors);
  orders().most_threads = limits.threads;
  orders().order = judged::Order::nothing;
  sockets_.there.close();
  hand_memory();
  await_stop(now_seconds() + limits_.seconds);
  landlock_ = answers().landlock;  // before the source is loaded, which could write it
  other_threads_ = std::max(thread_count(number_) - 1, 0);
  measure_hand_over();
  if (limits.bytes > 0) process_.limit_memory(limits.bytes + input_bytes + output_bytes);
  load();
}

void JudgedProcess::hand_memory() {
  const int passed[judged::kPassedCount] = {orders_.descriptor(), answers_.descriptor(),
                                            inputs_.descriptor(), outputs_.descriptor()};
  char byte = 0;
  iovec data{&byte, 1};
  Control<judged::kPassedCount> control;
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof passed);
  std::memcpy(CMSG_DATA(header), passed, sizeof passed);
  if (::sendmsg(sockets_.here.get(), &message, MSG_NOSIGNAL) != 1) {
    throw IoError(fmt::format("the judged process takes no memory: {}", std::strerror(errno)));
  }
}

void JudgedProcess::measure_hand_over() {
  constexpr int kTimes = 100;
  std::vector<double> seconds;
  for (int i = 0; i < kTimes; ++i) seconds.push_back(follow(judged::Order::nothing));
  const Summary summary = summarise(seconds);
  shortest_hand_over_ = summary.minimum;
  usual_hand_over_ = summary.median;
}

void JudgedProcess::load() {
  orders().order = judged::Order::load;
  const double deadline = now_seconds() + limits_.seconds;
  process_.signal(SIGCONT);
  while (!calls_) {
    OwnedDescriptor listener = received_descriptor(sockets_.here.get());
    if (listener.get() >= 0) {
      calls_.emplace(std::move(listener), number_, source_, limits_.forbidden);
    } else if (process_.has_ended()) {
      throw Unsupported(
          fmt::format("a source cannot be judged here: {}", printable_message(answers().message)));
    } else if (now_seconds() > deadline) {
      throw IoError("the judged process did not confine itself in time");
    }
  }
  sockets_.here.close();
  await_stop(deadline);
  processor_seconds_ = processor_seconds();
}

judged::Answers JudgedProcess::answers() {
  judged::Answers copy;
  std::memcpy(&copy, answers_.data(), sizeof copy);
  copy.message[sizeof copy.message - 1] = '\0';
  return copy;
}

double JudgedProcess::processor_seconds() const {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(number_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

void JudgedProcess::refuse_end() {
  const ProcessEnd& end = process_.how();
  const judged::Answers last = answers();
  if (end.signal == 0 && last.message[0] != '\0') {
    throw JudgeFault("failed", printable_message(last.message));
  }
  if (end.signal == 0) throw JudgeFault("ended its process", end.words());
  const judged::Orders& all = orders();
  for (std::uint32_t i = 0; i < all.tensor_count; ++i) {
    const judged::Placed& one = all.tensors[i];
    const std::uint64_t begin = one.address + judged::kGuardBytes,
                        end_of_pages = begin + one.page_bytes;
    const std::uint64_t at = last.fault_address;
    if (one.dtype == 0 || at < one.address || at >= end_of_pages + judged::kGuardBytes) continue;
    const std::string name = tensor_name(all, i);
    if (at >= begin && at < end_of_pages) {
      throw JudgeFault("wrote to an input", fmt::format("{}, which is sealed", name));
    }
    throw JudgeFault(
        "left its tensors",
        fmt::format("{}, {} {}", end.words(), at < begin ? "before" : "past the end of", name));
  }
  throw JudgeFault("crashed", end.words());
}

void JudgedProcess::await_stop(double deadline) {
  for (;;) {
    siginfo_t info{};
    // The clock stops when the system reports that all threads have stopped.
    if (::waitid(P_PID, static_cast<id_t>(number_), &info, WSTOPPED | WNOHANG) == 0 &&
        info.si_pid == number_) {
      return;
    }
    if (process_.has_ended()) refuse_end();
    if (calls_) calls_->answer();
    if (now_seconds() > deadline) {
      process_.kill();
      throw JudgeFault("took too long", fmt::format("no answer within {} s", limits_.seconds));
    }
    ::sched_yield();
  }
}

void JudgedProcess::count_threads() {
  const int count = thread_count(number_) - other_threads_;
  // A thread that was joined may still be about to end: it has until the next stop.
  const bool had_too_many = std::exchange(has_too_many_, count > limits_.threads);
  if (!has_too_many_ || !had_too_many) return;
  throw JudgeFault("too many threads",
                   fmt::format("it has {}, and may have {}", count, limits_.threads));
}

double JudgedProcess::follow(judged::Order order) {
  // The system's clock of processor time moves on in steps of a scheduler tick.
  constexpr double kTick = 0.01;
  if (calls_ && processor_seconds() > processor_seconds_ + kTick) {
    throw JudgeFault("ran while it was frozen", "its processor time went on between two calls");
  }
  orders().order = order;
  const double begin = now_seconds();  // the clock starts: nothing of the process ran before
  process_.signal(SIGCONT);
  await_stop(begin + limits_.seconds);
  const double end = now_seconds();
  if (calls_) {
    const double before = std::exchange(processor_seconds_, processor_seconds());
    used_seconds_ = processor_seconds_ - before;
    count_threads();
  }
  return end - begin;
}

}  // namespace d5::detail
