// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

/// How ranks find the place where all of them end (`Communicator::end_together`). Each counts the
/// places that it comes to. One that wishes the end, or hears of a wish, tells the others its next
/// place, once, and passes that place only when it knows those of all: the last of them is the end.
///
/// Nobody waits for what others do between two places: they answer while they wait. So ranks that
/// step together and ranks that run apart end alike.
class JointEnd {
 public:
  /// `notices`: all ranks, with nobody else's messages of this tag.
  explicit JointEnd(std::shared_ptr<Communicator> notices);
  ~JointEnd();
  JointEnd(const JointEnd&) = delete;
  JointEnd& operator=(const JointEnd&) = delete;

  /// Comes to the next place: whether it may be left, because nobody wishes the end or all places
  /// are known. Otherwise wait for `all_told`.
  [[nodiscard]] bool arrive(bool wishes);
  [[nodiscard]] bool all_told();
  /// Leaves the place: whether it is the end.
  [[nodiscard]] bool leave();
  /// Answers what others told, wherever this rank is.
  void hear();

 private:
  struct Ear;
  void tell();

  std::shared_ptr<Communicator> notices_;
  std::shared_ptr<Ear> ear_;
  std::vector<std::shared_ptr<Request>> sent_;
  std::int64_t places_ = 0, last_ = 0;
  int heard_ = 0;  // ranks
  bool at_place_ = false, told_ = false;
};

}  // namespace d5::detail
