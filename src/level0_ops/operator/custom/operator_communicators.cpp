// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/operator/custom/operator_communicators.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

struct Finder {
  std::mutex mutex;
  FindCommunicator find;
};
Finder& finder() {
  static Finder one;
  return one;
}

}  // namespace

void set_operator_communicators(FindCommunicator find) {
  const std::lock_guard lock(finder().mutex);
  finder().find = std::move(find);
}

std::shared_ptr<const d5_communicator> operator_communicator(const std::string& group) {
  FindCommunicator find;
  {
    const std::lock_guard lock(finder().mutex);
    find = finder().find;
  }
  if (find) return find(group);
  throw Unsupported(
      fmt::format("communication group '{}' was asked for, but there are no ranks here; call "
                  "add_communication_operators() first",
                  printable(group)));
}

}  // namespace d5::detail
