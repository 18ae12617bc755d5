// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/results/condition.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

/// The names behind a line's `for` in one of its cases; empty for a line without.
struct CaseSweep {
  std::string line = {};   ///< "Gemm {m}x64 64x64 for m=8": this case alone, with its names
  Conditions values = {};  ///< the names with their values here, as identities of records
};

/// One problem for one operator, as a line that runs it again.
///
/// Grammar: `[domain.]Op[@opset] input... [attribute=value]... [outputs=N] [-> output...]`, the
/// newest opset and the fewest outputs if left out. An input, or an output that is expected, is one
/// of
///
///     16x3x32x32          float32 of that shape, from the standard normal distribution; weights of
///                         recurrent layers as LibTorch initializes them, of deviation 1/sqrt(3 n)
///     float64:scalar      another type; integers are from [0, 10)
///     int64:64%1000       from [0, 1000); reals too
///     64x512~4            whole numbers from -4 to 4, whose sums of products are exact
///     int64:{2,-1}        these values; int64:1x2{2,-1} with a shape
///     -                   left out; of an output, not judged
///
/// Numbers in attributes are separated by `x`, words by commas:
/// `Conv 16x3x32x32 8x3x3x3 pads=1x1x1x1`. What is expected is given by values:
/// `Add {1,2} {3,4} -> {4,6}`.
struct OperatorCase {
  onnx::Node node;
  std::vector<Value> inputs;  ///< random ones are filled from `seed`
  std::string line;           ///< what it was parsed from
  std::uint64_t seed = 0;
  std::vector<Value> expected = {};  ///< of the outputs, none: not judged; empty: not given at all
  CaseSweep sweep = {};

  /// The line that gives the case again, and its records the same identities.
  [[nodiscard]] const std::string& full_line() const {
    return sweep.line.empty() ? line : sweep.line;
  }
};

/// Throws: FormatError with the place in the line, what was found and what was expected.
[[nodiscard]] OperatorCase parse_case(const std::string& line, std::uint64_t seed = 0);

/// A case whose inputs are not there yet: those of a long list would not fit into memory together.
struct CaseLine {
  onnx::Node node;
  std::string line;
  std::uint64_t seed = 0;
  std::string refusal = {};  ///< why a line of a file is no case, with its place; `node` is empty
  CaseSweep sweep = {};

  /// Throws: MemoryError for inputs above `memory_budget()`; FormatError with the refusal.
  [[nodiscard]] OperatorCase draw() const;
};

/// As `parse_case`, and with its errors.
[[nodiscard]] CaseLine read_case(const std::string& line, std::uint64_t seed = 0);
/// The cases that a line stands for, each a line of its own: it itself, or with names and their
/// values behind `for` every combination, the last name varying fastest:
///
///     Gemm {m}x{k} {k}x{n} for m=64,128 k=512 n=16..1024*2
///
/// A name stands in braces wherever a part of the line varies, its text is put there as it is;
/// braces around anything else are values. Values are separated by commas; `1..8` is a range of
/// integers, `0..64+16` one with a step, `16..1024*2` with a factor.
/// Throws: as `read_case`; FormatError for more than 100,000 cases.
[[nodiscard]] std::vector<CaseLine> expand_case(const std::string& line, std::uint64_t seed = 0);
/// Lines of a file, each as `expand_case` reads it; blank ones and those beginning with # are
/// skipped. A line that is no case has its `refusal`: the others can run.
/// `check` throws what a line is refused for beside its grammar.
/// Throws: IoError; FormatError for a file without any case, with its first refusal.
[[nodiscard]] std::vector<CaseLine> read_cases(
    const std::string& path, std::uint64_t seed = 0,
    const std::function<void(const CaseLine&)>& check = {});

/// The cases that `words` name: each is a line for `expand_case`, or a file of them. A case that
/// was not quoted on a command line, and so came as several words, is put together again. Throws,
/// for what `words` say; what a file says has a `refusal`:
/// FormatError, IoError; NotFound for an operator that neither ONNX nor the reference nor a
/// framework that is loaded knows; ValueError, with an example, for one without its inputs.
[[nodiscard]] std::vector<CaseLine> read_case_words(const std::vector<std::string>& words,
                                                    std::uint64_t seed = 0);

}  // namespace d5
