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
  std::string unit = "steps";  ///< what is counted
  std::FILE* stream = stderr;
  std::optional<bool> terminal = {};   ///< whether `stream` is one; found out if not given
  std::function<double()> clock = {};  ///< seconds; the monotonic clock if not given
};

/// Says how far long work is: on a terminal in one line that is rewritten and at last removed,
/// elsewhere in a line each ten seconds. Work that is done sooner says nothing there.
///
///     Progress progress("epoch 1", batches);
///     for (...) { step(); progress.advance(); progress.note("loss 0.31"); }
///
/// Thread safety: none; one thread reports. It never prints but in `advance`: keep it out of what
/// is measured.
class Progress {
 public:
  /// `total` 0: not known.
  explicit Progress(std::string what, std::int64_t total = 0, ProgressOptions options = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::int64_t count = 1);
  /// A piece of `steps` begins, of several alike. It leaves out those that `most_seconds` do not
  /// suffice for, so that its time tells how far it is, too.
  void begin_piece(std::int64_t steps, double most_seconds);
  /// Takes the line off the terminal until the next `advance`, for others to print there.
  void hide();
  /// Text at the end of the next lines.
  void note(std::string text) { note_ = std::move(text); }

  /// For `--quiet`, and for all ranks but the first: nobody says anything.
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
