// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <utility>

#include "d5/evaluation/database/evaluation_sink.hpp"
#include "evaluation/scenario/shared_bytes.hpp"

namespace d5::detail {

/// Records a piece's calls of its sink, for the process that it was forked from.
///
///     SinkTape tape;                      // before the fork
///     tape.queries(...); tape.save();     // there
///     tape.play(*sink);                   // here
///
/// Records are passed on in another way.
class SinkTape final : public EvaluationSink {
 public:
  void evaluation(const EvaluationRun&) override {}
  void measurements(const std::string&, const std::string&, std::span<const Measurement>) override {
  }
  void queries(const std::string& run, const std::string& piece,
               std::span<const QueryRecord> records) override;
  void answers(const std::string& run, const std::string& piece,
               std::span<const SampleAnswer> answers) override;
  void trace(const std::string& run, const std::string& piece, const Timeline& timeline) override;

  void save() { shared_.write(std::exchange(told_.bytes, {})); }
  void forget() { shared_.write({}); }
  void play(EvaluationSink& sink) const;

 private:
  void begin(char what, const std::string& run, const std::string& piece);
  ByteWriter told_;
  SharedBytes shared_;
};

}  // namespace d5::detail
