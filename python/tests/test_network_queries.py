# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import d5


def test_a_summary_tells_work_shapes_and_parameters_without_running():
    network = d5.model("lenet")
    summary = network.summarise(batch=2)
    assert summary.total.parameters == 61706
    # Two products a weight and place, and a bias, for 6 and 16 planes of 28x28 and 10x10.
    (conv,) = [part for part in summary.operators if part.name == "Conv"]
    assert conv.flop == 2 * ((2 * 25 + 1) * 6 * 28 * 28 + (2 * 150 + 1) * 16 * 10 * 10)
    assert summary.tensors["image"].shape == ("N", 1, 28, 28)
    assert summary.tensors["image"].sizes == (2, 1, 28, 28)
    assert summary.tensors["image"].dtype == "float32"
    assert [part.name for part in summary.nodes] == [node.name for node in network.nodes]
    with pytest.raises(d5.NotFound, match="did you mean N"):
        network.summarise(M=3)


def test_producers_and_consumers_are_found():
    network = d5.model("lenet")
    (output,) = network.output_names
    assert network.producer(output).op_type == "Gemm"
    assert network.producer("image") is None
    assert [node.name for node in network.consumers("image")] == ["conv1"]
    assert network.node("conv1").inputs[0] == "image"
    with pytest.raises(d5.NotFound, match="image"):
        network.producer("imag")


def test_weights_beside_the_model_load_the_same(tmp_path, random):
    network = d5.model("lenet", seed=3)
    network.save(tmp_path / "lenet.onnx", external_data=True)
    assert (tmp_path / "lenet.onnx.data").stat().st_size > 200_000
    loaded = d5.Network.load(tmp_path / "lenet.onnx")
    for parameter in network.parameters:
        assert (loaded.fetch(parameter.name).numpy() == parameter.value.numpy()).all()
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(
        str(tmp_path / "lenet.onnx"), providers=["CPUExecutionProvider"]
    )
    image = random.standard_normal((2, 1, 28, 28)).astype(np.float32)
    (name,) = network.output_names
    ours = d5.executor(network).inference({"image": image})[name].numpy()
    # float32 sums of up to 400 terms in another order
    np.testing.assert_allclose(ours, session.run([name], {"image": image})[0], rtol=1e-4, atol=1e-5)


class Names(d5.OperatorVisitor):
    def __init__(self):
        self.seen = []

    def visit_Conv(self, node):
        self.seen.append(node.name)


class Everything(Names):
    def visit(self, node):
        self.seen.append(node.op_type)


def test_a_strict_visitor_names_all_that_it_lacks_before_it_begins():
    visitor = Names()
    with pytest.raises(d5.Unsupported, match=r"Names has no translation for: Relu 'relu1', .*10 nodes"):
        visitor.walk(d5.model("lenet"))
    assert visitor.seen == []


def test_a_visitor_calls_a_method_an_operator():
    visitor = Everything()
    visitor.walk(d5.model("lenet"))
    assert visitor.seen[:4] == ["conv1", "Relu", "MaxPool", "conv2"]


def test_graphs_within_nodes_are_visited(tmp_path):
    onnx = pytest.importorskip("onnx")
    text = """
      <ir_version: 10, opset_import: ["": 20]>
      g (bool b, float[2] x) => (float[2] y) {
        y = If (b) <then_branch = t () => (float[2] p) { p = Relu (x) },
                    else_branch = e () => (float[2] q) { q = Neg (x) }>
      }"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "if.onnx")
    network = d5.Network.load(tmp_path / "if.onnx")
    visitor = Everything()
    visitor.walk(network)
    assert visitor.seen == ["If", "Neg", "Relu"]
    assert network.nodes[0].graphs["then_branch"].output_names == ["p"]

    class Recorder(d5.Event):
        seen: tuple[str, ...] = ()

        def before_nested_node(self, step):
            self.seen += (step.path,)

    recorder = Recorder()
    executor = d5.executor(network)
    executor.add_event(recorder)
    executor.inference({"b": np.array(True), "x": np.ones(2, dtype=np.float32)})
    assert recorder.seen == ("y/then_branch/p",)


def test_tables_tell_what_a_network_is_and_who_has_its_operators():
    network = d5.model("lenet")
    facts = dict(d5.facts_table(network, batch=2).rows)
    assert facts["network"] == "lenet"
    assert "61706 elements" in facts["parameters"]
    parts = d5.parts_table(network, by="operator", frameworks=["reference"])
    assert parts.columns[0] == "operator" and parts.columns[-1] == "reference"
    assert {row[-1] for row in parts.rows[:-1]} == {"yes"}
    assert len(parts) == len({node.op_type for node in network.nodes}) + 1
    assert "total" in str(parts) and parts.text("csv").startswith("operator,")
    with pytest.raises(d5.ValueError, match="expected node, layer"):
        d5.parts_table(network, by="nodes")
