// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace d5 {

struct ProgressOptions {
  std::string unit = "steps";  ///< unit of the count
  std::FILE* stream = stderr;
  std::optional<bool> terminal = {};   ///< whether `stream` is a terminal; detected by default
  std::function<double()> clock = {};  ///< seconds; the monotonic clock by default
};

/// Progress line of long work. On a terminal, one line that is rewritten, and removed at the end;
/// elsewhere a new line every ten seconds, and none for shorter work.
///
///     Progress progress("epoch 1", batches);
///     for (...) { step(); progress.advance(); progress.note("loss 0.31"); }
///
/// Thread safety: none; one thread reports. Prints only in `advance`: keep calls outside measured
/// code.
class Progress {
 public:
  /// `total` 0: unknown.
  explicit Progress(std::string what, std::int64_t total = 0, ProgressOptions options = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::int64_t count = 1);
  /// Begins one of several similar pieces, with `steps` steps. The piece stops after
  /// `most_seconds`, so the estimate of progress considers its time as well.
  void begin_piece(std::int64_t steps, double most_seconds);
  /// Removes the line from the terminal until the next `advance`, so that other code can print.
  void hide();
  /// Sets the text at the end of the following lines.
  void note(std::string text) { note_ = std::move(text); }

  /// Turns off all progress output, as for `--quiet` and for all ranks except the first.
  static void set_quiet(bool quiet);

 private:
  void print(double now);
  [[nodiscard]] double covered(double now) const;
  std::string what_;
  std::int64_t total_;
  ProgressOptions options_;
  bool terminal_;
  std::int64_t done_ = 0;
  double begin_, next_;
  struct Piece {
    double begin = 0, most_seconds = std::numeric_limits<double>::infinity();
    std::int64_t before = 0, steps = 0;
  };
  Piece piece_;
  bool line_is_open_ = false;
  std::string note_;
};

}  // namespace d5
