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

/// What a reference answers, and how far rounding moves it.
struct RoundedAnswers {
  struct Expected {
    std::string tensor;
    Value own;          ///< as the reference answers
    Tensor exact = {};  ///< in float64; undefined for what holds no floats
    double scale = 0;   ///< its largest magnitude
    /// Of the function that gives it, where that is bounded: Sigmoid, Softmax and Tanh are
    /// approximated within ulps of 1, however small what they give here is.
    double range = 0;
    std::vector<double> distances = {};  ///< of each run
    std::string unmoved = {};  ///< of an output that other inputs do not move (`unmoved_outputs`)
  };
  std::vector<Expected> expected = {};
  std::string no_float64 = {};  ///< why; empty: it ran
  std::uint32_t runs = 1;       ///< in the network's own types
};

/// How far above the largest of nineteen `distances` one more of their kind lies at most, but for
/// one time in 10,000: 11.5 times the mean excess over their median, where the upper half falls off
/// exponentially. 0 for fewer than two, and where none lies above the median.
///
/// Source: Davison and Smith, "Models for Exceedances over High Thresholds" (1990), for the excess
/// over a threshold. The factor k: of twenty exponential numbers the last is the largest once in
/// 20, and then above by k mean excesses once in the product of 1 + k/9 j/(j + 1), j = 1 to 9 (from
/// their spacings, which are independent), which is 500 for 11.5.
[[nodiscard]] double unseen_tail(std::vector<double> distances);

/// Judges what an executor answers by what rounding can do to this network, on these inputs.
///
/// Expected is what the reference answers in float64. What rounding does to a tensor is not
/// guessed: it is how far from there, in the largest of its elements, runs of the reference in the
/// network's own types come to lie. The first run is as it is; in the others every parameter and
/// input has been rounded once more (`nudged`). So it grows with depth, width and condition as
/// rounding does. An element passes within
///
///     bound = 8 x (the median of three runs) + (the largest of all runs)
///             + 8 ulp of the tensor's largest number, or of 1 behind a function of that range
///
/// 8 leaves room for another order of summation and for fast algorithms of convolution; the units
/// in the last place are for networks so short that the reference rounds once or never. The largest
/// counts once: functions with steps (a ReLU at zero, a maximum with two candidates) turn the
/// smallest rounding into a jump of their gradient, which does not grow. If an answer is outside,
/// up to 16 more runs look for a jump; in them long sums are also added up one number after the
/// other (`with_other_sums`), as some engines do, where the reference adds in parts.
///
/// Nineteen runs have not seen the largest jump: a twentieth exceeds them all once in 20 times. So
/// after the last run the bound has `unseen_tail` on top.
///
/// Where that is the tensor's whole size, nothing is left to compare, and the record is mistrusted:
/// its terms cancel, as in the gradient of a bias before a batch normalization. What stays are the
/// errors of the terms, which another order of summation may multiply by the root of their number:
/// only above 64 bounds it fails.
///
/// Where the reference gives no numbers, nothing is compared (`detail::weigh_evidence`), nor where
/// inputs do not move an output, once `look_for_unmoved` has looked.
///
/// Where float64 cannot be run, the run as it is takes its place; records say why. What holds no
/// floats must agree exactly.
///
/// Source: Higham, "Accuracy and Stability of Numerical Algorithms" (2nd ed., 2002), section 1.5
/// and chapter 3 (backward error: a good answer is the exact one for numbers nearby); Higham and
/// Mary, "A New Approach to Probabilistic Rounding Error Analysis" (2019): errors of random sign
/// grow with the square root of their number; Parker, "Monte Carlo Arithmetic" (1997).
class RoundingJudge {
 public:
  /// Runs the reference, whose random numbers are the same in each run. `reference` outlives it.
  /// `interrupt` ends the run in float64; those of `reference` are the caller's to end.
  RoundingJudge(GraphExecutor& reference, ValueMap inputs, BackwardBegin begin,
                const Interrupt& interrupt = {});
  /// The same of a reference that `open` makes, and makes again where it is let go in between.
  RoundingJudge(std::function<GraphExecutor&()> open, ValueMap inputs, BackwardBegin begin,
                const Interrupt& interrupt);
  /// From what another one found on the same inputs; `open` is called where an answer is outside
  /// the bound.
  RoundingJudge(std::function<GraphExecutor&()> open, ValueMap inputs, BackwardBegin begin,
                RoundedAnswers found);

  /// A record of each tensor: `base`, its error relative to its largest number, and as conditions
  /// the bound of that and what it is made of.
  [[nodiscard]] std::vector<Measurement> judge(const Measurement& base,
                                               const std::vector<Answer>& answers);
  /// Runs the reference on other inputs. Throws: Interrupted.
  void look_for_unmoved();
  [[nodiscard]] const RoundedAnswers& found() const { return found_; }

 private:
  using Expected = RoundedAnswers::Expected;
  void run_in_float64(const Interrupt& interrupt);
  /// One more run, with everything rounded once more.
  void run_nudged();
  /// The same, and long sums added otherwise, where there are any.
  void run_with_other_sums();
  void open_with_other_sums();
  void take_distances(const std::vector<Answer>& answers);
  /// As it was before its first run.
  GraphExecutor& fresh_reference();
  [[nodiscard]] double bound_of(const Expected& expected) const;
  [[nodiscard]] Measurement check(const Measurement& base, const Expected& expected,
                                  const Value& answer) const;

  std::function<GraphExecutor&()> open_;
  const ValueMap inputs_;
  const BackwardBegin begin_;
  std::optional<ValueMap> state_;  ///< of the reference before its first run
  bool looked_for_sums_ = false;
  std::shared_ptr<GraphExecutor> adds_otherwise_;  ///< null where nothing is to be added otherwise
  RoundedAnswers found_;
};

}  // namespace d5
