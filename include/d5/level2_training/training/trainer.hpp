// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/trace/event.hpp"
#include "d5/level2_training/data/batch_feed.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/training/training_event.hpp"

namespace d5 {

namespace detail {
class MachineWatch;
}

struct TrainerOptions {
  std::int64_t epochs = 1;
  std::int64_t most_batches = 0;        ///< limit for the whole run; 0: no limit
  std::string checkpoint = {};          ///< file; empty: none
  std::int64_t test_every = 1;          ///< interval in epochs; also at the end
  std::int64_t checkpoint_every = 500;  ///< interval in batches; also after each epoch
  /// Number of checkpoints to keep; older ones have their step in the name: "run.ckpt.step-1500".
  std::int64_t checkpoints_kept = 1;
  std::int64_t ranks = 1;   ///< number of ranks in the training; saved in checkpoints
  std::string recipe = {};  ///< checksum of what is trained; checkpoints with another one are
                            ///< refused
  /// The same as named settings: a refusal lists those that differ.
  std::map<std::string, std::string> settings = {};
  std::optional<Network> whole = {};  ///< the whole network, if the executor's is a part of it
};

/// Times that the trainer measured around a batch; observers are outside the clock.
struct BatchTimes {
  double waiting_seconds = 0;  ///< waiting for the sampler
  double making_seconds = 0;   ///< reading the batch, including prefetching
  double step_seconds = 0;     ///< forward, backward and update; 0 until it is done
};

/// Training loop: epochs of batches, with test runs between them and observers.
///
///     Trainer trainer(optimizer, train_sampler, &test_sampler, {.epochs = 2});
///     trainer.events().add(std::make_shared<TestAccuracy>());
///     trainer.run();
///
/// If `most_batches` or an observer ends a run within an epoch, a test run follows. A batch whose
/// run was ended early by an observer (`GraphExecutor::end_run`) is skipped: it counts as a batch,
/// but updates nothing and has no `after_batch` or `after_test_batch`.
///
/// If a batch has fewer samples than there are ranks, some ranks get none. They take part in the
/// step with a `Batch` of size 0 without values, and their only output is a loss of NaN.
class Trainer {
 public:
  /// `test` may be null: no test runs. Throws: ValueError for options out of range; Unsupported for
  /// a network that reads its own data (`feed_from`).
  Trainer(Optimizer& optimizer, Sampler& train, Sampler* test, TrainerOptions options = {});

  /// Trains to the end, from a checkpoint if one was resumed. Steps that change no parameter are
  /// not an error here (`TrainingSession` detects them).
  /// Throws: NumericError for a loss of NaN, with epoch and batch; ValueError for a network without
  /// parameters; what operators, data sets and observers throw.
  ///
  /// An interrupt ends it between two batches; then a checkpoint, if one was asked for, and
  /// `after_training` follow, but no test run and no end of an epoch. Without a checkpoint, which
  /// needs whole batches, it may also end within a batch if the executor can; parameters are then
  /// those before the batch. All ranks end between the same two batches, whichever of them was
  /// interrupted (`RankAgreement::end_together`).
  void run(const Interrupt& interrupt = {});
  /// Continues from `path` at the next `run`. It restores parameters, running statistics, the
  /// optimizer's state, changed hyper-parameters, positions in random streams and in the data, and
  /// the state of metrics with reasons to mistrust them. Metrics that are added later get theirs
  /// when `run` begins.
  /// Throws: IoError; FormatError (a broken file; another recipe or network; an optimizer that did
  /// not accept its state).
  void resume(const std::string& path);
  /// Writes a temporary file, then renames it: a crash leaves a complete file.
  void save_checkpoint(const std::string& path);
  /// Whether the last run was interrupted.
  [[nodiscard]] bool interrupted() const { return interrupted_; }
  /// Runs the test set once, with the network in `NetworkMode::inference`. No effect without a test
  /// set.
  /// Throws: Interrupted.
  void test();

  [[nodiscard]] Optimizer& optimizer() { return optimizer_; }
  [[nodiscard]] EventList& events() { return events_; }
  [[nodiscard]] Sampler& train_sampler() const { return train_; }
  [[nodiscard]] Sampler* test_sampler() { return test_; }
  [[nodiscard]] const TrainerOptions& options() const { return options_; }
  /// The trained network; this rank may hold only a part of it.
  [[nodiscard]] const Network& network() const;
  [[nodiscard]] const std::string& loss() const { return optimizer_.loss(); }
  /// See `RankAgreement`.
  [[nodiscard]] int ranks_of_model() const;
  [[nodiscard]] std::int64_t epoch() const { return epoch_; }
  /// Index of the next batch of this epoch.
  [[nodiscard]] std::int64_t batch() const { return batch_; }
  [[nodiscard]] std::int64_t step() const { return step_; }  ///< batches since the beginning
  /// Times of the batch that `before_batch` or `after_batch` reports.
  [[nodiscard]] const BatchTimes& batch_times() const { return batch_times_; }

 private:
  enum class Stop { no, yes };
  Stop run_epoch();
  [[nodiscard]] const Batch* next_training_batch();
  void run_batch(const Batch& batch);
  [[nodiscard]] bool is_elsewhere(const Batch& batch);
  void count(const Batch& batch);
  void checkpoint();
  void restore_metrics();
  [[nodiscard]] ValueMap metric_state() const;
  /// Asks observers whether to stop. Ranks that wait for each other within an epoch agree only
  /// around its test run and at the beginning of a run; on a single rank observers are asked at
  /// once.
  void hear_observers();
  void agree_to_stop();
  /// Called between two batches. Throws: Interrupted.
  void end_if_wished();
  [[nodiscard]] bool finished() const;
  /// Throws: ValueError if called from a hook within a run.
  void expect_at_rest(const char* call) const;

  Optimizer& optimizer_;
  Sampler& train_;
  Sampler* test_;
  TrainerOptions options_;
  EventList events_;
  std::vector<TrainingEvent*> listeners_;  // during a run
  BatchFeed test_feed_;
  BatchTimes batch_times_;
  ValueMap metric_state_;  // metrics' state from a checkpoint, until they are added
  std::int64_t epoch_ = 0, step_ = 0, batch_ = 0, saved_step_ = -1;
  Interrupt interrupt_;  // the current run's
  bool interrupted_ = false, stop_ = false, running_ = false;
  std::shared_ptr<detail::MachineWatch> watch_;  // since the beginning of the first run
};

}  // namespace d5
