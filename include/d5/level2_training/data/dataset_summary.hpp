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

/// Each field, its type and shape ("?" for a dimension that every sample has its own of).
[[nodiscard]] TextTable field_table(const Dataset& dataset);

/// How often each value of the scalar integer field `field` comes, by value.
/// Throws: NotFound, TypeError, and what reading throws.
[[nodiscard]] TextTable class_table(const Dataset& dataset, std::string_view field);

/// The first `count` samples: their names, and their fields in short.
[[nodiscard]] TextTable sample_table(const Dataset& dataset, std::int64_t count);

/// Writes the images among the fields of the first `count` samples into `folder` as
/// "INDEX-FIELD.png", by their numbers: encoded ones; uint8 {height, width, 3}; and {1 or 3,
/// height, width} of numbers, from black for the least of them to white. Returns how many there
/// were. Throws: IoError, Interrupted, and what reading and decoding throw.
std::int64_t write_pictures(const Dataset& dataset, std::int64_t count, const std::string& folder,
                            const Interrupt& interrupt = {});

/// Reads every sample once, in order: what is broken throws. Returns how many bytes they hold.
std::int64_t read_all(const Dataset& dataset, const Interrupt& interrupt = {});

/// The bytes of a batch's or a sample's tensors, texts by their lengths.
[[nodiscard]] std::int64_t bytes_of(std::span<const Tensor> tensors);

}  // namespace d5
