// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/child/confinement.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace d5::judged {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;  // `confine` refuses
#endif

/// Calls that only reach this process's own memory, threads and descriptors.
constexpr int kAllowed[] = {
    SYS_read,
    SYS_readv,
    SYS_pread64,
    SYS_write,
    SYS_writev,
    SYS_close,
    SYS_lseek,
    SYS_fstat,
    SYS_newfstatat,
    SYS_getdents64,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_mincore,
    SYS_brk,
    SYS_futex,
    SYS_sched_yield,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_getrandom,
    SYS_getpid,
    SYS_gettid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getcpu,
    SYS_getcwd,
    SYS_uname,
    SYS_sysinfo,
    SYS_getrusage,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_set_robust_list,
    SYS_set_tid_address,
    SYS_rseq,
    SYS_membarrier,
    SYS_sched_getaffinity,
    SYS_restart_syscall,
    SYS_exit,
    SYS_exit_group,
#ifdef SYS_arch_prctl
    SYS_arch_prctl,
#endif
#ifdef SYS_time
    SYS_time,
#endif
};

class Filter {
 public:
  void add(std::uint16_t code, std::uint32_t value) { program_.push_back(BPF_STMT(code, value)); }
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, std::uint32_t(offset)); }
  void answer(std::uint32_t action) { add(BPF_RET | BPF_K, action); }
  /// `action` if the loaded word is `value`.
  void answer_if(std::uint32_t value, std::uint32_t action) {
    program_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    answer(action);
  }
  /// Skips `count` instructions unless the loaded word is `value`.
  void skip_unless(std::uint32_t value, std::uint8_t count) {
    program_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count));
  }
  /// `action` if the loaded word has any of the bits.
  void answer_if_any(std::uint32_t bits, std::uint32_t action) {
    program_.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
    answer(action);
  }
  [[nodiscard]] sock_fprog program() {
    return {static_cast<unsigned short>(program_.size()), program_.data()};
  }

 private:
  std::vector<sock_filter> program_;
};

constexpr std::size_t argument(int i) {  // its low word
  return offsetof(seccomp_data, args) + std::size_t(i) * sizeof(std::uint64_t);
}

Filter filter_of(int most_threads) {
  constexpr std::uint32_t kForeignNumbers = 0x40000000;  // x32's
  Filter filter;
  filter.load(offsetof(seccomp_data, arch));
  filter.skip_unless(kArchitecture, 1);
  filter.add(BPF_JMP | BPF_JA, 1);
  filter.answer(SECCOMP_RET_KILL_PROCESS);
  filter.load(offsetof(seccomp_data, nr));
  filter.answer_if_any(kForeignNumbers, SECCOMP_RET_KILL_PROCESS);
  for (const int number : kAllowed) filter.answer_if(std::uint32_t(number), SECCOMP_RET_ALLOW);
  // The flags of clone3 lie in memory, which can change after they were read; libraries fall back
  // to clone.
  filter.answer_if(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
  // Signals to itself. A message on the standard input, which is closed before the library loads.
  const std::pair<int, int> first_arguments[] = {
      {SYS_kill, ::getpid()}, {SYS_tgkill, ::getpid()}, {SYS_sendmsg, STDIN_FILENO}};
  for (const auto& [number, first] : first_arguments) {
    filter.skip_unless(std::uint32_t(number), 3);
    filter.load(argument(0));
    filter.answer_if(std::uint32_t(first), SECCOMP_RET_ALLOW);
    filter.load(offsetof(seccomp_data, nr));
  }
  if (most_threads > 1) {
    filter.skip_unless(SYS_clone, 3);
    filter.load(argument(0));
    filter.answer_if_any(CLONE_THREAD, SECCOMP_RET_ALLOW);
  }
  filter.answer(SECCOMP_RET_USER_NOTIF);
  return filter;
}

}  // namespace

int confine(int most_threads) {
  if (kArchitecture == 0) {
    errno = ENOSYS;
    return -1;
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  Filter filter = filter_of(most_threads);
  const sock_fprog program = filter.program();
  // All threads: an interpreter's libraries may have started some.
  constexpr unsigned kFlags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC |
                              SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
  return int(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kFlags, &program));
}

int seal_files() {
  // Not <linux/landlock.h>: the kernel that compiled this may be older than the one that runs it.
  struct Denied {
    std::uint64_t files, network, scopes;
  };
  constexpr std::uint32_t kAskVersion = 1;
  constexpr int kNetworkSince = 4, kScopesSince = 6;
  const auto version =
      int(::syscall(SYS_landlock_create_ruleset, nullptr, std::size_t{0}, kAskVersion));
  if (version < 1 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 0;
  // Bits of rights that each version knows: files since 1, moves 2, truncation 3, devices 5.
  constexpr std::uint64_t kFiles[] = {0x1fff, 0x3fff, 0x7fff, 0x7fff, 0xffff};
  const Denied denied{kFiles[std::min(version, 5) - 1], 0x3, 0x3};
  const std::size_t bytes = version < kNetworkSince  ? offsetof(Denied, network)
                            : version < kScopesSince ? offsetof(Denied, scopes)
                                                     : sizeof denied;
  const auto rules = int(::syscall(SYS_landlock_create_ruleset, &denied, bytes, 0));
  if (rules < 0) return 0;
  const bool is_sealed = ::syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  ::close(rules);
  return is_sealed ? version : 0;
}

}  // namespace d5::judged

/// Both for other languages, in a library of its own.
extern "C" __attribute__((visibility("default"))) int d5_confine(int most_threads) {
  return d5::judged::confine(most_threads);
}
extern "C" __attribute__((visibility("default"))) int d5_seal_files() {
  return d5::judged::seal_files();
}
