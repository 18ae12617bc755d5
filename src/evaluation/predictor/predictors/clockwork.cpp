// SPDX-License-Identifier: Apache-2.0
#include "evaluation/predictor/clockwork.hpp"

#include "d5/evaluation/predictor/text_predictor.hpp"
#include "evaluation/predictor/clockwork_engine.hpp"

namespace d5::predictor {
namespace {

/// A clockwork that scenarios query.
class ClockworkSystem final : public SystemUnderTest {
 public:
  ClockworkSystem(const detail::ClockworkOptions& options, Prompts& prompts)
      : limits_{.most_tokens = options.tokens}, prompts_(prompts), engine_(options) {}

  [[nodiscard]] std::string name() const override { return engine_.name(); }
  [[nodiscard]] std::int64_t samples() const override { return prompts_.size(); }
  /// Its times depend on no prompt.
  [[nodiscard]] bool keeps_sessions() const override { return true; }
  [[nodiscard]] bool keeps_lengths() const override { return true; }
  void issue(std::span<const Query> queries) override {
    for (const Query& query : queries) {
      GenerationLimits limits = limits_;
      if (query.text) limits.most_tokens = query.text->answer_tokens;
      (void)engine_.ask({.limits = limits}, std::make_shared<Answer>(*this, query.id));
    }
  }

 private:
  class Answer final : public detail::AnswerListener {
   public:
    Answer(const ClockworkSystem& system, std::int64_t id) : system_(system), id_(id) {}
    void piece(const detail::AnswerPiece& piece) override {
      system_.progress(
          {{.id = id_, .tokens = std::int64_t(piece.tokens.size()), .kind = piece.kind}});
    }
    void end(const detail::AnswerOutcome& outcome) override {
      const std::string reason = detail::words_of(outcome.fault);
      system_.complete({{.id = id_,
                         .begun = outcome.begun,
                         .status = outcome.end ? Status::passed : Status::failed,
                         .reason = reason}});
    }

   private:
    const ClockworkSystem& system_;
    std::int64_t id_;
  };

  GenerationLimits limits_;
  Prompts& prompts_;
  detail::ClockworkEngine engine_;  ///< last: its thread uses the others
};

/// Generates text at known times: the truth that clients and metrics are held against.
class ClockworkPredictor final : public TextPredictor {
 public:
  using Options = detail::ClockworkOptions;
  ClockworkPredictor(const ModelAssets&, const PredictorOptions&, const Options& options)
      : options_(options) {}
  [[nodiscard]] std::string name() const override { return "clockwork"; }
  [[nodiscard]] std::unique_ptr<SystemUnderTest> system(Prompts& prompts) override {
    return std::make_unique<ClockworkSystem>(options_, prompts);
  }

 private:
  Options options_;
};

}  // namespace

void register_clockwork(Registry<PredictorEntry>& registry) {
  registry.add("clockwork", PredictorEntry::of<ClockworkPredictor>(
                                "generates text at known times, piece by piece"));
}

}  // namespace d5::predictor
