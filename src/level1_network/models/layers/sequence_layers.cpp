// SPDX-License-Identifier: Apache-2.0
#include "level1_network/models/layers/sequence_layers.hpp"

namespace d5::model {

void embed(ModelBuilder& net, const std::string& name, std::int64_t vocabulary, std::int64_t width,
           const InitialWeights& draw) {
  const std::string table = name + ".weight";
  net.parameter(table, {vocabulary, width}, {.in = vocabulary, .out = width}, draw);
  net.node("Gather", name, {table, net.current()});
}

void project(ModelBuilder& net, const std::string& name, std::int64_t in, std::int64_t out) {
  net.parameter(name + ".weight", {in, out}, {.in = in, .out = out}, net.initialization().linear);
  net.node("MatMul", name, {net.current(), name + ".weight"});
}

void linear(ModelBuilder& net, const std::string& name, std::int64_t in, std::int64_t out,
            const std::string& output) {
  project(net, name, in, out);
  net.parameter(name + ".bias", {out}, {.in = in, .out = out}, net.initialization().linear_bias);
  net.node("Add", name + ".add", {net.current(), name + ".bias"}, {}, output);
}

}  // namespace d5::model
