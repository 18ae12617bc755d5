// SPDX-License-Identifier: Apache-2.0
#include "evaluation/scenario/paired_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"

namespace d5::detail {

PairedSystem::PairedSystem(Side base, Side subject) : sides_{std::move(base), std::move(subject)} {
  const std::int64_t first = sides_[kBase].system.samples(),
                     second = sides_[kSubject].system.samples();
  if (first != second) {
    throw ValueError(fmt::format("{} has {} samples and {} has {}, expected the same ones",
                                 sides_[kBase].name, first, sides_[kSubject].name, second));
  }
  for (const Side& side : sides_) {
    side.system.on_complete([this](std::span<const QueryAnswer> answers) { complete(answers); },
                            [this](std::span<const QueryProgress> pieces) { progress(pieces); });
  }
}

PairedSystem::~PairedSystem() {
  for (const Side& side : sides_) side.system.on_complete({});
}

void PairedSystem::draw(std::int64_t count, std::uint64_t seed) {
  RandomStream random(seed, stream_of("samples"));
  const auto range = std::uint64_t(sides_[kBase].system.samples());
  drawn_.resize(std::size_t(count));
  for (std::int64_t& sample : drawn_) sample = std::int64_t(random.below(range));
}

std::string PairedSystem::name() const {
  return sides_[kBase].name + " and " + sides_[kSubject].name;
}

void PairedSystem::load(std::span<const std::int64_t>) {
  std::vector<std::int64_t> samples = drawn_;
  std::ranges::sort(samples);
  const auto [first, last] = std::ranges::unique(samples);
  samples.erase(first, last);
  for (const Side& side : sides_) side.system.load(samples);
}

void PairedSystem::unload() {
  for (const Side& side : sides_) side.system.unload();
}

void PairedSystem::issue(std::span<const Query> queries) {
  for (Query query : queries) {
    SystemUnderTest& system = sides_[std::size_t(query.sample % 2)].system;
    query.sample = sample_of(query.sample);
    system.issue({&query, 1});
  }
}

void PairedSystem::flush() {
  for (const Side& side : sides_) side.system.flush();
}

SystemReport PairedSystem::report() {
  SystemReport both;
  const auto add = [](std::string& words, const std::string& name, const std::string& more) {
    if (more.empty()) return;
    words += fmt::format("{}{}: {}", words.empty() ? "" : "; ", name, more);
  };
  for (const Side& side : sides_) {
    const SystemReport one = side.system.report();
    add(both.doubt, side.name, one.doubt);
    add(both.fault, side.name, one.fault);
  }
  return both;
}

}  // namespace d5::detail
