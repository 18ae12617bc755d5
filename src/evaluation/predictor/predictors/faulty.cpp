// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "evaluation/predictor/zero_scores.hpp"

namespace d5::predictor {
namespace {

struct FaultyOptions : detail::ZeroScoresOptions {
  enum class How { crash, end, hang, memory, fail, nan, batch } how = How::fail;
  std::int64_t after = 0;
  void declare(OptionList& options) {
    options.add("how", how,
                "fault: a signal, the process's end, no answer, unlimited use of memory, an "
                "exception, NaN, "
                "a wrong batch size",
                {"crash", "end", "hang", "memory", "fail", "nan", "batch"});
    options.add("after", after, "number of calls that are answered first", {.least = 0});
    ZeroScoresOptions::declare(options);
  }
};

/// Fails in each way in which a broken predictor may.
class FaultyPredictor final : public Predictor {
 public:
  using Options = FaultyOptions;
  FaultyPredictor(const ModelAssets&, const PredictorOptions&, const Options& options)
      : options_(options), scores_(options) {}
  [[nodiscard]] std::string name() const override { return "faulty"; }
  const ValueMap& predict(const ValueMap& inputs) override {
    const ValueMap& scores = scores_.of(inputs);
    return asked_++ < options_.after ? scores : broken(scores);
  }

 private:
  const ValueMap& broken(const ValueMap& scores) {
    using enum Options::How;
    if (options_.how == crash) std::raise(SIGSEGV);
    if (options_.how == end) std::_Exit(3);
    while (options_.how == hang) std::this_thread::sleep_for(std::chrono::hours(1));
    constexpr std::size_t kBlock = std::size_t{1} << 26;
    while (options_.how == memory) {
      eaten_.push_back(std::make_unique_for_overwrite<std::byte[]>(kBlock));
    }
    if (options_.how == fail) throw ContractError("faulty: it was asked to fail");
    outputs_ = scores;
    Tensor first = outputs_.begin()->second.tensor().copy();
    if (options_.how == batch) {
      auto dims = first.shape().dims();
      first = Tensor::zeros({DType::float32, Shape{dims[0] + 1, dims[1]}});
    } else {
      std::fill_n(first.data<float>(), first.elements(), std::numeric_limits<float>::quiet_NaN());
    }
    outputs_.begin()->second = std::move(first);
    return outputs_;
  }

  Options options_;
  detail::ZeroScores scores_;
  ValueMap outputs_;
  std::int64_t asked_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> eaten_;
};

}  // namespace

void register_faulty(Registry<PredictorEntry>& registry) {
  registry.add("faulty", PredictorEntry::of<FaultyPredictor>(
                             "a faulty predictor for tests: crashes, hangs, fails or answers NaN"));
}

}  // namespace d5::predictor
