// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d5/level3_distributed/communicator/communicator_agreement.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "level3_distributed/schemes/mean_model.hpp"

namespace d5::detail {

/// A scheme whose ranks begin with rank 0's parameters and then have different parameters. Test
/// runs use the mean, and training ends with it.
///
/// Each rank makes its own steps: modifiers limit or refuse a step by this rank's gradients only. A
/// refused step, or one without samples that count, updates nothing but still mixes. Ranks have
/// equal weight, as in the papers: a rank's loss is the mean over its own samples.
class OwnParameters : public DistributedOptimizer {
 public:
  /// `name` is the scheme's, for messages. Throws: TypeError for parameters of 16 bits or of
  /// several types, Unsupported for those on a device and for rules that keep points in parameter
  /// space.
  OwnParameters(std::shared_ptr<ThreeStepOptimizer> optimizer, std::shared_ptr<Communicator> ranks,
                std::string name);
  ~OwnParameters() override;
  OwnParameters(const OwnParameters&) = delete;
  OwnParameters& operator=(const OwnParameters&) = delete;

  void run(Trainer& trainer, const Interrupt& interrupt) override;
  [[nodiscard]] bool is_consistent() const override { return false; }
  void begin_test() override;
  void end_test() override;
  void tested(double loss, double weight) override;
  [[nodiscard]] RankAgreement& agreement() override { return agreement_; }
  [[nodiscard]] ValueMap state() const override;
  void restore(const ValueMap& state) override;

 protected:
  /// The scheme's state: a tensor for each name, which `restore` overwrites.
  using Memory = std::vector<std::pair<std::string, Tensor>>;
  [[nodiscard]] virtual Memory memory() const { return {}; }

  /// All parameters as one vector that shares their memory.
  [[nodiscard]] Tensor values() { return executor().network().parameter_arena(); }
  /// A vector of zeros like `values`.
  [[nodiscard]] Tensor zeros();
  /// Makes one step of this rank, then calls `change` with the updated parameters in place.
  /// `meanwhile` is called during backpropagation, to progress requests.
  const ValueMap& step_then(const Batch& batch, const std::function<void()>& change,
                            const std::function<void()>& meanwhile = {});
  /// Throws: Unsupported if the rule has state other than its number of steps.
  void expect_plain_descent();
  [[nodiscard]] double learning_rate();
  /// Makes the mean of all ranks this rank's parameters. A collective.
  void keep_mean() { mean_.keep(); }

 private:
  class Meanwhile;
  void check_types();
  void check_rule();

  std::string name_;
  CommunicatorAgreement agreement_;
  MeanModel mean_;
  std::shared_ptr<Meanwhile> meanwhile_;
};

}  // namespace d5::detail
