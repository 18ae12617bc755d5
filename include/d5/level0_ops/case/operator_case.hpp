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

/// Values of a line's sweep variables (after `for`) in one case; empty for a line without.
struct CaseSweep {
  std::string line = {};   ///< "Gemm {m}x64 64x64 for m=8": this case alone, with its variables
  Conditions values = {};  ///< values of the variables, as identities of records
};

/// A problem for one operator, written as one line that reproduces it.
///
/// Grammar: `[domain.]Op[@opset] input... [attribute=value]... [outputs=N] [-> output...]`, the
/// newest opset and the fewest outputs by default. An input or an expected output is one of
///
///     16x3x32x32          float32 of that shape, from the standard normal distribution; weights of
///                         recurrent layers as LibTorch initializes them, of deviation 1/sqrt(3 n)
///     float64:scalar      another type; integers are from [0, 10)
///     int64:64%1000       from [0, 1000); reals too
///     64x512~4            whole numbers from -4 to 4, whose sums of products are exact
///     int64:{2,-1}        these values; int64:1x2{2,-1} with a shape
///     -                   left out; of an output, not judged
///
/// Numbers in attributes are separated by `x`, texts by commas: `Conv 16x3x32x32 8x3x3x3
/// pads=1x1x1x1`. Expected outputs are given by values: `Add {1,2} {3,4} -> {4,6}`.
struct OperatorCase {
  onnx::Node node;
  std::vector<Value> inputs;  ///< random ones are filled from `seed`
  std::string line;           ///< the parsed line
  std::uint64_t seed = 0;
  std::vector<Value> expected = {};  ///< expected outputs; kind none: not judged; empty: none given
  CaseSweep sweep = {};

  /// The line that reproduces the case and the identities of its records.
  [[nodiscard]] const std::string& full_line() const {
    return sweep.line.empty() ? line : sweep.line;
  }
};

/// Parses a case. Throws: FormatError with the position in the line, found and expected text.
[[nodiscard]] OperatorCase parse_case(const std::string& line, std::uint64_t seed = 0);

/// A case without inputs: those of a long list would not fit into memory together.
struct CaseLine {
  onnx::Node node;
  std::string line;
  std::uint64_t seed = 0;
  /// Why a line of a file is malformed, with its position; `node` is empty.
  std::string refusal = {};
  CaseSweep sweep = {};

  /// The case with its inputs. Throws: MemoryError for inputs above `memory_budget()`; FormatError
  /// with the refusal.
  [[nodiscard]] OperatorCase draw() const;
};

/// Parses a case without making its inputs. Throws: as `parse_case`.
[[nodiscard]] CaseLine read_case(const std::string& line, std::uint64_t seed = 0);
/// Expands a line to its cases: the line itself, or after `for` every combination of the variables'
/// values, the last variable varying fastest:
///
///     Gemm {m}x{k} {k}x{n} for m=64,128 k=512 n=16..1024*2
///
/// A variable in braces is replaced by its value's text; other braces contain values. Values are
/// separated by commas; `1..8` is a range of integers, `0..64+16` one with a step, `16..1024*2`
/// with a factor.
/// Throws: as `read_case`; FormatError for more than 100,000 cases.
[[nodiscard]] std::vector<CaseLine> expand_case(const std::string& line, std::uint64_t seed = 0);
/// Expands the lines of a file by `expand_case`. Blank lines and those that begin with # are
/// skipped. A malformed line yields a `refusal`, so that the others can run. `check` may throw to
/// refuse a well-formed line.
/// Throws: IoError; FormatError for a file without any case, with its first refusal.
[[nodiscard]] std::vector<CaseLine> read_cases(
    const std::string& path, std::uint64_t seed = 0,
    const std::function<void(const CaseLine&)>& check = {});

/// The cases given by `words`: each is a line for `expand_case`, or a file of lines. A case that
/// was not quoted on a command line, and so arrived as several words, is joined.
/// Throws, for errors in `words` (errors in a file are a `refusal`): FormatError, IoError; NotFound
/// for an operator unknown to ONNX, the reference and all loaded frameworks; ValueError, with an
/// example, for an operator without its inputs.
[[nodiscard]] std::vector<CaseLine> read_case_words(const std::vector<std::string>& words,
                                                    std::uint64_t seed = 0);

}  // namespace d5
