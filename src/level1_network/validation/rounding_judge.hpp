// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"
#include "level1_network/validation/answers.hpp"

namespace d5 {

/// Outputs of a reference, and how far rounding moves them.
struct RoundedAnswers {
  struct Expected {
    std::string tensor;
    Value own;          ///< the reference's own value
    Tensor exact = {};  ///< in float64; undefined for values without floats
    double scale = 0;   ///< its largest magnitude
    /// Range of the function behind it, if bounded: Sigmoid, Softmax and Tanh are approximated
    /// within ulps of 1, however small their values here.
    double range = 0;
    std::vector<double> distances = {};  ///< one per run
    std::string unmoved = {};            ///< reason why an output does not depend on inputs
                                         ///< (`unmoved_outputs`)
  };
  std::vector<Expected> expected = {};
  std::string no_float64 = {};  ///< why; empty: it ran
  std::uint32_t runs = 1;       ///< number of runs in the network's own types
};

/// Bound on how far one more of nineteen `distances` lies above the largest, except once in 10,000:
/// 11.5 times the mean excess over their median, if the upper half falls off exponentially. 0 for
/// fewer than two distances, and if none lies above the median.
///
/// Source: Davison and Smith, "Models for Exceedances over High Thresholds" (1990), for the excess
/// over a threshold. The factor k: of twenty exponential numbers the last is the largest once in
/// 20, and then above by k mean excesses once in the product of 1 + k/9 j/(j + 1), j = 1 to 9 (from
/// their spacings, which are independent), which is 500 for 11.5.
[[nodiscard]] double unseen_tail(std::vector<double> distances);

/// Judges an executor's outputs by the errors that rounding can cause in this network, on these
/// inputs.
///
/// The expected value is the reference's in float64. The error of rounding is measured: it is the
/// distance, in the largest element, of runs of the reference in the network's own types. The first
/// run is unchanged; in the others every parameter and input has been rounded once more (`nudged`).
/// The bound therefore grows with depth, width and condition as rounding errors do. An element
/// passes within
///
///     bound = 8 x (the median of three runs) + (the largest of all runs)
///             + 8 ulp of the tensor's largest number, or of 1 behind a function of that range
///
/// 8 leaves room for another order of summation and for fast algorithms of convolution. The units
/// in the last place are for short networks in which the reference rounds once or never. The
/// largest run counts once: functions with steps (a ReLU at zero, a maximum with two candidates)
/// turn the smallest rounding error into a jump of their gradient, which does not grow. If an
/// answer is outside, up to 16 more runs look for a jump; in them long sums are also accumulated
/// one number after another (`with_other_sums`), as some engines do, while the reference adds in
/// parts.
///
/// Nineteen runs may miss the largest jump: a twentieth exceeds them all once in 20 times. So after
/// the last run `unseen_tail` is added to the bound.
///
/// If the bound is the tensor's whole size, nothing is left to compare, and the record is
/// mistrusted: its terms cancel, as in the gradient of a bias before a batch normalization. The
/// errors of the terms remain, and another order of summation may multiply them by the root of
/// their number: it fails only above 64 bounds.
///
/// If the reference gives NaN or infinity, nothing is compared (`detail::weigh_evidence`), nor if
/// an output does not depend on inputs, once `look_for_unmoved` has looked.
///
/// If float64 cannot be run, the unchanged run replaces it; records give the reason. Values without
/// floats must be equal.
///
/// Source: Higham, "Accuracy and Stability of Numerical Algorithms" (2nd ed., 2002), section 1.5
/// and chapter 3 (backward error: a good answer is the exact one for numbers nearby); Higham and
/// Mary, "A New Approach to Probabilistic Rounding Error Analysis" (2019): errors of random sign
/// grow with the square root of their number; Parker, "Monte Carlo Arithmetic" (1997).
class RoundingJudge {
 public:
  /// Runs the reference; its random numbers must be the same in each run. `reference` must outlive
  /// it. `interrupt` ends the run in float64; the caller ends those of `reference`.
  RoundingJudge(GraphExecutor& reference, ValueMap inputs, BackwardBegin begin,
                const Interrupt& interrupt = {});
  /// The same for a reference created by `open`, and again after a release in between.
  RoundingJudge(std::function<GraphExecutor&()> open, ValueMap inputs, BackwardBegin begin,
                const Interrupt& interrupt);
  /// Uses the answers that another judge found on the same inputs; `open` is called if an answer is
  /// outside the bound.
  RoundingJudge(std::function<GraphExecutor&()> open, ValueMap inputs, BackwardBegin begin,
                RoundedAnswers found);

  /// One record per tensor: `base`, its error relative to its largest number, and as conditions the
  /// bound and its terms.
  [[nodiscard]] std::vector<Measurement> judge(const Measurement& base,
                                               const std::vector<Answer>& answers);
  /// Runs the reference on other inputs. Throws: Interrupted.
  void look_for_unmoved();
  [[nodiscard]] const RoundedAnswers& found() const { return found_; }

 private:
  using Expected = RoundedAnswers::Expected;
  void run_in_float64(const Interrupt& interrupt);
  /// Makes one more run, with additional rounding of everything.
  void run_nudged();
  /// The same with long sums in another order, if there are any.
  void run_with_other_sums();
  void open_with_other_sums();
  void take_distances(const std::vector<Answer>& answers);
  /// The reference, restored to its state before the first run.
  GraphExecutor& fresh_reference();
  [[nodiscard]] double bound_of(const Expected& expected) const;
  [[nodiscard]] Measurement check(const Measurement& base, const Expected& expected,
                                  const Value& answer) const;

  std::function<GraphExecutor&()> open_;
  const ValueMap inputs_;
  const BackwardBegin begin_;
  std::optional<ValueMap> state_;  ///< the reference's state before its first run
  bool looked_for_sums_ = false;
  std::shared_ptr<GraphExecutor> adds_otherwise_;  ///< null where nothing is to be added otherwise
  RoundedAnswers found_;
};

}  // namespace d5
