// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>

#include "d5/level3_distributed/communicator/communicator_decorator.hpp"

namespace d5 {

/// Compares each collective between the ranks before it begins: its kind, type, elements (where all
/// ranks know them), root and reduction. Where they differ every rank gets an error that names the
/// calls and who made them, instead of wrong numbers or a wait for ever.
///
/// So are sums in memory (`node_memory`), and `split`; what makes a `NodeMemory` or a
/// `MemoryWindow` is seen as the collectives that it begins with. Not seen are
///
/// - send and receive, algorithms of them, and a window's `put`, `get` and locks: what others do at
///   that time is no order of calls. `run_schedule` and own tags are such algorithms' own.
/// - sums in memory under a `ProgressThread`, whose memory is nobody's to watch.
/// - a rank that calls nothing: it is `CallTimeout`'s to find.
///
/// A call costs an all-gather of 48 bytes a rank besides. What is started begins when that is done
/// and somebody asks its request, in the order of starting; nothing waits in `start_...`.
///
/// Throws: CommunicationError, from the wait for the call and from every later collective.
class CallOrder final : public CommunicatorDecorator {
 public:
  /// A collective.
  explicit CallOrder(std::shared_ptr<Communicator> inner);
  ~CallOrder() override;
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
  void begin_next();
  void begin_known();
  void expect_alike(const Compared& call) const;

  std::shared_ptr<Communicator> signatures_;
  std::deque<std::shared_ptr<Compared>> waiting_;  // in the order of calling
  std::exception_ptr broken_;
  std::int64_t calls_ = 0;
};

}  // namespace d5
