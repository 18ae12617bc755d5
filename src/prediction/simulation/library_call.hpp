// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "d5/level3_distributed/collectives/collective.hpp"

namespace d5::detail {

class SimulatedWorld;

/// Algorithms of simulated ranks' own collectives: for each size the algorithm of d5 nearest to
/// Open MPI 4.1's default. Blocking calls are chosen by Open MPI's table (`library_decisions.hpp`,
/// coll/tuned) and are not segmented. Started calls belong to another component (coll/libnbc),
/// which hardly chooses: an all-reduce in place, as d5 uses it, is always a tree.
///
///     kind            Open MPI, blocking              here
///     all_reduce      recursive_doubling,             the same
///                     rabenseifner
///                     ring, segmented_ring            ring; with fewer elements than ranks
///                     (of one segment)                recursive_doubling
///                     nonoverlapping                  binomial_tree
///     broadcast       binomial, knomial,              binomial
///                     binary trees
///                     basic_linear                    to each at once
///                     chain, pipeline                 chain of one segment
///                     (of one segment)
///                     scatter_allgather               scatter_all_gather
///     all_gather      recursive_doubling, bruck       the same; bruck if n is not a power of 2
///                     ring, neighbor, two_proc        ring
///     reduce_scatter  recursive doubling and          recursive_halving
///                     halving, butterfly
///                     basic_linear                    tree, then scatter
///     gather, scatter, all_to_all                     each to each, all at once
///     barrier                                         dissemination
///
///     kind            here, started
///     all_reduce      binomial_tree
///     broadcast       binomial; up to 4 ranks to each at once
///     all_gather      from each at once
///     reduce_scatter  tree, then scatter
///     others          as blocking
///
/// Source: Open MPI 4.1, ompi/mca/coll/{tuned,base,libnbc}.
class LibraryAlgorithms {
 public:
  LibraryAlgorithms();
  /// Starts a collective over sends and receives of `ranks`. This object must outlive the request.
  [[nodiscard]] std::unique_ptr<Request> start(Communicator& ranks, const CommunicationCall& call);
  /// The same for a blocking call.
  [[nodiscard]] std::unique_ptr<Request> run(Communicator& ranks, const CommunicationCall& call);

 private:
  std::shared_ptr<AllReduce> doubling_, ring_, tree_, rabenseifner_;
  std::shared_ptr<Broadcast> binomial_, split_, chain_;
  std::shared_ptr<AllGather> gather_doubling_, gather_bruck_, gather_ring_;
  std::shared_ptr<ReduceScatter> scatter_halving_;
};

/// A collective of a simulated rank's transport, which progresses in every call of that rank.
class LibraryRequest final : public Request {
 public:
  /// Constructed by the running fiber.
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
