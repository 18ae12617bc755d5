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

/// A scheme whose ranks begin with rank 0's parameters, and then have parameters of their own. Test
/// runs are made with the mean, and training ends with it.
///
/// Steps are each rank's: what a modifier limits or refuses, it does so by this rank's gradients. A
/// step that is refused updates nothing, but mixes, and so does one in whose samples nothing counts
/// or that has none. Ranks count alike, as the papers have it: a rank's loss is its mean over what
/// counts in its own samples.
class OwnParameters : public DistributedOptimizer {
 public:
  /// `name` is the scheme's, for messages. Throws: TypeError for parameters of 16 bits or of
  /// several types, Unsupported for those on a device and for rules that remember places.
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
  /// What the scheme remembers, by name: a tensor each, which `restore` overwrites.
  using Memory = std::vector<std::pair<std::string, Tensor>>;
  [[nodiscard]] virtual Memory memory() const { return {}; }

  /// All parameters as one vector: theirs, to be read and written.
  [[nodiscard]] Tensor values() { return executor().network().parameter_arena(); }
  /// A vector like that, of zeros.
  [[nodiscard]] Tensor zeros();
  /// One step of this rank, and then `change`, which sees its parameters after it. While
  /// backpropagation goes on, `meanwhile` moves on what is under way.
  const ValueMap& step_then(const Batch& batch, const std::function<void()>& change,
                            const std::function<void()>& meanwhile = {});
  /// Throws: Unsupported where the rule remembers anything but its number of steps.
  void expect_plain_descent();
  [[nodiscard]] double learning_rate();
  /// The mean of all ranks is this one's own from now on. A collective.
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
