// SPDX-License-Identifier: Apache-2.0
#include "core/files/sha256.hpp"
#include "evaluation/predictor/zero_scores.hpp"

namespace d5::predictor {
namespace {

struct CachingOptions {
  std::string of = "reference";
  void declare(OptionList& options) { options.add("of", of, "predictor whose answers are cached"); }
};

/// A cheat: answers repeated inputs from a cache instead of computing them.
class CachingPredictor final : public Predictor {
 public:
  using Options = CachingOptions;
  CachingPredictor(const ModelAssets& assets, const PredictorOptions& options, const Options& own)
      : honest_(open_predictor(own.of, assets, options)) {}
  [[nodiscard]] std::string name() const override { return "caching"; }
  const ValueMap& predict(const ValueMap& inputs) override {
    detail::Sha256 digest;
    for (const auto& [name, value] : inputs) {
      const Tensor& tensor = value.tensor();
      digest.add(name).add({static_cast<const char*>(tensor.raw()), tensor.bytes()});
    }
    const auto [place, fresh] = kept_.try_emplace(digest.digest());
    if (fresh) {
      for (const auto& [name, value] : honest_->predict(inputs)) {
        place->second[name] = value.tensor().copy();
      }
    }
    return place->second;
  }

 private:
  std::shared_ptr<Predictor> honest_;
  std::map<std::string, ValueMap> kept_;
};

}  // namespace

void register_caching(Registry<PredictorEntry>& registry) {
  registry.add("caching", PredictorEntry::of<CachingPredictor>(
                              "a cheat: answers repeated inputs from a cache"));
}

}  // namespace d5::predictor
