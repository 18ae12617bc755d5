// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "d5/core/results/environment.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/prediction/profile/rank_rates.hpp"

namespace d5 {

/// The pieces of a training step on one rank and their times, measured or estimated from costs.
/// File format: docs/reference/file_formats.md, "Profile of a training".
///
/// Units: s, bytes, FLOP.
struct TrainingProfile {
  static constexpr int kSchema = 1;

  struct Parameter {
    std::string name = {};
    double bytes = 0;  ///< size of its gradient
  };
  /// A contiguous piece of a step: one node forward or backward, an update, or the loading of a
  /// batch.
  struct Piece {
    std::string name = {};  ///< name of the node or parameter
    std::string kind;       ///< one of `operation_kinds()`
    std::string op_type = {};
    double flop = 0, bytes = 0;  ///< forward pieces only, at the first batch size
    std::vector<std::size_t> final_parameters = {};  ///< gradients final at its end
  };
  /// Samples of one batch size, one for each step.
  struct Times {
    std::int64_t batch = 0;
    std::vector<std::vector<double>> seconds = {};  ///< by piece
    std::vector<std::vector<double>> gaps = {};     ///< by piece: idle time before it
    std::vector<double> steps = {};                 ///< whole steps, from first gap to last piece
    std::vector<double> unobserved = {};            ///< whole steps without observation
    double recording = 0;  ///< overhead of the clock calls in an observed step
    /// Number of steps of a copy in each launch; empty: a single launch. Samples are sorted by
    /// copy, then by launch.
    std::vector<std::int64_t> launches = {};
  };

  std::string model = {};      ///< argument of `open_model` or `load_recipe`
  std::string digest = {};     ///< `model_digest`
  std::string framework = {};  ///< as for `--framework`, with its version
  std::string device = "cpu";
  std::string optimizer = {};
  int threads = 0;
  int copies = 1;                                   ///< concurrent copies; samples are of all
  std::map<std::string, std::string> machine = {};  ///< `machine_words`; empty: from costs
  RankRates rates = {};  ///< rates of sums and memory copies while all `copies` run
  std::vector<Parameter> parameters = {};    ///< in the order in which their gradients become final
  std::vector<Piece> pieces = {};            ///< in execution order
  std::vector<Times> batches = {};           ///< by batch size
  std::vector<std::string> mistrusted = {};  ///< reasons; empty: none
};

/// Times of one step at a batch size, by piece. They add up to `step`.
struct StepTimes {
  std::int64_t batch = 0;
  std::vector<double> seconds = {}, gaps = {};  ///< by piece
  double step = 0;
  bool beyond = false;  ///< extrapolated: the batch is outside the profiled range
};
/// Interquartile means: means over the steps whose whole time lies between the quartiles. They are
/// robust, and the pieces still add up to the step. With several launches: first of each launch,
/// then of the launches. A size between two profiled ones is interpolated piece by piece; a larger
/// one is extrapolated from the two largest; a smaller one, or with a single profiled size, is
/// proportional to the batch.
/// Throws: ValueError for a batch below 1.
[[nodiscard]] StepTimes step_times(const TrainingProfile& profile, std::int64_t batch);

/// Unobserved step over the step that the pieces add up to, at the profiled size nearest to
/// `batch`: 1 if the schedule meets it, or if there are no unobserved steps.
[[nodiscard]] double unobserved_over_scheduled(const TrainingProfile& profile, std::int64_t batch);

/// The batch size of a profile that has a single one, for a prediction that names none.
/// Throws: ValueError that lists the sizes of a profile with several.
[[nodiscard]] std::int64_t only_batch(const TrainingProfile& profile);

/// Digest of names, operators, parameters and their shapes, but not of values. The same for the
/// same model on every machine.
[[nodiscard]] std::string model_digest(Network& network);
/// The facts of the environment that a profile's times depend on.
[[nodiscard]] std::map<std::string, std::string> machine_words(const Environment& environment);

enum class Misfit {
  refuse,
  mistrust,  ///< accept, and add a reason to `mistrusted`
};
/// Checks that a profile is of this model (empty: any), this machine and this number of threads (0:
/// any). Throws: ValueError that names the differences.
void expect_fit(TrainingProfile& profile, const std::string& digest,
                const std::map<std::string, std::string>& machine, int threads,
                Misfit misfit = Misfit::refuse);
/// Throws: ValueError for an inconsistent profile: no batch, no forward or backward piece, times
/// that are missing, negative or NaN, or a gradient that never becomes final.
void check(const TrainingProfile& profile);

[[nodiscard]] std::string to_json(const TrainingProfile& profile);
/// `file` is the name for messages. Throws: FormatError (place, given, expected; newer schemas are
/// refused, and what `check` refuses).
[[nodiscard]] TrainingProfile training_profile_from_json(const std::string& text,
                                                         const std::string& file);
/// Writes the file beside `path`, then renames it. Throws: IoError.
void write_training_profile(const TrainingProfile& profile, const std::string& path);
/// Throws: as `training_profile_from_json`; IoError.
[[nodiscard]] TrainingProfile read_training_profile(const std::string& path);

}  // namespace d5
