// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cerrno>

namespace d5::detail {

/// A mutex in node memory that notices when its holder dies: whoever asks then is told so, and so
/// is everybody after.
class RobustMutex {
 public:
  RobustMutex() {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  RobustMutex(const RobustMutex&) = delete;
  RobustMutex& operator=(const RobustMutex&) = delete;

  /// False if a holder died: then it is not held.
  [[nodiscard]] bool lock() {
    const int code = pthread_mutex_lock(&mutex_);
    if (code == 0) return true;
    // Given back without being declared consistent, it is refused to all from now on.
    if (code == EOWNERDEAD) pthread_mutex_unlock(&mutex_);
    return false;
  }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_;
};

}  // namespace d5::detail
