// SPDX-License-Identifier: Apache-2.0
// Communication operators built against d5/abi.h.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "d5/abi.h"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/build_operators.hpp"
#include "d5/level0_ops/operator/custom_operator.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "d5/level3_distributed/graph/communication_group.hpp"
#include "d5/level3_distributed/graph/communication_operators.hpp"
#include "tests/level3_distributed/graph/ranks_batches.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using namespace d5::testing;

namespace {

/// Attribute `call` selects a call of the table; y is its result. Attribute `with` has its numbers:
/// a root, a rank, a tag or a reduction.
const char* const kCalls = R"(
#include <stdlib.h>
#include <string.h>
#include <d5/abi.h>
typedef struct { const d5_communicator* group; const char* call; int32_t with[2]; } state;
static char calls[64][32];
static int call_count;
static d5_status create(const d5_node* node, void** self, d5_error* error) {
  state* s = calloc(1, sizeof *s);
  for (size_t i = 0; i < node->attribute_count; ++i) {
    const d5_attribute* a = node->attributes + i;
    if (strcmp(a->name, "call") == 0) s->call = strcpy(calls[call_count++ % 64], a->strings[0]);
    for (size_t k = 0; strcmp(a->name, "with") == 0 && k < a->count && k < 2; ++k)
      s->with[k] = (int32_t)a->integers[k];
  }
  d5_status status = node->communicator(node, 0, &s->group, error);
  if (status != D5_OK) { free(s); return status; }
  *self = s;
  return D5_OK;
}
static void destroy(void* self) { free(self); }
static d5_status infer(const void* self, const d5_tensor* x, size_t n, d5_tensor_desc* y, size_t m,
                       d5_error* e) {
  const state* s = self;
  (void)n, (void)m, (void)e;
  y[0].dtype = x[0].dtype, y[0].rank = 1, y[0].dims[0] = x[0].dims[0];
  if (strcmp(s->call, "all_gather") == 0) y[0].dims[0] *= s->group->ranks;
  if (strcmp(s->call, "reduce_scatter") == 0) y[0].dims[0] /= s->group->ranks;
  return D5_OK;
}
static d5_status forward(void* self, const d5_call* c, d5_error* e) {
  const state* s = self;
  const d5_communicator* g = s->group;
  const d5_tensor *x = c->inputs, *y = c->outputs;
  const int next = (g->rank + 1) % g->ranks, before = (g->rank + g->ranks - 1) % g->ranks;
  d5_request *one, *other;
  d5_status status;
  if (y->dims[0] == x->dims[0]) memcpy(y->data, x->data, (size_t)x->dims[0] * sizeof(double));
  if (strcmp(s->call, "all_reduce") == 0) return g->all_reduce(g, y, s->with[0], e);
  if (strcmp(s->call, "broadcast") == 0) return g->broadcast(g, y, s->with[0], e);
  if (strcmp(s->call, "all_gather") == 0) return g->all_gather(g, x, y, e);
  if (strcmp(s->call, "reduce_scatter") == 0) return g->reduce_scatter(g, x, y, s->with[0], e);
  if (strcmp(s->call, "all_to_all") == 0) return g->all_to_all(g, x, y, e);
  if (strcmp(s->call, "barrier") == 0) return g->barrier(g, e);
  if (strcmp(s->call, "send") == 0) return g->send(g, x, s->with[0], s->with[1], e);
  if (strcmp(s->call, "nothing") == 0) {
    const d5_tensor none = {0, x->dims, x->rank, x->dtype};
    return g->all_reduce(g, &none, D5_SUM, e);
  }
  if (strcmp(s->call, "untyped") == 0) {
    const d5_tensor none = {x->data, x->dims, x->rank, 99};
    return g->all_reduce(g, &none, D5_SUM, e);
  }
  if (strcmp(s->call, "started_all_reduce") == 0) {
    status = g->start_all_reduce(g, y, s->with[0], &one, e);
    return status != D5_OK ? status : g->wait(g, one, e);
  }
  if (strcmp(s->call, "around") == 0) {
    status = g->start_receive(g, y, before, s->with[0], &one, e);
    if (status == D5_OK) status = g->start_send(g, x, next, s->with[0], &other, e);
    if (status == D5_OK) status = g->wait(g, one, e);
    return status != D5_OK ? status : g->wait(g, other, e);
  }
  if (g->rank == 0) return g->send(g, x, g->ranks - 1, 5, e);
  return g->rank == g->ranks - 1 ? g->receive(g, y, D5_ANY_RANK, 5, e) : D5_OK;
}
static const d5_operator operators[] = {
    {.domain = "test", .name = "Calls", .since_version = 1, .create = create, .destroy = destroy,
     .infer = infer, .forward = forward}};
const d5_operator_table* d5_custom_operators(void) {
  static const d5_operator_table table = {D5_ABI_VERSION, sizeof(d5_operator), 1, operators};
  return &table;
}
)";

void load_calls() {
  add_communication_operators();
  static const bool loaded = [] {
    const testing::TemporaryFolder folder;  // text by itself would be taken for C++
    const auto source = folder.path() / "calls.c";
    std::ofstream(source) << kCalls;
    load_custom_operators(build_operators(source.string(), (folder.path() / "calls.so").string()));
    return true;
  }();
  (void)loaded;
}

void load_example() {
  add_communication_operators();
  static const bool loaded = [] {
    const char* tree = std::getenv("D5_SOURCE_DIR");
    if (!tree) FAIL("D5_SOURCE_DIR is not set; run this test through ctest");
    load_custom_operators(build_operators(
        std::string(tree) + "/examples/110_communication_operator/averaged_gradient.cpp"));
    return true;
  }();
  (void)loaded;
}

using Attributes = std::map<std::string, onnx::Attribute, std::less<>>;

Network graph_of(const std::string& domain, const std::string& op_type, DType dtype,
                 Attributes attributes = {}) {
  onnx::Node node;
  node.op_type = op_type;
  node.domain = domain;
  node.opset = 1;
  node.inputs = {"x"};
  node.outputs = {"y"};
  node.attributes = std::move(attributes);
  Network network("one node");
  network.add_input("x", dtype, {"N"});
  network.splice({.nodes = {std::move(node)}});
  network.add_output("y");
  return network;
}

using Numbers = std::vector<double>;

Numbers call(const std::string& name, const Numbers& x, std::vector<std::int64_t> with = {0},
             const std::string& group = "world") {
  load_calls();
  const Network network =
      graph_of("test", "Calls", DType::float64, {{"call", name}, {"with", with}, {"group", group}});
  const auto outputs = make_executor(network)->inference({{"x", Tensor::vector(x)}});
  const auto values = outputs.at("y").tensor().span<double>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("each call of the table does what it says") {
  const double r = this_rank, n = rank_count, before = (this_rank + rank_count - 1) % rank_count;
  CHECK(call("all_reduce", {r, 1, -r}, {D5_SUM}) == Numbers{n * (n - 1) / 2, n, -n * (n - 1) / 2});
  CHECK(call("all_reduce", {r, 1, -r}, {D5_MAXIMUM}) == Numbers{n - 1, 1, 0});
  CHECK(call("all_reduce", {r, 1, -r}, {D5_MINIMUM}) == Numbers{0, 1, 1 - n});
  CHECK(call("started_all_reduce", {r, 1}, {D5_SUM}) == Numbers{n * (n - 1) / 2, n});
  CHECK(call("broadcast", {r, 7}, {last_rank}) == Numbers{n - 1, 7});
  Numbers all, rows, exchanged;
  for (int i = 0; i < rank_count; ++i) {
    all.insert(all.end(), {double(i), 10.0 * i});
    rows.push_back(100.0 * i + r);
    exchanged.push_back(100 * r + i);
  }
  CHECK(call("all_gather", {r, 10 * r}) == all);
  CHECK(call("reduce_scatter", rows, {D5_SUM}) == Numbers{100 * r * n + n * (n - 1) / 2});
  CHECK(call("all_to_all", rows) == exchanged);
  CHECK(call("barrier", {r}) == Numbers{r});
  if (rank_count > 1) {
    CHECK(call("around", {r, 2}, {3}) == Numbers{before, 2});
    CHECK(call("from the first to the last", {r}) == Numbers{this_rank == last_rank ? 0 : r});
  }
}

TEST_CASE("an operator calls the group that its node names") {
  const auto group = world()->split(this_rank % 2);
  name_communication_group("parity of operators", group);
  CHECK(call("all_reduce", {1}, {D5_SUM}, "parity of operators") == Numbers{double(group->size())});
  CHECK_THROWS_AS(call("all_reduce", {1}, {D5_SUM}, "nobody"), NotFound);
  CHECK_THROWS_WITH(call("all_reduce", {1}, {D5_SUM}, "nobody"),
                    Catch::Contains("test.Calls") && Catch::Contains("'nobody' is unknown"));
}

TEST_CASE("what a call refuses reaches who runs the network, by its type") {
  CHECK_THROWS_AS(call("broadcast", {1}, {rank_count}), ValueError);
  CHECK_THROWS_AS(call("send", {1}, {rank_count, 0}), ValueError);
  CHECK_THROWS_AS(call("send", {1}, {0, Communicator::kFirstOwnTag}), ValueError);
  CHECK_THROWS_AS(call("all_reduce", {1}, {7}), ValueError);
  CHECK_THROWS_WITH(call("nothing", {1}), Catch::Contains("no data for float64 1"));
  CHECK_THROWS_AS(call("untyped", {1}), TypeError);
}

TEST_CASE("calls of a user's operator are counted, and made in every run on constants too") {
  load_calls();
  onnx::Node node =
      graph_of("test", "Calls", DType::float64,
               {{"call", std::string("all_reduce")}, {"with", std::vector<std::int64_t>{D5_SUM}}})
          .graph()
          .nodes.front();
  Network network("constant");
  network.add_constant("x", Tensor::of<double>({2}, {1, 2}));
  network.splice({.nodes = {node}});
  network.add_output("y");
  const auto executor = make_executor(network);
  const auto count = [] { return world()->traffic().total().calls; };
  const auto before = count();
  for (int run = 0; run < 3; ++run) {
    const Tensor y = executor->inference({}).at("y").tensor();
    CHECK(y.data<double>()[1] == 2.0 * rank_count);
  }
  CHECK(count() - before == 3);
}

TEST_CASE("the example's ring sums exactly in whole numbers, forward and back") {
  load_example();
  const Network network = graph_of("example", "RingAllReduce", DType::float32);
  const auto executor = make_executor(network, {.gradients = {"x"}});
  for (const std::int64_t size : {0, 1, 2, 3, 5, 1000}) {
    CAPTURE(size);
    Tensor x = Tensor::empty(DType::float32, {size}), g = x.copy();
    for (std::int64_t i = 0; i < size; ++i) {
      x.data<float>()[i] = float(i + this_rank);
      g.data<float>()[i] = float(i * (this_rank + 1));
    }
    const auto run = executor->forward({{"x", x}}, {"y"});
    const Tensor y = run->outputs().at("y").tensor().copy();
    run->backward({{"y", g}});
    const Tensor dx = run->gradient("x");
    const float n = float(rank_count);
    bool right = true;
    for (std::int64_t i = 0; i < size; ++i) {
      right = right && y.data<float>()[i] == float(i) * n + n * (n - 1) / 2 &&
              dx.data<float>()[i] == float(i) * n * (n + 1) / 2;
    }
    CHECK(right);
  }
}

TEST_CASE("the example's operator behind each parameter trains as the transform dsgd does") {
  load_example();
  Network own = lenet(), built_in = lenet();
  (void)apply_transforms(built_in, {{"dsgd"}});
  std::vector<std::string> names;
  for (const Parameter& parameter : own.parameters()) names.push_back(parameter.name);
  for (const std::string& name : names) {
    onnx::Node node;
    node.op_type = "AveragedGradient";
    node.domain = "example";
    node.opset = 1;
    node.inputs = {name};
    node.outputs = {own.unused_name(name + ".averaged")};
    own.insert_node(name, std::move(node));
  }
  const auto by_own = momentum(own), by_built_in = momentum(built_in);
  for (int step = 0; step < 3; ++step) {
    (void)by_own->step(batch_of(step));
    (void)by_built_in->step(batch_of(step));
  }
  for (const Parameter& parameter : own.parameters()) {
    INFO(parameter.name);
    Tensor first = parameter.value.copy();
    world()->broadcast(first, 0);
    CHECK(std::memcmp(first.raw(), parameter.value.raw(), first.bytes()) == 0);
    const auto a = parameter.value.span<float>();
    const auto b = built_in.parameter(parameter.name).value.span<float>();
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      difference += std::pow(double(a[i]) - b[i], 2);
      size += std::pow(b[i], 2);
    }
    // Sums of ranks in another order: roundings of 2^-24 a step, which
    // three steps carry on.
    CHECK(std::sqrt(difference) <= 1e-5 * std::sqrt(size));
  }
}
