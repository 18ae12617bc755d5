// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/generator_judgement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "core/results/record_estimate.hpp"
#include "core/statistics/bootstrap.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "evaluation/run/generator_predictor.hpp"

namespace d5::detail {
namespace {

/// A mean in nats with its bootstrap interval over `parts`, such as tokens or answers.
template <class T>
Measurement mean_record(const Measurement& record, const char* metric, std::span<const T> parts,
                        const std::function<double(std::span<const std::size_t>)>& mean) {
  std::vector<std::size_t> all(parts.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  Measurement one = record;
  one.metric = metric;
  one.unit = "nat";
  one.quantity = Quantity::other;
  one.direction = Direction::lower_is_better;
  one.statistic = {.of = Statistic::Of::single};
  one.samples = {mean(all)};
  set_interval(one, bootstrap_interval(parts.size(), mean));
  return one;
}

/// The first words of a text, which tell it from others.
std::string begin_of(const std::string& text) {
  constexpr std::size_t kMost = 32;
  return text.size() <= kMost ? text : text.substr(0, text.find_last_of(' ', kMost)) + " ...";
}

/// The status of a loss that differs from the reference's, which has the bound of its regrets: a
/// score that errs by e changes the logarithm of a probability by 2e at most. The mean of so many
/// losses rounds in float64, too.
void hold_against_reference(Measurement& record, double loss, const AnswerRegret& reference) {
  const double difference = std::abs(loss - reference.loss);
  const double bound = reference.bound + double(reference.tokens.size()) * reference.loss *
                                             std::numeric_limits<double>::epsilon();
  if (difference <= bound) return;
  const std::string reason =
      fmt::format("it is {:.9g}, but {:.9g} in the reference; rounding explains {:.2g}", loss,
                  reference.loss, bound);
  if (difference < kDoubtfulBounds * bound) return mistrust(record, reason);
  record.status = Status::failed;
  record.reason = reason;
}

Measurement loss_record(EvaluatedModel& model, GeneratorPredictor& generator,
                        const LossClaim& claim) {
  const std::vector<TokenId> tokens = generator.tokenizer().encode(claim.text);
  const std::vector<double> losses = generator.losses(tokens);
  const auto all = std::span(tokens);
  const AnswerRegret reference = model.judge().judge(all.first(1), all.subspan(1));
  Measurement record =
      mean_record<double>(model.record(), "loss", losses, [&](std::span<const std::size_t> some) {
        double sum = 0;
        for (const std::size_t i : some) sum += losses[i];
        return sum / double(some.size());
      });
  record.conditions["text"] = identity(begin_of(claim.text));
  record.conditions["tokens"] = finding(std::int64_t(losses.size()));
  record.conditions["claimed"] = finding(claim.loss);
  record.conditions["reference"] = finding(reference.loss);
  hold_against_reference(record, record.samples[0], reference);
  if (std::abs(reference.loss - claim.loss) <= claim.tolerance) return record;
  record.status = Status::failed;
  record.reason = fmt::format(
      "the reference has {:.9g} nats a token, but {:.9g} is claimed, with a tolerance of {} ({})",
      reference.loss, claim.loss, claim.tolerance, claim.source);
  return record;
}

/// A record of losses that nobody can measure.
Measurement no_loss(const EvaluatedModel& model, const std::string& reason) {
  Measurement record = model.record();
  record.metric = "loss";
  record.unit = "nat";
  record.status = Status::skipped;
  record.reason = reason;
  return record;
}

/// Equal answers to equal prompts are one.
std::vector<GeneratedText> different(std::vector<GeneratedText> texts) {
  std::ranges::sort(texts);
  const auto [first, last] = std::ranges::unique(texts);
  texts.erase(first, last);
  return texts;
}

/// The texts, or so many drawn of them.
std::vector<GeneratedText> drawn(const std::vector<GeneratedText>& texts, std::uint64_t seed) {
  std::vector<std::int64_t> order(texts.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  RandomStream(seed, stream_of("judged answers")).shuffle(order);
  order.resize(std::min(order.size(), kMostJudged));
  std::vector<GeneratedText> some;
  for (const std::int64_t i : order) some.push_back(texts[std::size_t(i)]);
  return some;
}

Measurement regret_record(const Measurement& record, const std::vector<AnswerRegret>& judged) {
  Measurement one =
      mean_record<AnswerRegret>(record, "regret", judged, [&](std::span<const std::size_t> some) {
        double sum = 0, tokens = 0;
        for (const std::size_t i : some) {
          for (const TokenRegret& token : judged[i].tokens) sum += token.regret;
          tokens += double(judged[i].tokens.size());
        }
        return sum / tokens;
      });
  const AnswerRegret* worst = &judged.front();
  std::array<std::int64_t, 3> counts{};
  double bound = 0;
  for (const AnswerRegret& answer : judged) {
    ++counts.at(std::size_t(answer.verdict()));
    bound = std::max(bound, answer.bound);
    if (std::pair(answer.verdict(), answer.largest()) >
        std::pair(worst->verdict(), worst->largest())) {
      worst = &answer;
    }
  }
  for (const auto verdict : {RegretVerdict::right, RegretVerdict::doubtful, RegretVerdict::wrong}) {
    one.conditions[std::string(to_string(verdict))] = finding(counts.at(std::size_t(verdict)));
  }
  one.conditions["largest"] = finding(worst->largest(), "nat");
  one.conditions["rounding explains"] = finding(bound, "nat");
  if (worst->verdict() == RegretVerdict::doubtful) mistrust(one, worst->summary());
  if (worst->verdict() == RegretVerdict::wrong) {
    one.status = Status::failed;
    one.reason = worst->summary();
  }
  return one;
}

}  // namespace

std::vector<Measurement> run_losses(EvaluatedModel& model, std::int64_t batch) {
  const auto generator = model.generating(batch);
  if (!generator) {
    return {no_loss(model, model.word() + " gives no scores, from which a loss follows")};
  }
  std::vector<Measurement> records;
  for (const LossClaim& claim : model.generator()->losses) {
    records.push_back(loss_record(model, *generator, claim));
    if (records.back().status == Status::failed && model.fault.empty()) {
      model.fault = "loss: " + records.back().reason;
    }
  }
  if (records.empty()) records.push_back(no_loss(model, "the manifest claims no loss on a text"));
  return records;
}

std::string add_regret(EvaluatedModel& model, const EvaluationManifest& manifest,
                       std::uint64_t seed, const Measurement& record,
                       std::vector<Measurement>& records) {
  if (!model.generator()) return {};
  if (!manifest.accuracy) return "its answers were not judged, as accuracy is left out";
  const auto generator = model.opened_generator();
  if (!generator) {
    return fmt::format("its answers were not judged, as {} gives no tokens", model.word());
  }
  const std::vector<GeneratedText> all = different(generator->take_answers());
  const std::vector<GeneratedText> some = drawn(all, seed);
  if (some.empty()) return "its answers were not judged, as there are none";
  std::vector<AnswerRegret> judged;
  for (const GeneratedText& text : some) {
    judged.push_back(model.judge().judge(text.prompt, text.answer));
  }
  Measurement& regret = records.emplace_back(regret_record(record, judged));
  regret.conditions["judged"] =
      finding(fmt::format("{} of {} different answers", some.size(), all.size()));
  if (regret.status == Status::passed) return {};
  return "its answers were judged " + regret.reason;
}

}  // namespace d5::detail
