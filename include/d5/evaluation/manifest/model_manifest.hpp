// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "d5/evaluation/manifest/manifest.hpp"
#include "d5/evaluation/manifest/manifest_identity.hpp"

namespace d5 {

/// A file of a model, with its expected content.
struct ManifestAsset {
  std::string name;  ///< "efficientnet-lite0.onnx"
  /// Addresses, tried in order: https, http; in a manifest of one's own also file.
  std::vector<std::string> urls = {};
  std::int64_t bytes = 0;
  std::string sha256;
  std::string made_by = {};  ///< the command that makes it, if no address has it

  void declare(ManifestFields& fields);
};

/// One input of a model, and the preprocessing from a data set's field to it.
struct ModelInput {
  std::string name;             ///< name of the network's input
  std::string field = "image";  ///< field of the data set
  std::string modality = "image";
  std::string type = "float32";
  std::vector<std::int64_t> shape = {};  ///< shape of one sample; 0: any size
  std::int64_t batch_axis = 0;           ///< dimension of the batch; -1: none
  std::vector<EntryChoice> steps = {};   ///< steps from `sample_steps()`, in order
  /// Value of all elements, instead of a field; of a state: in the first call.
  std::optional<double> constant = {};

  void declare(ManifestFields& fields);
};

/// One output of a model.
struct ModelOutput {
  std::string name;  ///< name of the network's output
  std::string modality = "scores";
  std::string type = "float32";
  std::int64_t batch_axis = 0;  ///< dimension of the batch; -1: none

  void declare(ManifestFields& fields);
};

/// An accuracy that the model's author or another source claims.
struct AccuracyClaim {
  std::string dataset;  ///< NAME@VERSION
  std::string measure;  ///< an entry of `accuracy_measures()`
  double value = 0;
  double tolerance = 0;  ///< allowed shortfall
  std::string source;    ///< who measured it, and how

  void declare(ManifestFields& fields);
};

/// A model as it is used.
struct ModelManifest : ManifestIdentity {
  static constexpr const char* kKind = "model";
  std::string task;     ///< "image classification"
  std::string licence;  ///< SPDX expression
  std::string source = {};
  static constexpr const char* kNone = "none";
  std::string format = "onnx";  ///< `kNone`: it has no network file, its framework has the model
  /// Supported versions of frameworks, by name; other frameworks are not restricted.
  std::map<std::string, std::string> frameworks = {};
  std::vector<ManifestAsset> assets = {};  ///< the first is the network
  std::vector<ModelInput> inputs = {};
  std::vector<ModelOutput> outputs = {};
  /// Inputs of the next call, by the output that gives them; zeros at the start of each sample.
  std::map<std::string, std::string> state = {};
  /// Steps from `answer_steps()`, which turn outputs into an answer. A setting "asset:NAME" of a
  /// step is that asset: its path, if the option is one, or else its text. "network:KEY" is that
  /// text of the network's metadata. The inputs' steps have the same settings.
  std::vector<EntryChoice> answer = {};
  std::vector<AccuracyClaim> accuracy = {};

  [[nodiscard]] bool has_network() const { return format != kNone; }
  void declare(ManifestFields& fields);

 private:
  void expect_network(ManifestFields& fields) const;
  void expect_state(const std::string& output, const std::string& input,
                    ManifestFields& fields) const;
  /// Settings of steps ask for assets that are there.
  void expect_assets(const std::vector<EntryChoice>& steps, const std::string& where,
                     ManifestFields& fields) const;
};

}  // namespace d5
