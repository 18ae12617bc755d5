// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>

#include "d5/level3_distributed/communicator/communicator_decorator.hpp"

namespace d5 {

/// Checks before each collective that all ranks make the same call: kind, type, elements (if all
/// ranks know them), root and reduction. If they differ, every rank gets an error that names the
/// calls and their ranks, instead of wrong numbers or a deadlock.
///
/// Sums in shared memory (`node_memory`) and `split` are checked too. The creation of a
/// `NodeMemory` or a `MemoryWindow` is checked as the collectives that it begins with. Not checked
/// are
///
/// - send and receive, algorithms over them (`run_schedule`, `own_tag`), and a window's `put`,
///   `get` and locks: their order may differ between ranks;
/// - sums in shared memory under a `ProgressThread`, whose waits are not watched;
/// - a rank that makes no call: `CallTimeout` finds it.
///
/// Each call costs an additional all-gather of 48 bytes per rank. A started call begins once this
/// is done and its request is polled, in the order of starting; `start_...` never blocks.
///
/// Throws: CommunicationError, from the wait for the call and from every later collective.
class CallOrder final : public CommunicatorDecorator {
 public:
  /// A collective.
  explicit CallOrder(std::shared_ptr<Communicator> inner);
  ~CallOrder() override;
  /// Says that this rank makes no further collective: ranks that still make one get an error. A
  /// collective, which only this call on the other ranks answers.
  void end();
  [[nodiscard]] std::unique_ptr<Request> watch(const CommunicationCall& call,
                                               std::unique_ptr<Request> request) override;

 protected:
  [[nodiscard]] std::unique_ptr<Request> do_start(const CommunicationCall& call) override;
  void do_run(const CommunicationCall& call) override { do_start(call)->wait(); }
  [[nodiscard]] std::shared_ptr<Communicator> do_split(int color, int order) override;
  [[nodiscard]] std::shared_ptr<Communicator> decorate(
      std::shared_ptr<Communicator> group) override;

 private:
  struct Compared;
  class ComparedRequest;
  [[nodiscard]] std::shared_ptr<Compared> compare(const CommunicationCall& call,
                                                  std::unique_ptr<Request> begun = nullptr);
  /// Compares a call without data, and all before it.
  void compare_now(const CommunicationCall& call);
  void begin_next();
  void begin_known();
  void expect_alike(const Compared& call) const;

  std::shared_ptr<Communicator> signatures_;
  std::deque<std::shared_ptr<Compared>> waiting_;  // in call order
  std::exception_ptr broken_;
  std::int64_t calls_ = 0;
};

}  // namespace d5
