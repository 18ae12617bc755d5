// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/level2_training/data/dataset.hpp"

namespace d5 {

/// Table of the fields with type and shape ("?" for a dimension that varies from sample to sample).
[[nodiscard]] TextTable field_table(const Dataset& dataset);

/// Frequencies of the values of the scalar integer field `field`, by value.
/// Throws: NotFound, TypeError, and what reading throws.
[[nodiscard]] TextTable class_table(const Dataset& dataset, std::string_view field);

/// Table of the first `count` samples: names, and fields in short.
[[nodiscard]] TextTable sample_table(const Dataset& dataset, std::int64_t count);

/// Writes the images among the fields of the first `count` samples to `folder` as
/// "INDEX-FIELD.png": encoded images; uint8 {height, width, 3}; and real {1 or 3, height, width},
/// scaled from black for the least value to white for the greatest. Returns the number of images.
/// Throws: IoError, Interrupted, and what reading and decoding throw.
std::int64_t write_pictures(const Dataset& dataset, std::int64_t count, const std::string& folder,
                            const Interrupt& interrupt = {});

/// Reads every sample once, in order; throws for a broken one. Returns the number of bytes.
std::int64_t read_all(const Dataset& dataset, const Interrupt& interrupt = {});

/// Size of the tensors of a batch or a sample; strings count by length.
[[nodiscard]] std::int64_t bytes_of(std::span<const Tensor> tensors);

}  // namespace d5
