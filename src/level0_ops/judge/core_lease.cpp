// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/core_lease.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>
#include <utility>

#include "core/machine/machine.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"

namespace d5::detail {
namespace {

/// Holds a name on this machine, as an abstract socket: the system frees it at any end of the
/// process, and it needs no file. An empty descriptor if another has it. Source: unix(7).
OwnedDescriptor take(const std::string& name) {
  OwnedDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // after a zero: abstract
  const auto length = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (socket.get() >= 0 &&
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0) {
    return socket;
  }
  if (socket.get() >= 0 && errno == EADDRINUSE) return OwnedDescriptor();
  throw IoError(fmt::format("a judge's processors cannot be reserved: {}", std::strerror(errno)));
}

OwnedDescriptor await(const std::string& name, const Interrupt& interrupt) {
  for (;;) {
    if (OwnedDescriptor taken = take(name); taken.get() >= 0) return taken;
    interrupt.check("a judge waits for processors that others have");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::vector<int> processors_of_thread() {
  std::vector<int> all;
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return all;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) all.push_back(i);
  }
  return all;
}

void bind_thread(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int one : processors) CPU_SET(one, &set);
  (void)::sched_setaffinity(0, sizeof set, &set);  // refused: the scheduler chooses
}

}  // namespace

CoreLease::CoreLease(int threads, const Interrupt& interrupt) {
  const std::vector<int>& allowed = machine().allowed;
  shared_ = int(allowed.size()) <= threads;
  const std::size_t wanted = shared_ ? allowed.size() : std::size_t(threads) + 1;
  // One waits for processors, and the others behind it: so a judgement that needs many gets them.
  const OwnedDescriptor first = await("d5-judge-next", interrupt);
  std::vector<int> chosen;
  for (auto next = allowed.rbegin(); chosen.size() < wanted;) {
    if (OwnedDescriptor taken = take(fmt::format("d5-judge-processor-{}", *next));
        taken.get() >= 0) {
      taken_.push_back(std::move(taken));
      chosen.push_back(*next);
    }
    if (++next != allowed.rend() || chosen.size() == wanted) continue;
    interrupt.check("a judge waits for processors that others have");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    next = allowed.rbegin();
  }
  own_ = chosen;
  if (shared_) return;
  own_.pop_back();
  if (d5::threads() > 1) return;
  before_ = processors_of_thread();
  bind_thread({chosen.back()});
}

CoreLease::~CoreLease() {
  if (!before_.empty()) bind_thread(before_);
}

std::string CoreLease::words() const {
  return to_ranges(own_) + (shared_ ? ", shared with the judge" : "");
}

}  // namespace d5::detail
