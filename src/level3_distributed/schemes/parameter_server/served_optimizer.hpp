// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "d5/level2_training/optimization/kept_parameters.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "level3_distributed/schemes/parameter_server/parameter_shards.hpp"
#include "level3_distributed/schemes/parameter_server/server_line.hpp"
#include "level3_distributed/schemes/parameter_server/server_ranks.hpp"

namespace d5::detail {

/// A scheme whose parameters are held by servers. All ranks begin with rank 0's.
///
/// Test runs and checkpoints synchronise: every worker waits until all its gradients are applied,
/// and gets the newest parameters. The servers' state is in that of rank 0.
class ServedOptimizer : public DistributedOptimizer {
 public:
  /// The ranks that apply the optimizer's rule and hold its state.
  enum class Rule { at_servers, at_workers };
  ServedOptimizer(std::shared_ptr<ThreeStepOptimizer> optimizer,
                  const std::shared_ptr<Communicator>& ranks, const ServerRanks& roles, Rule rule);

  void run(Trainer& trainer, const Interrupt& interrupt) override;
  /// The loop of a rank that only serves, until all workers have left.
  void serve();
  /// Ends a worker's use of the servers; all workers call it.
  void leave();
  /// Sends this rank's failure to the ranks that wait for it or its shard.
  void pass_on(const std::exception& error);

  void begin_test() override;
  void end_test() override;
  void tested(double loss, double weight) override;
  [[nodiscard]] ValueMap state() const override;
  void restore(const ValueMap& state) override;
  [[nodiscard]] RankAgreement& agreement() override { return *workers_agreement_; }
  void read_gradients(GradientReader reader) override;
  [[nodiscard]] Conditions conditions() const override;

 protected:
  enum class Values { trained, tested };
  [[nodiscard]] const ServerRanks& roles() const { return roles_; }
  [[nodiscard]] ServerLine& line() { return line_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] std::vector<ParameterShard>& shards() { return shards_; }
  [[nodiscard]] bool is_server() const { return roles_.serves(rank_); }
  /// The shard of this rank.
  [[nodiscard]] ParameterShard& own_shard() { return shards_[std::size_t(roles_.shard_of(rank_))]; }
  /// Restricts updates and optimizer state to this rank's shard. Throws: Unsupported for an
  /// optimizer that needs all parameters together.
  void update_own_shard();
  /// A host copy of this rank's shard.
  [[nodiscard]] Tensor own_values(Values which);
  /// Copies the servers' values into the network.
  virtual void fetch(Values which);
  /// Receives the values that a worker requested from a server.
  ServerMessage receive_values(int shard);
  /// Receives the values from every server; all earlier messages to them have arrived then.
  void receive_all_values();
  /// Sends a server's values to a worker.
  void answer_values(int worker, Values which, std::initializer_list<double> numbers = {});
  /// Handles a message that is specific to the scheme.
  virtual void heard(const ServerMessage& message) = 0;
  /// Called when a worker has the server's newest values, except for tests.
  virtual void was_read(int worker) { (void)worker; }
  virtual void has_left(int worker) { (void)worker; }
  /// Records the server's steps, or clocks, between a worker's read of the values and their use.
  void note_staleness(std::int64_t steps);

 private:
  void answer(const ServerMessage& message);
  void give_restored();
  [[nodiscard]] ValueMap fetch_state();
  [[nodiscard]] ValueMap server_state();
  void restore_server(const ValueMap& state);
  void put(const std::vector<Tensor>& values);

  ServerRanks roles_;
  Rule rule_;
  int rank_;
  ServerLine line_;
  std::vector<ParameterShard> shards_;
  std::shared_ptr<RankAgreement> workers_agreement_;
  std::optional<ValueMap> restored_;  // until it is sent to the servers
  KeptParameters kept_;
  std::vector<Tensor> last_tested_;  // for test runs after the servers have left
  bool has_left_ = false;
  std::vector<std::int64_t> staleness_;  // histogram of staleness 0, 1, ...
};

}  // namespace d5::detail
