// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <random>

#include "d5/evaluation/database/evaluation_sink.hpp"

namespace d5 {

std::string new_run_id() {
  std::random_device random;  // the system's, without a seed: two runs never share an id
  std::string id;
  for (int word = 0; word < 4; ++word) id += fmt::format("{:08x}", random());
  return id;
}

}  // namespace d5
