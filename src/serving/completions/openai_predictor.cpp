// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/completions/openai_predictor.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/entries/path_option.hpp"
#include "d5/core/errors/error.hpp"
#include "serving/client/http_call.hpp"
#include "serving/completions/openai_system.hpp"

namespace d5 {
namespace {

using detail::CompletionRequest;

struct OpenaiOptions {
  std::string address, tokenizer;
  CompletionRequest::Interface api = CompletionRequest::Interface::chat;
  std::int64_t most_tokens = CompletionRequest().most_tokens, seed = -1;
  double temperature = 0, seconds = 120;
  bool ignore_eos = false;
  enum class Cache { fresh, warm } cache = Cache::fresh;

  void declare(OptionList& options) {
    options.add("address", address,
                "http://HOST:PORT or https://HOST:PORT, and /MODEL where the server calls it "
                "otherwise; needs no 'address='");
    options.add("api", api, "interface: chat completions, or completions", {"chat", "completions"});
    options.add("most_tokens", most_tokens, "largest number of tokens of an answer", {.least = 1});
    options.add("ignore_eos", ignore_eos,
                "generate all 'most_tokens', also after the end of the text (vLLM, SGLang)");
    options.add("temperature", temperature, "temperature of sampling; 0: greedy", {.least = 0});
    options.add("seed", seed, "seed of sampling, sent to the server; -1: none", {.least = -1});
    options.add("cache", cache,
                "prompts: fresh, each begins with a nonce that no prefix cache knows; or warm, as "
                "they are",
                {"fresh", "warm"});
    options.add("tokenizer", tokenizer,
                "tokenizer.json of the model, which counts tokens once more; empty: "
                "the server's count alone",
                detail::path_text());
    options.add("seconds", seconds, "time without a byte after which an answer has failed",
                {.above = 0, .most = 86400});
  }
};

/// What a server's list of models says of one.
struct ListedModel {
  bool tells_each_usage = false;  ///< knows `continuous_usage_stats`
  bool has_byte_vocabulary = false;
};

std::string listed_text(const nlohmann::json& object, const char* name) {
  const auto place = object.find(name);
  return place != object.end() && place->is_string() ? place->get<std::string>() : std::string();
}

/// A server without a list tells nothing. Throws: CommunicationError if nothing answers; NotFound
/// if the server lists other models.
ListedModel find_listed(const std::string& base, const std::string& token,
                        const std::string& model) {
  std::vector<std::string> headers;
  if (!token.empty()) headers.push_back("Authorization: Bearer " + token);
  const auto answer = detail::call({.url = base + "/models", .headers = headers, .seconds = 30});
  if (answer.status == 0) {
    throw CommunicationError(
        fmt::format("{}: {}", printable(base), printable_message(answer.reason)));
  }
  const auto listed = nlohmann::json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  if (answer.status != 200 || !listed.is_object() || !listed.contains("data")) return {};
  std::vector<std::string> known;
  for (const auto& one : listed["data"]) {
    if (!one.is_object() || listed_text(one, "id").empty()) continue;
    known.push_back(listed_text(one, "id"));
    if (known.back() != model) continue;
    const std::string owner = listed_text(one, "owned_by");
    return {.tells_each_usage = owner == "d5" || owner == "vllm",
            .has_byte_vocabulary = listed_text(one, "vocabulary") == "bytes"};
  }
  if (known.empty()) return {};
  throw_unknown_name("model of " + base, model, known);
}

/// A server of OpenAI's interface.
class OpenaiPredictor final : public TextPredictor {
 public:
  using Options = OpenaiOptions;
  OpenaiPredictor(const ModelAssets& assets, const PredictorOptions&, const Options& options) {
    const auto [base, model] = detail::completion_address(options.address);
    // Not D5_TOKEN, which is for the server of evaluations alone: this one may be anybody's.
    const char* token = std::getenv("D5_REMOTE_TOKEN");
    system_ = {.name = "openai:" + printable(options.address),
               .base = base,
               .token = token ? token : "",
               .seconds = options.seconds,
               .request = {.interface = options.api,
                           .model = model.empty() ? assets.model : model,
                           .most_tokens = options.most_tokens,
                           .temperature = options.temperature,
                           .ignore_eos = options.ignore_eos},
               .is_fresh = options.cache == OpenaiOptions::Cache::fresh};
    if (options.seed >= 0) system_.request.seed = options.seed;
    if (!options.tokenizer.empty()) {
      system_.tokenizer = tokenizers().at("bpe").make({{"file", options.tokenizer}});
    }
    const ListedModel listed = find_listed(system_.base, system_.token, system_.request.model);
    system_.request.each_usage = listed.tells_each_usage;
    system_.has_byte_vocabulary = listed.has_byte_vocabulary;
  }
  [[nodiscard]] std::string name() const override { return system_.name; }
  [[nodiscard]] std::unique_ptr<SystemUnderTest> system(Prompts& prompts) override {
    return std::make_unique<detail::OpenaiSystem>(system_, prompts);
  }

 private:
  detail::OpenaiSystem::Options system_;
};

}  // namespace

void add_openai_predictor() {
  static std::once_flag added;
  std::call_once(added, [] {
    predictors().add("openai", PredictorEntry::of<OpenaiPredictor>(
                                   "asks a server of OpenAI's interface for text, piece by piece"));
  });
}

}  // namespace d5
