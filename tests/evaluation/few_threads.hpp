// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace d5 {

/// Limits the address space while it lives: the system makes three threads more, whose stacks are
/// large, and no fourth. Half a stack is left for other memory.
class FewThreads {
 public:
  FewThreads() {
    pthread_getattr_default_np(&stacks_);
    pthread_attr_t large;
    pthread_getattr_default_np(&large);
    pthread_attr_setstacksize(&large, kStack);
    pthread_setattr_default_np(&large);
    pthread_attr_destroy(&large);
    getrlimit(RLIMIT_AS, &before_);
    rlimit few = before_;
    rlim_t pages = 0;  // the size of this process
    std::ifstream("/proc/self/statm") >> pages;
    few.rlim_cur = pages * rlim_t(sysconf(_SC_PAGESIZE)) + 3 * kStack + kStack / 2;
    setrlimit(RLIMIT_AS, &few);
  }
  ~FewThreads() {
    setrlimit(RLIMIT_AS, &before_);
    pthread_setattr_default_np(&stacks_);
    pthread_attr_destroy(&stacks_);
  }
  FewThreads(const FewThreads&) = delete;
  FewThreads& operator=(const FewThreads&) = delete;

  static constexpr int kTooMany = 10;

 private:
  static constexpr rlim_t kStack = rlim_t{1} << 30;
  pthread_attr_t stacks_ = {};
  rlimit before_ = {};
};

}  // namespace d5
