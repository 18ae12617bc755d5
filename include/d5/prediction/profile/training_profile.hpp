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

/// What a training step on one rank is made of, and how long each piece takes: observed, or told by
/// costs. File format: docs/reference/file_formats.md, "Profile of a training".
///
/// Units: s, bytes, FLOP.
struct TrainingProfile {
  static constexpr int kSchema = 1;

  struct Parameter {
    std::string name = {};
    double bytes = 0;  ///< of its gradient
  };
  /// What runs without a break: a node forward or backward, an update, loading a batch.
  struct Piece {
    std::string name = {};  ///< the node's, the parameter's
    std::string kind;       ///< one of `operation_kinds()`
    std::string op_type = {};
    double flop = 0, bytes = 0;                      ///< of forward pieces, at the first batch size
    std::vector<std::size_t> final_parameters = {};  ///< whose gradients are final when it ends
  };
  /// Of one batch size, a sample a step each.
  struct Times {
    std::int64_t batch = 0;
    std::vector<std::vector<double>> seconds = {};  ///< by piece
    std::vector<std::vector<double>> gaps = {};     ///< by piece: from the end of the one before it
    std::vector<double> steps = {};                 ///< whole steps, from first gap to last piece
    std::vector<double> unobserved = {};  ///< whole steps beside those, in which nobody observed
    double recording = 0;  ///< of a step: how many times the clock was read, by what that takes
    /// How many steps of a copy are of each launch; empty: all are of one. Samples are in order of
    /// copies, and of each in that of launches.
    std::vector<std::int64_t> launches = {};
  };

  std::string model = {};      ///< what `open_model` or `load_recipe` took
  std::string digest = {};     ///< `model_digest`
  std::string framework = {};  ///< as `--framework` takes it, with its version
  std::string device = "cpu";
  std::string optimizer = {};
  int threads = 0;
  int copies = 1;                                   ///< that ran at once; samples are of all
  std::map<std::string, std::string> machine = {};  ///< `machine_words`; empty: told by costs
  RankRates rates = {};                             ///< of sums and copies, beside all copies
  std::vector<Parameter> parameters = {};    ///< in the order in which gradients become final
  std::vector<Piece> pieces = {};            ///< in the order in which they run
  std::vector<Times> batches = {};           ///< by batch size
  std::vector<std::string> mistrusted = {};  ///< reasons; empty: none
};

/// What one step of a batch size takes, one number a piece. They add up to `step`.
struct StepTimes {
  std::int64_t batch = 0;
  std::vector<double> seconds = {}, gaps = {};  ///< by piece
  double step = 0;
  bool beyond = false;  ///< the batch is smaller or larger than any that was profiled
};
/// Means over the steps whose whole time lies between the quartiles: robust as a median is, and the
/// pieces' sum is the step's. Of several launches so of each, and then of the launches. At a size
/// between two profiled ones interpolated piece by piece; with a larger one from the two largest;
/// with a smaller one, or where there is one size alone, in proportion to the batch. Throws:
/// ValueError for a batch below 1.
[[nodiscard]] StepTimes step_times(const TrainingProfile& profile, std::int64_t batch);

/// Told apart: names, operators, parameters and their shapes; not their values. The same for the
/// same model on every machine.
[[nodiscard]] std::string model_digest(Network& network);
/// What a profile's times depend on.
[[nodiscard]] std::map<std::string, std::string> machine_words(const Environment& environment);

enum class Misfit {
  refuse,
  mistrust,  ///< and say so in `mistrusted`
};
/// Whether a profile is of this model (empty: any), on this machine, with these threads (0: any).
/// Throws: ValueError, that says what differs.
void expect_fit(TrainingProfile& profile, const std::string& digest,
                const std::map<std::string, std::string>& machine, int threads,
                Misfit misfit = Misfit::refuse);
/// Throws: ValueError for a profile that no training gives: no batch, no forward or backward piece,
/// times that are missing, negative or no number, a gradient that never becomes final.
void check(const TrainingProfile& profile);

[[nodiscard]] std::string to_json(const TrainingProfile& profile);
/// `file` is the name for messages. Throws: FormatError (place, given, expected; newer schemas are
/// refused, and what `check` refuses).
[[nodiscard]] TrainingProfile training_profile_from_json(const std::string& text,
                                                         const std::string& file);
/// Written beside `path`, then renamed. Throws: IoError.
void write_training_profile(const TrainingProfile& profile, const std::string& path);
/// Throws: as `training_profile_from_json`; IoError.
[[nodiscard]] TrainingProfile read_training_profile(const std::string& path);

}  // namespace d5
