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

/// A server's gradients: the workers', averaged over all that the loss counts. While a server makes
/// a step its workers answer what it asks (`answer`), however often its rule wants gradients or
/// losses; a server that trains is one of them, and answers the other servers.
class CollectedGradients final : public GradientDecorator {
 public:
  struct Parts {
    ServerLine& line;
    const ServerRanks& roles;
    std::vector<ParameterShard>& shards;
    Communicator& ranks;
    RankAgreement& workers;
    std::shared_ptr<Communicator> servers;  ///< where there are several; null at workers
    bool prepares = false;  ///< whether the rule changes parameters before a step's first run
  };
  CollectedGradients(std::shared_ptr<GradientSource> inner, Parts parts)
      : GradientDecorator(std::move(inner)), parts_(std::move(parts)) {}

  [[nodiscard]] bool counted() override { return true; }
  // Of a server.
  const ValueMap& run(const Batch& batch, const GradientRun& how) override;
  [[nodiscard]] std::size_t parts() const override { return 1; }
  ParameterRange finish(std::size_t) override { return own().parameters; }
  [[nodiscard]] bool in_shares() override { return parts_.roles.shards() > 1; }
  [[nodiscard]] bool announces() const override { return false; }
  double loss_of(const Batch& batch) override;
  [[nodiscard]] double loss_of_run(const ValueMap& outputs, const Batch& batch) override;
  /// The step is over: everybody gets the values.
  void end_step();

  /// Of a worker that does not serve: computes what servers ask for, until the step is over.
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
  double share_ = 1;              // of this worker's gradients in the sum
  bool values_are_known_ = true;  // to the workers
  Tensor mine_;                   // of the shard, by this rank as a worker
};

}  // namespace d5::detail
