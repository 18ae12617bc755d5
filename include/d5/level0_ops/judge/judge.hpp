// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level0_ops/case/operator_case.hpp"

namespace d5 {

struct JudgeOptions {
  int samples = 30;        ///< timed calls of each case
  int warmup = 3;          ///< calls of each case before them, judged like them
  bool gradients = false;  ///< judges backward too, as cases of their own (condition "pass")
  double call_seconds = 10;
  double compile_seconds = 60;
  std::int64_t memory = std::int64_t(4) << 30;  ///< bytes, beside the tensors; also of the compiler
  std::vector<std::string> against = {};        ///< frameworks timed on the same inputs
  std::vector<std::string> forbid = {};         ///< parts of names of libraries, or their symbols
  std::optional<std::uint64_t> seed = {};       ///< nothing: drawn by the system
  Interrupt interrupt = {};                     ///< polled before each call
  std::function<void()> on_sample = {};         ///< called after each call of the source
  std::string command_options = {};             ///< end of the records' command

  /// Declares the options, except the seed and those that follow it.
  void declare(OptionList& options);
};

/// Judges an operator that is not trusted: is it right, and how fast is it. `source` is compiled
/// (`build_operators`) and runs in a confined process of its own, which knows neither the expected
/// answers, nor the seed, nor the clock. The case's operator is the one of its name in the source,
/// in any domain; it is judged by the reference's definition. In a source in Python (.py) it is the
/// function of that name, MatMul(inputs, outputs), which writes into NumPy arrays; MatMul_backward
/// for the gradients.
///
///     judge_source("matmul.cpp", expand_case("MatMul {n}x{n} {n}x{n} for n=63,64,65"));
///
/// Every call, timed or not, has inputs that were never seen, at drawn addresses, in a drawn order
/// of the cases; its outputs are compared with those of the reference in float64, within
/// `test_forward`'s tolerance. The process is frozen between calls. A call's time ends when all its
/// threads have stopped; the shortest time of handing over to a process that does nothing is
/// subtracted. With `gradients`, `backward` is judged alike: it gets the reference's outputs, and
/// drawn output gradients.
///
/// Records for each case: "time" of the source, "time" of each framework in `against`, and the
/// interleaved "time_ratio" of the source to it. The condition "fault" names what a source did that
/// it must not do; such a record is failed. A time below the machine's floor is "impossible"
/// (`machine_peak`). docs/reference/judging.md has the faults, and what is not promised.
/// Throws: FormatError with the compiler's message; Unsupported if this system cannot confine a
/// process, for Python without NumPy, and for another kind of source; NotFound for an unknown
/// framework, and why one cannot be loaded; ValueError without cases; IoError; Interrupted while it
/// waits for processors that another judgement has. Every other error is a record.
/// Thread safety: all threads, and several processes. Each judgement has processors of its own:
/// one, and one for each thread.
[[nodiscard]] std::vector<Measurement> judge_source(const std::string& source,
                                                    const std::vector<CaseLine>& cases,
                                                    const JudgeOptions& options = {});

}  // namespace d5
