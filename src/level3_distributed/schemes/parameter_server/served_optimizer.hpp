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

/// A scheme whose parameters are kept by servers. All ranks begin with rank 0's.
///
/// Test runs and checkpoints are meetings: every worker comes, when all its gradients have been
/// applied, and gets the newest parameters. What servers remember is in the state of rank 0.
class ServedOptimizer : public DistributedOptimizer {
 public:
  /// Where the optimizer's rule is applied, and remembers.
  enum class Rule { at_servers, at_workers };
  ServedOptimizer(std::shared_ptr<ThreeStepOptimizer> optimizer,
                  const std::shared_ptr<Communicator>& ranks, const ServerRanks& roles, Rule rule);

  void run(Trainer& trainer, const Interrupt& interrupt) override;
  /// What a rank that only serves does; until all workers have left.
  void serve();
  /// A worker's last word: all workers call it. From then on it is alone.
  void leave();
  /// Tells those who wait for this rank, or for its shard, of its end.
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
  /// The one that this rank keeps.
  [[nodiscard]] ParameterShard& own_shard() { return shards_[std::size_t(roles_.shard_of(rank_))]; }
  /// This rank updates its shard alone, and remembers nothing of others. Throws: Unsupported for an
  /// optimizer to which all parameters are one.
  void update_own_shard();
  /// A copy, on the host.
  [[nodiscard]] Tensor own_values(Values which);
  /// The servers' values are in the network.
  virtual void fetch(Values which);
  /// A worker gets what it asked a server for.
  ServerMessage receive_values(int shard);
  /// From every server; what was sent to them has arrived then.
  void receive_all_values();
  /// A server's words for a worker.
  void answer_values(int worker, Values which, std::initializer_list<double> numbers = {});
  /// A message that is not for all schemes.
  virtual void heard(const ServerMessage& message) = 0;
  /// A worker has the server's newest values; not for a test.
  virtual void was_read(int worker) { (void)worker; }
  virtual void has_left(int worker) { (void)worker; }
  /// Server's steps, or clocks, between the reading of a worker's values and their use.
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
  std::optional<ValueMap> restored_;  // until servers have it
  KeptParameters kept_;
  std::vector<Tensor> last_tested_;  // what test runs see when the servers have gone
  bool has_left_ = false;
  std::vector<std::int64_t> staleness_;  // how often it was 0, 1, ...
};

}  // namespace d5::detail
