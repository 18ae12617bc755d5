// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/process/owned_process.hpp"
#include "level0_ops/judge/judged_source.hpp"
#include "level0_ops/judge/limited_group.hpp"
#include "level0_ops/judge/protocol.hpp"
#include "level0_ops/judge/shared_pages.hpp"
#include "level0_ops/judge/supervised_calls.hpp"

namespace d5::detail {

struct JudgedLimits {
  int threads = 1;
  std::vector<int> processors = {};         ///< processors that it may use
  double seconds = 10;                      ///< for each order
  std::size_t bytes = 0;                    ///< its address space beyond the tensors
  std::vector<std::string> forbidden = {};  ///< parts of names of files that it may not load
};

/// A confined process that runs a judged library. It is frozen except while it follows an order:
/// all its threads are stopped before an order is written, and `follow` returns when all have
/// stopped again. So nothing of it runs outside the time that `follow` returns.
class JudgedProcess {
 public:
  /// Starts the process and loads the library. The tensors' memory has these sizes. Throws:
  /// JudgeFault for a library that cannot be loaded; Unsupported if the system cannot confine it;
  /// IoError.
  JudgedProcess(const JudgedSource& source, std::size_t input_bytes, std::size_t output_bytes,
                const JudgedLimits& limits);

  [[nodiscard]] SharedPages& inputs() { return inputs_; }
  [[nodiscard]] SharedPages& outputs() { return outputs_; }
  [[nodiscard]] judged::Orders& orders() {
    return *reinterpret_cast<judged::Orders*>(orders_.data());
  }
  /// A copy: the process could change the original while it is read.
  [[nodiscard]] judged::Answers answers();

  /// Lets the process follow an order. Returns the seconds from its release until all its threads
  /// have stopped. Throws: JudgeFault if it ends, needs too long, breaks a limit, or ran while it
  /// was frozen.
  double follow(judged::Order order);

  /// Processor time of all its threads in the last order, in s.
  [[nodiscard]] double used_seconds() const { return used_seconds_; }
  /// The shortest and the median time of an order to do nothing, taken before the library was
  /// loaded, in s.
  [[nodiscard]] double shortest_hand_over() const { return shortest_hand_over_; }
  [[nodiscard]] double usual_hand_over() const { return usual_hand_over_; }
  /// Version of Landlock that seals its files; 0: the kernel has none.
  [[nodiscard]] int landlock() const { return landlock_; }
  [[nodiscard]] const LimitedGroup& group() const { return group_; }
  [[nodiscard]] const SupervisedCalls& calls() const { return *calls_; }

 private:
  void hand_memory();
  void measure_hand_over();
  void load();
  void await_stop(double deadline);
  [[noreturn]] void refuse_end();
  [[nodiscard]] double processor_seconds() const;
  void count_threads();

  JudgedSource source_;
  JudgedLimits limits_;
  SharedPages orders_, answers_, inputs_, outputs_;
  DescriptorPair sockets_;
  pid_t number_;
  LimitedGroup group_;
  OwnedProcess process_;
  std::optional<SupervisedCalls> calls_;
  double shortest_hand_over_ = 0, usual_hand_over_ = 0;
  double processor_seconds_ = 0;  ///< when it was frozen last
  double used_seconds_ = 0;
  int landlock_ = 0;
  int other_threads_ = 0;  ///< threads that an interpreter's libraries have, besides the main one
  bool has_too_many_ = false;  ///< at the last stop
};

/// The name of tensor `i` of an order: "input 0", "gradient of input 0".
[[nodiscard]] std::string tensor_name(const judged::Orders& orders, std::size_t i);

}  // namespace d5::detail
