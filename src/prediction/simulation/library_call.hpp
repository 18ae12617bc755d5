// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "d5/level3_distributed/collective.hpp"

namespace d5::detail {

class SimulatedWorld;

/// What simulated ranks' own collectives run: for each size d5's nearest to what Open MPI 4.1
/// chooses where nobody tunes it (coll/tuned, fixed decisions).
///
///     all_reduce      below 10 kB recursive doubling; the ring, above 1 MiB a rank in segments of
///                     1 MiB
///     broadcast       below 2 kB binomial; below 362 kB scatter and all-gather, for its split
///                     binary tree; a chain in segments of 128 kB, of 8 to 64 kB where ranks are
///                     many
///     all_gather      below 50 kB of all recursive doubling or, for 2^k ranks not, Bruck; the ring
///     reduce_scatter  below 12 kB of all recursive halving; the ring
///     gather, scatter, all_to_all   each to each, all at once
///     barrier         dissemination
class LibraryAlgorithms {
 public:
  LibraryAlgorithms();
  /// Over sends and receives of `ranks`, under way when it returns. This object outlives it.
  [[nodiscard]] std::unique_ptr<Request> start(Communicator& ranks, const CommunicationCall& call);

 private:
  [[nodiscard]] AllReduce& all_reduce(std::int64_t elements, std::int64_t bytes, int ranks) const;
  [[nodiscard]] Broadcast& broadcast(std::int64_t bytes, int ranks) const;

  std::shared_ptr<AllReduce> doubling_, ring_, segmented_, tree_;
  std::shared_ptr<Broadcast> binomial_, split_, chain_8k_, chain_16k_, chain_64k_, chain_128k_;
  std::shared_ptr<AllGather> gather_doubling_, gather_bruck_, gather_ring_;
  std::shared_ptr<ReduceScatter> scatter_halving_, scatter_ring_;
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
