// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "d5/level3_distributed/communicator/communicator.hpp"
#include "level3_distributed/communicator/gather_texts.hpp"
#include "tests/temporary_folder.hpp"

namespace d5::testing {

/// A folder that all ranks see, gone when the last of them has left.
class SharedFolder {
 public:
  SharedFolder() {
    if (world()->rank() == 0) own_.emplace();
    path_ = detail::gather_texts(*world(), own_ ? own_->path().string() : "")[0];
  }
  ~SharedFolder() { world()->barrier(); }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::optional<TemporaryFolder> own_;
  std::string path_;
};

}  // namespace d5::testing
