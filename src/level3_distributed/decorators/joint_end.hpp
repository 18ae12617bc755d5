// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

/// The protocol by which ranks agree on a common stop (`Communicator::end_together`). Each rank
/// counts the places that it reaches. A rank that wishes to stop, or learns of a wish, sends its
/// next place to the others, once, and waits there until it knows the places of all: the last of
/// them is the stop.
///
/// Ranks answer while they wait, so no rank waits for the others' work between two places. It works
/// for synchronous and asynchronous schemes.
class JointEnd {
 public:
  /// `notices`: a communicator of all ranks on which this tag is not used otherwise.
  explicit JointEnd(std::shared_ptr<Communicator> notices);
  ~JointEnd();
  JointEnd(const JointEnd&) = delete;
  JointEnd& operator=(const JointEnd&) = delete;

  /// Arrives at the next place. Returns whether it may be left, because there is no wish or all
  /// places are known. Otherwise wait for `all_told`.
  [[nodiscard]] bool arrive(bool wishes);
  [[nodiscard]] bool all_told();
  /// Leaves the place; returns whether it is the stop.
  [[nodiscard]] bool leave();
  /// Receives and answers messages; may be called at any time.
  void hear();

 private:
  struct Ear;
  void tell();

  std::shared_ptr<Communicator> notices_;
  std::shared_ptr<Ear> ear_;
  std::vector<std::shared_ptr<Request>> sent_;
  std::int64_t places_ = 0, last_ = 0;
  int heard_ = 0;  // number of ranks heard from
  bool at_place_ = false, told_ = false;
};

}  // namespace d5::detail
