// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>

#include "d5/level2_training/data/index_sampler.hpp"

namespace d5 {
namespace {

struct StratifiedOptions : SamplerOptions {
  std::string label = "label";
  void declare(OptionList& options) {
    SamplerOptions::declare(options);
    options.add("label", label, "field with each sample's class");
  }
};

/// A new permutation every epoch, with the dataset's class proportions in every batch. For a class
/// with n of all N samples, a batch of B holds B n / N of them, rounded up or down.
class StratifiedSampler final : public IndexSampler {
 public:
  using Options = StratifiedOptions;
  StratifiedSampler(std::shared_ptr<const Dataset> dataset, const Options& options)
      : IndexSampler(dataset, options) {
    const auto labels = dataset->labels(options.label);
    std::map<std::int64_t, std::vector<std::int64_t>> members;
    for (std::size_t i = 0; i < labels.size(); ++i) members[labels[i]].push_back(std::int64_t(i));
    for (auto& [label, samples] : members) classes_.push_back(std::move(samples));
    const std::int64_t batch = std::min(this->options().batch_size, dataset->size());
    whole_batches_ = dataset->size() / batch;
    share_of_tail(dataset->size() % batch);
    share_of_batch(batch);
  }

 private:
  /// Number of samples of each class after the whole batches: its share rounded down, plus one for
  /// the classes with the largest remainders.
  void share_of_tail(std::int64_t tail) {
    const std::int64_t all = dataset().size();
    std::vector<std::int64_t> rests;
    std::int64_t open = tail;
    for (const auto& members : classes_) {
      const std::int64_t product = tail * std::int64_t(members.size());
      in_tail_.push_back(product / all);
      rests.push_back(product % all);
      open -= in_tail_.back();
    }
    std::vector<std::size_t> order(classes_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](auto a, auto b) { return rests[a] > rests[b]; });
    for (std::int64_t i = 0; i < open; ++i) ++in_tail_[order[std::size_t(i)]];
  }
  /// Minimum number of samples of each class in every whole batch, and the number of batches with
  /// one more. After rounding, every batch has the same number of free places, and no class needs
  /// more of them than there are batches.
  void share_of_batch(std::int64_t batch) {
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const auto members = std::int64_t(classes_[c].size());
      in_batch_.push_back(batch * members / dataset().size());
      one_more_.push_back(members - in_tail_[c] - whole_batches_ * in_batch_[c]);
    }
  }

  void arrange(std::int64_t epoch, EpochOrder& order) override {
    RandomStream random = stream("stratified sampler", epoch);
    for (auto& batch : batches_) batch.clear();
    batches_.resize(std::size_t(whole_batches_) + 1);
    std::int64_t turn = 0;  // the whole batch that takes the next one more: each in its turn
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      shuffled_ = classes_[c];
      random.shuffle(shuffled_);
      auto next = shuffled_.begin();
      const auto give = [&](std::int64_t batch, std::int64_t count) {
        auto& to = batches_[std::size_t(batch)];
        to.insert(to.end(), next, next + count);
        next += count;
      };
      for (std::int64_t b = 0; b < whole_batches_; ++b) give(b, in_batch_[c]);
      for (std::int64_t i = 0; i < one_more_[c]; ++i) give(turn++ % whole_batches_, 1);
      give(whole_batches_, in_tail_[c]);
    }
    std::vector<std::int64_t> places(static_cast<std::size_t>(whole_batches_));
    std::iota(places.begin(), places.end(), std::int64_t{0});
    random.shuffle(places);
    places.push_back(whole_batches_);
    order.samples.clear();
    for (const std::int64_t place : places) {
      auto& batch = batches_[std::size_t(place)];
      random.shuffle(batch);
      order.samples.insert(order.samples.end(), batch.begin(), batch.end());
    }
  }

  std::vector<std::vector<std::int64_t>> classes_;
  std::int64_t whole_batches_ = 0;
  std::vector<std::int64_t> in_tail_, in_batch_, one_more_;  // by class
  std::vector<std::int64_t> shuffled_;
  std::vector<std::vector<std::int64_t>> batches_;  // the tail is the last
};

}  // namespace

namespace sampler {

void register_stratified(Registry<SamplerEntry>& registry) {
  registry.add("stratified", SamplerEntry::of<StratifiedSampler>(
                                 "stratified batches, with the class shares of the dataset"));
}

}  // namespace sampler
}  // namespace d5
