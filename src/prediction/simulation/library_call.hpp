// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "d5/level3_distributed/collectives/collective.hpp"

namespace d5::detail {

class SimulatedWorld;

/// What simulated ranks' own collectives run: for each size d5's nearest to what Open MPI 4.1 runs
/// where nobody tunes it. Blocking ones are chosen by its table (`library_decisions.hpp`,
/// coll/tuned) and go in one piece; those that are started are of another part of it (coll/libnbc),
/// which hardly chooses: an all-reduce in place, as d5 asks for, is always a tree.
///
/// | | blocking: Open MPI's | here | started |
/// | --- | --- | --- | --- |
/// | all_reduce | recursive_doubling, rabenseifner | the same | binomial_tree |
/// | | ring, segmented_ring (of one segment) | ring; less elements than ranks: recursive_doubling |
/// | | | nonoverlapping | binomial_tree | | | broadcast | binomial, knomial, binary trees |
/// binomial | binomial; up to 4 ranks to each at once | | | basic_linear | to each at once | | | |
/// chain, pipeline (of one segment) | chain of one segment | | | | scatter_allgather |
/// scatter_all_gather | | | all_gather | recursive_doubling, bruck | the same; bruck where n is no
/// power of 2 | from each at once | | | ring, neighbor, two_proc | ring | | | reduce_scatter |
/// recursive doubling and halving, butterfly | recursive_halving | tree, then scatter | | |
/// basic_linear | tree, then scatter | | | gather, scatter, all_to_all | each to each, all at once
/// | | the same | | barrier | dissemination | | the same |
///
/// Source: Open MPI 4.1, ompi/mca/coll/{tuned,base,libnbc}.
class LibraryAlgorithms {
 public:
  LibraryAlgorithms();
  /// Over sends and receives of `ranks`, under way when it returns. This object outlives it.
  [[nodiscard]] std::unique_ptr<Request> start(Communicator& ranks, const CommunicationCall& call);
  /// The same of a call that blocks.
  [[nodiscard]] std::unique_ptr<Request> run(Communicator& ranks, const CommunicationCall& call);

 private:
  std::shared_ptr<AllReduce> doubling_, ring_, tree_, rabenseifner_;
  std::shared_ptr<Broadcast> binomial_, split_, chain_;
  std::shared_ptr<AllGather> gather_doubling_, gather_bruck_, gather_ring_;
  std::shared_ptr<ReduceScatter> scatter_halving_;
};

/// A collective of a simulated rank's transport, which is moved on in every call of that rank.
class LibraryRequest final : public Request {
 public:
  /// Of the fiber that runs.
  LibraryRequest(std::shared_ptr<SimulatedWorld> world, int rank, std::string words,
                 const std::function<std::unique_ptr<Request>()>& start);
  ~LibraryRequest() override;
  void wait() override;
  bool done() override;
  void move_on();
  [[nodiscard]] const std::string& words() const { return words_; }

 private:
  void finish();
  void rethrow();

  std::shared_ptr<SimulatedWorld> world_;
  int rank_;
  std::string words_;
  std::unique_ptr<Request> request_;
  std::exception_ptr error_;
  bool complete_ = false, moving_ = false;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace d5::detail
