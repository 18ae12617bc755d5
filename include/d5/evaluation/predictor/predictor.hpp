// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/core/trace/event.hpp"
#include "d5/level1_network/graph/transform.hpp"

namespace d5 {

/// The local files of a model, with verified content.
struct ModelAssets {
  std::string model;    ///< name in records: "efficientnet-lite0"
  std::string network;  ///< path of its ONNX file; or a word of `open_model`
  std::map<std::string, std::string> files = {};  ///< all paths, by the assets' names
  std::vector<Artefact> artefacts = {};           ///< the files in records, with digests
};

struct PredictorOptions {
  int threads = 0;                 ///< compute threads; 0: d5's setting
  std::int64_t largest_batch = 1;  ///< largest batch that will be requested
  std::int64_t warm_up = 1;        ///< number of warm-up calls with that batch size
  /// Inputs of the warm-up calls, for networks with open sizes; empty: zeros of sizes that fit.
  ValueMap warm_up_inputs = {};
  TransformChain transforms = {};  ///< transforms of the network before it is opened
};

/// Answers batches with a model: opened with its assets, closed by its destructor. Predictors of a
/// framework are in the framework's part `PredictorRegistry`.
///
/// Thread safety: one thread at a time, not always the same; several predictors of one model may
/// run at once, as far as their framework's executors may.
class Predictor {
 public:
  virtual ~Predictor() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// All outputs by name, valid until the next call. Dimension 0 of each input and output is the
  /// sample. Throws: NotFound, ShapeError, TypeError for inputs that do not fit.
  virtual const ValueMap& predict(const ValueMap& inputs) = 0;
  /// The framework's network events, which observe nodes for a trace; null if there are none.
  [[nodiscard]] virtual EventList* events() { return nullptr; }
};

using PredictorEntry =
    Entry<std::shared_ptr<Predictor>(const ModelAssets&, const PredictorOptions&)>;
/// A framework's own predictors, which replace d5's executors: a part of `Framework`. The word
/// "mine:NAME" opens one.
class PredictorRegistry : public Registry<PredictorEntry> {
 public:
  PredictorRegistry() : Registry("predictor") {}
};
/// Predictors without a framework, which test the evaluation itself: null, sleep, caching, lying.
[[nodiscard]] Registry<PredictorEntry>& predictors();
/// The one that a word names ("sleep:seconds=0.01"); null for a word of frameworks.
[[nodiscard]] const PredictorEntry* find_predictor(const std::string& word);

/// Times of opening a predictor.
struct ColdStart {
  double open_seconds = 0;   ///< reading the model, planning, compiling
  double first_seconds = 0;  ///< the first call, which includes a framework's deferred work
};

/// The predictor that a word names: one of `predictors()` ("sleep:seconds=0.01"), a framework's
/// own, or a word of `open_executor` ("torch", "onnxruntime:session", "torch+reference"), which
/// runs the ONNX file and needs no code in the framework.
///
///     auto predictor = open_predictor("torch", assets, {.largest_batch = 8});
///     const ValueMap& outputs = predictor->predict({{"image", images}});
///
/// Throws: NotFound, Unsupported, ValueError, and what opening and warming up throw.
[[nodiscard]] std::shared_ptr<Predictor> open_predictor(const std::string& word,
                                                        const ModelAssets& assets,
                                                        const PredictorOptions& options = {},
                                                        ColdStart* cold_start = nullptr);

/// The version of the word's framework; empty if it has none.
[[nodiscard]] std::string predictor_version(const std::string& word);

}  // namespace d5
