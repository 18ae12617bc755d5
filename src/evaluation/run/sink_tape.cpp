// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/sink_tape.hpp"

#include <vector>

#include "d5/evaluation/accuracy/sample_answer.hpp"
#include "d5/evaluation/load/query_record.hpp"

namespace d5::detail {
namespace {

constexpr char kQueries = 'q', kAnswers = 'a', kTrace = 't';

std::vector<SampleAnswer> answers_in(ByteReader& reader) {
  std::size_t count = 0;
  reader.one(count);
  std::vector<SampleAnswer> answers(count);
  for (SampleAnswer& one : answers) {
    reader.one(one.sample);
    reader.one(one.score);
    reader.all(one.answer);
  }
  return answers;
}

}  // namespace

void SinkTape::begin(char what, const std::string& run, const std::string& piece) {
  told_.one(what);
  told_.all(run);
  told_.all(piece);
}

void SinkTape::queries(const std::string& run, const std::string& piece,
                       std::span<const QueryRecord> records) {
  begin(kQueries, run, piece);
  told_.all(records);
}

void SinkTape::answers(const std::string& run, const std::string& piece,
                       std::span<const SampleAnswer> answers) {
  begin(kAnswers, run, piece);
  told_.one(answers.size());
  for (const SampleAnswer& one : answers) {
    told_.one(one.sample);
    told_.one(one.score);
    told_.all(one.answer);
  }
}

void SinkTape::trace(const std::string& run, const std::string& piece, const Timeline& timeline) {
  begin(kTrace, run, piece);
  told_.all(to_json(timeline));
}

void SinkTape::play(EvaluationSink& sink) const {
  const std::string bytes = shared_.read();
  ByteReader reader(bytes);
  std::string run, piece, text;
  std::vector<QueryRecord> queries;
  for (char what = 0; !reader.at_end();) {
    reader.one(what);
    reader.all(run);
    reader.all(piece);
    if (what == kQueries) {
      reader.all(queries);
      sink.queries(run, piece, queries);
    } else if (what == kAnswers) {
      sink.answers(run, piece, answers_in(reader));
    } else {
      reader.all(text);
      sink.trace(run, piece, timeline_from_json(text, "trace of a process of its own"));
    }
  }
}

}  // namespace d5::detail
