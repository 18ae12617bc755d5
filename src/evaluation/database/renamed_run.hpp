// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "d5/evaluation/evaluation_sink.hpp"

namespace d5::detail {

/// Hands on all that it is told, of whichever run, as that of one id.
class RenamedRun final : public EvaluationSink {
 public:
  RenamedRun(EvaluationSink& sink, std::string id) : sink_(sink), id_(std::move(id)) {}

  void evaluation(const EvaluationRun& run) override {
    EvaluationRun renamed = run;
    renamed.id = id_;
    sink_.evaluation(renamed);
  }
  void measurements(const std::string&, const std::string& piece,
                    std::span<const Measurement> records) override {
    sink_.measurements(id_, piece, records);
  }
  void queries(const std::string&, const std::string& piece,
               std::span<const QueryRecord> records) override {
    sink_.queries(id_, piece, records);
  }
  void answers(const std::string&, const std::string& piece,
               std::span<const SampleAnswer> answers) override {
    sink_.answers(id_, piece, answers);
  }
  void trace(const std::string&, const std::string& piece, const Timeline& timeline) override {
    sink_.trace(id_, piece, timeline);
  }

 private:
  EvaluationSink& sink_;
  std::string id_;
};

}  // namespace d5::detail
