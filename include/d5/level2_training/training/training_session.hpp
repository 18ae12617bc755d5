// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/results/results.hpp"
#include "d5/level1_network/graph/placement.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "d5/level2_training/training/initial_values.hpp"
#include "d5/level2_training/training/recipe.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level2_training/training/training_metric.hpp"

namespace d5 {
namespace detail {
struct TrainedModel;
}

/// How a recipe is run here; nothing in it changes what is trained.
struct SessionOptions {
  std::vector<std::string> frameworks = {"reference"};  ///< in order of preference for each node
  Placement placement = {};                             ///< nodes that run elsewhere
  Device device = {};                                   ///< where the network computes
  std::size_t memory_limit = 0;                         ///< as in `ExecutorOptions`
  std::vector<std::string> recompute = {};              ///< as in `ExecutorOptions`
  std::string data = {};                ///< folder of the data set; empty: what it finds by itself
  std::string checkpoint = {};          ///< file to write; empty: none
  std::string resume = {};              ///< checkpoint to begin with; empty: from the beginning
  std::int64_t checkpoint_every = 500;  ///< batches
  std::int64_t checkpoints_kept = 1;    ///< as in `TrainerOptions`
  InitialValues init = {};              ///< what the network begins with, unless it is resumed
  std::string save = {};    ///< ONNX file for the trained network without its loss; empty: none
  bool writes_save = true;  ///< of ranks, which give together what is saved, one does
  int loader_threads = 0;   ///< that read batches ahead (`Sampler::read_ahead`); 0: training reads
  std::function<void(const std::string&)> say = {};  ///< gets a line a epoch; empty: quiet
  std::vector<MetricChoice> metrics = {};            ///< besides the recipe's
  std::vector<std::shared_ptr<TrainingEvent>> observers = {};

  // The seams where training becomes distributed. Empty: as the recipe says.
  using MakeSampler = std::function<std::shared_ptr<Sampler>(
      const SamplerEntry&, std::shared_ptr<const Dataset>, const Settings&)>;
  MakeSampler make_train_sampler = {};
  MakeSampler make_test_sampler = {};  ///< where ranks share the test set
  /// In place of `make_executor`: of what is trained here of the whole network, which is what
  /// `save` writes, after `run_trainer`.
  std::function<std::shared_ptr<GraphExecutor>(const Network& whole, const std::string& loss,
                                               const ExecutorOptions& options)>
      make_executor = {};
  std::function<std::shared_ptr<Optimizer>(std::shared_ptr<Optimizer>)> wrap_optimizer = {};
  /// In place of `Trainer::run`, where not every rank's does.
  std::function<void(Trainer&, const Interrupt&)> run_trainer = {};
  /// Makes checkpoints of different ways to run one recipe differ: "ranks=2".
  std::string variant = {};
  std::int64_t ranks = 1;            ///< as in `TrainerOptions`
  std::string command_options = {};  ///< at the end of every record's command: " --load mine.so"
};

/// A recipe made real: data, network, optimizer, trainer and metrics.
///
///     TrainingSession session(load_recipe("mnist-lenet"));
///     for (const Measurement& result : session.run()) ...
///
/// An optimizer called "FRAMEWORK/NAME" is that framework's own.
class TrainingSession {
 public:
  /// `interrupt` ends the opening of its data. Throws: what its parts throw; NotFound where a
  /// recipe accepts a metric that is not measured, or a metric reads an output or a field that is
  /// not there; Interrupted.
  explicit TrainingSession(const Recipe& recipe, SessionOptions options = {},
                           const Interrupt& interrupt = {});
  ~TrainingSession();

  /// Trains, then judges: one record a metric, failed where it misses what the recipe accepts, or
  /// where training threw, such as by a loss that is not a number. An interrupt ends it as
  /// `Trainer::run` says: what was measured is kept and mistrusted, what was not is skipped, and
  /// nothing is judged. Called once.
  [[nodiscard]] std::vector<Measurement> run(const Interrupt& interrupt = {});
  /// `run` without the judgement: of one of several ranks, whose records are judged when they have
  /// become one.
  [[nodiscard]] std::vector<Measurement> run_unjudged(const Interrupt& interrupt = {});
  /// What training threw, of which the records have only the words; none where it did not.
  [[nodiscard]] const std::exception_ptr& failure() const { return failure_; }

  /// Writes the network as it came, with what it has learnt: without the loss that it was given,
  /// with the parameters that test runs see. Throws: as `onnx::save`.
  void save(const std::string& path);

  [[nodiscard]] Trainer& trainer() { return *trainer_; }
  [[nodiscard]] Network& network() { return optimizer_->executor().network(); }
  [[nodiscard]] const DatasetPair& data() const { return data_; }

 private:
  void make_data(const Interrupt& interrupt);
  void make_optimizer();
  [[nodiscard]] ExecutorOptions execution() const;
  void make_trainer();
  void make_metrics();
  void resolve_names();
  void share_tests();
  [[nodiscard]] bool nothing_is_left() const;
  void train(const Interrupt& interrupt);
  [[nodiscard]] Measurement record() const;
  [[nodiscard]] std::string command() const;
  [[nodiscard]] MetricChoice choice_of(const std::string& metric, const Settings& asked) const;

  Recipe recipe_;
  SessionOptions options_;
  TrainingOptions training_;
  std::string learning_rate_;
  DatasetPair data_;
  std::unique_ptr<detail::TrainedModel> model_;
  std::shared_ptr<Sampler> train_, test_;
  std::shared_ptr<Optimizer> optimizer_;
  std::unique_ptr<Trainer> trainer_;
  std::vector<std::shared_ptr<Metric>> metrics_;
  std::exception_ptr failure_;
};

/// Marks `result` failed, with the reason, if its number misses `acceptable`, which also says the
/// statistic: what is judged is what is printed.
void judge(Measurement& result, const Recipe::Acceptable& acceptable);
/// Judges every record of a metric that the recipe accepts within a bound. Of a recipe that is only
/// compared the condition "accepted" says which are missed, and none fails.
void judge(std::vector<Measurement>& results, const Recipe& recipe);

struct RecipeRun {
  Results results;
  bool accepted = false;  ///< every acceptable metric was met
};

/// Runs a recipe from beginning to end.
[[nodiscard]] RecipeRun run_recipe(const Recipe& recipe, SessionOptions options = {},
                                   const Interrupt& interrupt = {});

}  // namespace d5
