// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/supervised_calls.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "level0_ops/judge/judge_fault.hpp"
#include "level0_ops/judge/protocol.hpp"

namespace d5::detail {
namespace {

struct NamedCall {
  int number;
  const char* name;
};
/// Calls that no computation needs: they reach other processes, files or the network. Any other
/// call that the filter does not allow is refused.
constexpr NamedCall kForbidden[] = {
    {SYS_socket, "socket"},
    {SYS_socketpair, "socketpair"},
    {SYS_connect, "connect"},
    {SYS_bind, "bind"},
    {SYS_listen, "listen"},
    {SYS_accept, "accept"},
    {SYS_accept4, "accept4"},
    {SYS_sendto, "sendto"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_recvfrom, "recvfrom"},
    {SYS_recvmsg, "recvmsg"},
    {SYS_execve, "execve"},
    {SYS_execveat, "execveat"},
    {SYS_ptrace, "ptrace"},
    {SYS_process_vm_readv, "process_vm_readv"},
    {SYS_process_vm_writev, "process_vm_writev"},
    {SYS_kill, "kill"},
    {SYS_tkill, "tkill"},
    {SYS_tgkill, "tgkill"},
    {SYS_pidfd_open, "pidfd_open"},
    {SYS_pidfd_getfd, "pidfd_getfd"},
    {SYS_pidfd_send_signal, "pidfd_send_signal"},
    {SYS_setsid, "setsid"},
    {SYS_setpgid, "setpgid"},
    {SYS_unshare, "unshare"},
    {SYS_setns, "setns"},
    {SYS_mount, "mount"},
    {SYS_chroot, "chroot"},
    {SYS_io_uring_setup, "io_uring_setup"},
    {SYS_bpf, "bpf"},
    {SYS_perf_event_open, "perf_event_open"},
    {SYS_userfaultfd, "userfaultfd"},
    {SYS_keyctl, "keyctl"},
    {SYS_add_key, "add_key"},
    {SYS_shmget, "shmget"},
    {SYS_shmat, "shmat"},
    {SYS_memfd_create, "memfd_create"},
    {SYS_ftruncate, "ftruncate"},
    {SYS_truncate, "truncate"},
    {SYS_fallocate, "fallocate"},
    {SYS_unlinkat, "unlinkat"},
    {SYS_renameat2, "renameat2"},
    {SYS_mkdirat, "mkdirat"},
    {SYS_linkat, "linkat"},
    {SYS_symlinkat, "symlinkat"},
    {SYS_fchmodat, "fchmodat"},
    {SYS_settimeofday, "settimeofday"},
    {SYS_clock_settime, "clock_settime"},
#ifdef SYS_fork  // calls of older architectures
    {SYS_fork, "fork"},
    {SYS_vfork, "vfork"},
    {SYS_unlink, "unlink"},
    {SYS_rename, "rename"},
    {SYS_mkdir, "mkdir"},
    {SYS_rmdir, "rmdir"},
    {SYS_link, "link"},
    {SYS_symlink, "symlink"},
    {SYS_chmod, "chmod"},
    {SYS_creat, "creat"},
#endif
};

/// Calls that are refused, and do no harm then: names for people.
constexpr NamedCall kRefused[] = {
    {SYS_ioctl, "ioctl"},
    {SYS_fcntl, "fcntl"},
    {SYS_pipe2, "pipe2"},
    {SYS_prctl, "prctl"},
    {SYS_readlinkat, "readlinkat"},
    {SYS_prlimit64, "prlimit64"},
    {SYS_setitimer, "setitimer"},
    {SYS_timer_create, "timer_create"},
    {SYS_setpriority, "setpriority"},
    {SYS_sched_setaffinity, "sched_setaffinity"},
#ifdef SYS_readlink
    {SYS_readlink, "readlink"},
    {SYS_access, "access"},
    {SYS_alarm, "alarm"},
#endif
};

constexpr std::string_view kNullDevice = "/dev/null";  // it may be written, too

/// Files that libraries read while they are loaded, to count processors, or to draw a seed.
constexpr std::string_view kReadable[] = {"/lib/",
                                          "/lib64/",
                                          "/usr/lib/",
                                          "/usr/lib64/",
                                          "/usr/local/lib/",
                                          "/etc/ld.so.cache",
                                          "/sys/devices/system/cpu/",
                                          "/sys/devices/system/node/",
                                          "/proc/cpuinfo",
                                          "/proc/meminfo",
                                          "/dev/urandom",
                                          kNullDevice};

/// The path without links and dots; empty if there is no such file. A relative path is refused,
/// because it begins in a folder of the other process.
std::string resolved(const std::string& path) {
  if (!path.starts_with('/')) return "";
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? real.get() : "";
}

/// Whether it is one of the files, or below one of the folders.
bool is_below(const std::string& real, const auto& begins) {
  const std::string as_folder = real + "/";
  return std::ranges::any_of(begins, [&](std::string_view begin) {
    return real.starts_with(begin) || as_folder == begin;
  });
}

}  // namespace

SupervisedCalls::SupervisedCalls(OwnedDescriptor listener, pid_t process, JudgedSource source,
                                 std::vector<std::string> forbidden)
    : listener_(std::move(listener)),
      process_(process),
      source_(std::move(source)),
      forbidden_(std::move(forbidden)) {}

std::string SupervisedCalls::text_at(std::uint64_t address) const {
  std::string text;
  while (text.size() < PATH_MAX) {
    // To the page's end, because the next one may not exist.
    char part[judged::kPage];
    const std::size_t count = judged::kPage - address % judged::kPage;
    const iovec here{part, count}, there{reinterpret_cast<void*>(address), count};
    const ssize_t got = ::process_vm_readv(process_, &here, 1, &there, 1, 0);
    if (got <= 0) break;
    const std::string_view read(part, static_cast<std::size_t>(got));
    const std::size_t end = read.find('\0');
    text += read.substr(0, end);
    if (end != std::string_view::npos) return text;
    address += static_cast<std::uint64_t>(got);
  }
  return text;
}

void SupervisedCalls::refuse(const seccomp_notif& asked, int error, const std::string& what) {
  constexpr std::size_t kMost = 100;  // a process may ask without end
  if (refused_.size() < kMost && !what.empty()) refused_.insert(what);
  seccomp_notif_resp response{.id = asked.id, .val = 0, .error = -error, .flags = 0};
  (void)::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response);
}

void SupervisedCalls::open_for(const seccomp_notif& asked, std::uint64_t path_address,
                               std::uint64_t flags) {
  const std::string path = text_at(path_address);
  const bool is_library = path == judged::kLibraryPath;
  const std::string real = is_library ? source_.file : resolved(path);
  if (real != kNullDevice && (flags & (O_ACCMODE | O_CREAT | O_TRUNC)) != O_RDONLY) {
    throw JudgeFault("wrote a file", fmt::format("it opened '{}' to write", printable(path)));
  }
  if (real.empty()) {
    // A loader looks for a library in many folders.
    const std::string place = std::filesystem::path(path).lexically_normal();
    const bool is_search = is_below(place, kReadable) || is_below(place, source_.readable);
    return refuse(asked, ENOENT, is_search ? "" : fmt::format("'{}'", printable(path)));
  }
  if (!is_library && !is_below(real, kReadable) && !is_below(real, source_.readable)) {
    return refuse(asked, EACCES, fmt::format("'{}'", printable(path)));
  }
  for (const auto& word : forbidden_) {
    const std::string name = real.substr(real.rfind('/') + 1);
    if (is_library || name.find(word) == std::string::npos) continue;
    throw JudgeFault("forbidden library", fmt::format("it loaded '{}', and '{}' is forbidden",
                                                      printable(real), printable(word)));
  }
  const OwnedDescriptor file(::open(real.c_str(), int(flags & O_ACCMODE) | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0) return refuse(asked, errno, fmt::format("'{}'", printable(path)));
  seccomp_notif_addfd added{};
  added.id = asked.id;
  added.flags = SECCOMP_ADDFD_FLAG_SEND;
  added.srcfd = static_cast<__u32>(file.get());
  added.newfd_flags = O_CLOEXEC;
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ADDFD, &added) < 0) {
    return refuse(asked, EMFILE, fmt::format("'{}'", printable(path)));
  }
  if (!is_library) opened_.insert(real);
}

void SupervisedCalls::answer() {
  pollfd waiting{listener_.get(), POLLIN, 0};
  if (::poll(&waiting, 1, 0) <= 0 || (waiting.revents & POLLIN) == 0) return;
  seccomp_notif asked{};
  if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) return;  // it has ended
  const int number = asked.data.nr;
  const auto& arguments = asked.data.args;
  if (number == SYS_openat) return open_for(asked, arguments[1], arguments[2]);
#ifdef SYS_open
  if (number == SYS_open) return open_for(asked, arguments[0], arguments[1]);
#endif
  if (number == SYS_clone) {
    const bool is_thread = (arguments[0] & CLONE_THREAD) != 0;
    throw JudgeFault(
        is_thread ? "too many threads" : "started a process",
        is_thread ? "it started a thread, and it may have one" : "it called fork or clone");
  }
  const auto* forbidden = std::ranges::find(kForbidden, number, &NamedCall::number);
  if (forbidden != std::end(kForbidden)) {
    const std::string_view name = forbidden->name;
    if (name == "fork" || name == "vfork") {
      throw JudgeFault("started a process", fmt::format("it called {}", name));
    }
    throw JudgeFault("forbidden system call", fmt::format("it called {}", name));
  }
  const auto* named = std::ranges::find(kRefused, number, &NamedCall::number);
  refuse(asked, EPERM,
         named != std::end(kRefused) ? named->name : fmt::format("system call {}", number));
}

}  // namespace d5::detail
