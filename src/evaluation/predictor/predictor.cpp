// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/predictor/predictor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/source/model_source.hpp"

namespace d5 {
namespace {

/// A word of `open_executor` that answers.
class ExecutorPredictor final : public Predictor {
 public:
  ExecutorPredictor(std::string word, const ModelAssets& assets, const PredictorOptions& options)
      : word_(std::move(word)) {
    Network network = open_model(assets.network, {}, options.transforms);
    executor_ = open_executor(word_, std::move(network));
    executor_->set_mode(NetworkMode::inference);
  }
  [[nodiscard]] std::string name() const override { return word_; }
  const ValueMap& predict(const ValueMap& inputs) override {
    const ValueMap& outputs = executor_->inference(inputs);
    executor_->synchronise();
    return outputs;
  }
  [[nodiscard]] EventList* events() override { return &executor_->events(); }
  [[nodiscard]] GraphExecutor& executor() { return *executor_; }

 private:
  std::string word_;
  std::shared_ptr<GraphExecutor> executor_;
};

std::string head_of(const std::string& word) { return word.substr(0, word.find(':')); }

/// A word's entry and settings. A part without "=" is the `address`, if the entry has that option:
/// "remote:grpc://localhost:8001:seconds=5".
EntryChoice choice_in(const std::string& word, const PredictorEntry& entry) {
  std::string address, words = head_of(word);
  if (!entry.has_option("address")) return entry_of_words("predictor", word);
  for (std::size_t colon = words.size(); colon < word.size();) {
    const std::size_t next = std::min(word.find(':', colon + 1), word.size());
    const std::string part = word.substr(colon + 1, next - colon - 1);
    const bool is_setting = part.find('=') != std::string::npos;
    if (is_setting) words += ":" + part;
    if (!is_setting) address += (address.empty() ? "" : ":") + part;
    colon = next;
  }
  EntryChoice choice = entry_of_words("predictor", words);
  if (!address.empty()) choice.settings.set("address", address);
  return choice;
}

std::shared_ptr<Predictor> make_predictor(const std::string& word, const ModelAssets& assets,
                                          const PredictorOptions& options) {
  if (const PredictorEntry* entry = find_predictor(word)) {
    return entry->make(assets, options, choice_in(word, *entry).settings);
  }
  const ExecutorWord runs = word;
  const std::string& first = runs.frameworks().front();
  if (first != "auto" && runs.is_own()) {
    const auto& own = framework(first).part<PredictorRegistry>();
    const EntryChoice choice = runs.own();
    if (own.find(choice.name)) return own.at(choice.name).make(assets, options, choice.settings);
  }
  return std::make_shared<ExecutorPredictor>(word, assets, options);
}

/// Inputs of the warm-up calls: the given ones, or zeros of the largest batch.
ValueMap warm_up_inputs(const ModelAssets& assets, const PredictorOptions& options) {
  if (!options.warm_up_inputs.empty()) return options.warm_up_inputs;
  const Network network = open_model(assets.network, {}, options.transforms);
  ValueMap inputs;
  for (const auto& [name, desc] : input_descs(network, {.batch = options.largest_batch})) {
    if (desc.is_static()) inputs[name] = Tensor::zeros(desc.tensor);
  }
  return inputs;
}

}  // namespace

const PredictorEntry* find_predictor(const std::string& word) {
  return predictors().find(head_of(word));
}

std::shared_ptr<Predictor> open_predictor(const std::string& word, const ModelAssets& assets,
                                          const PredictorOptions& options, ColdStart* cold_start) {
  if (options.threads > 0) set_threads(options.threads);
  const double before = now_seconds();
  auto result = make_predictor(word, assets, options);
  const double opened = now_seconds();
  if (cold_start) cold_start->open_seconds = opened - before;
  if (options.warm_up > 0 && !assets.network.empty()) {
    const ValueMap inputs = warm_up_inputs(assets, options);
    for (std::int64_t i = 0; i < options.warm_up; ++i) {
      const double begin = now_seconds();
      (void)result->predict(inputs);
      if (cold_start && i == 0) cold_start->first_seconds = now_seconds() - begin;
    }
  }
  return result;
}

std::string predictor_version(const std::string& word) {
  return find_predictor(word) ? "" : version_of(word);
}

}  // namespace d5
