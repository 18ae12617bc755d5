// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/decorators/kept_until_exit.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace d5::detail {

void keep_until_exit(std::shared_ptr<void> what) {
  static std::mutex mutex;
  static auto& kept = *new std::vector<std::shared_ptr<void>>;
  const std::lock_guard lock(mutex);
  kept.push_back(std::move(what));
}

}  // namespace d5::detail
