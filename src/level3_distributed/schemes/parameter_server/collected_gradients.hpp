// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "d5/level2_training/optimization/gradient_source.hpp"
#include "level3_distributed/schemes/parameter_server/parameter_shards.hpp"
#include "level3_distributed/schemes/parameter_server/server_line.hpp"
#include "level3_distributed/schemes/parameter_server/server_ranks.hpp"

namespace d5::detail {

/// A server's gradients: those of the workers, averaged over all samples that the loss counts.
/// During a server's step its workers answer its requests (`answer`), as often as its rule needs
/// gradients or losses. A server that trains is a worker too, and answers the other servers.
class CollectedGradients final : public GradientDecorator {
 public:
  struct Parts {
    ServerLine& line;
    const ServerRanks& roles;
    std::vector<ParameterShard>& shards;
    Communicator& ranks;
    RankAgreement& workers;
    std::shared_ptr<Communicator> servers;  ///< group of several servers; null on workers
    bool prepares = false;  ///< whether the rule changes parameters before a step's first run
  };
  CollectedGradients(std::shared_ptr<GradientSource> inner, Parts parts)
      : GradientDecorator(std::move(inner)), parts_(std::move(parts)) {}

  [[nodiscard]] bool counted() override { return true; }
  // On a server.
  const ValueMap& run(const Batch& batch, const GradientRun& how) override;
  [[nodiscard]] std::size_t parts() const override { return 1; }
  ParameterRange finish(std::size_t) override { return own().parameters; }
  [[nodiscard]] bool in_shares() override { return parts_.roles.shards() > 1; }
  [[nodiscard]] bool announces() const override { return false; }
  double loss_of(const Batch& batch) override;
  [[nodiscard]] double loss_of_run(const ValueMap& outputs, const Batch& batch) override;
  /// Ends the step: sends the values to all workers.
  void end_step();

  /// On a worker that does not serve: answers the servers' requests until the end of the step.
  const ValueMap& answer(const Batch& batch);

 private:
  [[nodiscard]] int rank() const { return parts_.ranks.rank(); }
  [[nodiscard]] ParameterShard& own() {
    return parts_.shards[std::size_t(parts_.roles.shard_of(rank()))];
  }
  enum class Send { word, values };
  void ask(ServerWord word, Send send, double factor = 1);
  ServerMessage hear_servers();
  const ValueMap& run_here(const Batch& batch, double factor);
  void send_gradients();
  [[nodiscard]] Tensor scratch(const Tensor& like) const;
  void collect(const GradientRun& how);
  double join_losses(const std::function<double()>& mine, const Batch& batch);
  [[nodiscard]] double loss_share(const Batch& batch);

  Parts parts_;
  double share_ = 1;              // weight of this worker's gradients in the sum
  bool values_are_known_ = true;  // whether workers have the current values
  Tensor mine_;                   // this rank's gradients of the shard, as a worker
};

}  // namespace d5::detail
