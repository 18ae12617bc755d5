// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "d5/evaluation/load/system_under_test.hpp"
#include "d5/evaluation/predictor/predictor.hpp"

namespace d5 {

/// Prompts of a data set, by sample. Thread safety: any number of threads call `text`.
class Prompts {
 public:
  virtual ~Prompts() = default;
  [[nodiscard]] virtual std::int64_t size() const = 0;
  /// Keeps these prompts in memory, so that no measured time includes files.
  virtual void load(std::span<const std::int64_t> samples) = 0;
  virtual void unload() = 0;
  /// Throws: what reading throws.
  [[nodiscard]] virtual std::string text(std::int64_t sample) const = 0;
};

/// A predictor that answers prompts with text, piece by piece and many at a time: a server of
/// OpenAI's interface, or a generator whose times are known. Its model needs no network file
/// (`ModelManifest::format` "none").
class TextPredictor : public Predictor {
 public:
  /// The system that answers these prompts. It uses them and this predictor, which outlive it.
  [[nodiscard]] virtual std::unique_ptr<SystemUnderTest> system(Prompts& prompts) = 0;
  /// Throws: Unsupported: it takes no batches of tensors.
  const ValueMap& predict(const ValueMap& inputs) final;
};

}  // namespace d5
