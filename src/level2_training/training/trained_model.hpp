// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/graph/network_mode.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "d5/level2_training/training/initial_values.hpp"
#include "d5/level2_training/training/recipe.hpp"

namespace d5::detail {

/// The model of a recipe's section "model": a built-in network, or a file with an appended loss,
/// inputs named as a batch's fields, and the mode of training.
struct TrainedModel {
  Network network;
  std::string name;  ///< subject of records
  std::string loss = {}, logits = {}, label = {};
  NetworkMode mode = NetworkMode::as_written;
  bool tells_classes = true;                       ///< otherwise accuracy means nothing
  std::vector<Artefact> artefacts = {};            ///< the file
  std::string appended = {};                       ///< loss that the network did not come with
  TakenValues taken = {};                          ///< from the file of initial values
  std::vector<Artefact> begun_with = {};           ///< the file of initial values
  std::vector<std::string> frozen = {};            ///< parameters that became constants
  std::map<std::string, std::string> inputs = {};  ///< the network's own names, by the batch's

  /// The trained network in its original form: without the appended loss, with its own names.
  [[nodiscard]] Network learnt() const;
};

/// Options of the section "model": those of any built-in network besides its own, or those of a
/// file.
[[nodiscard]] std::vector<Option> model_options(bool from_file);

/// `batch` is the training set's fields. Throws: NotFound, ValueError, and what loading throws.
[[nodiscard]] TrainedModel trained_model(const Recipe& recipe, const Dataset& data,
                                         const InitialValues& init);

}  // namespace d5::detail
