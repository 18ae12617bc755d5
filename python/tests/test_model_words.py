# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

import d5


def test_a_model_is_a_name_a_file_a_folder_or_a_case(tmp_path):
    lenet = d5.open_model("lenet", seed=3, with_loss=True, batch=64)
    assert "loss" in lenet.output_names
    folder = tmp_path / "test_lenet"
    folder.mkdir()
    lenet.save(folder / "model.onnx")
    for word in (folder, str(folder / "model.onnx")):
        again = d5.open_model(word)
        (first, *_) = lenet.parameters
        np.testing.assert_array_equal(again.fetch(first.name).numpy(), first.value.numpy())
    gemm = d5.open_model("Gemm 4x8 8x2")
    assert [node.op_type for node in gemm.nodes] == ["Gemm"]
    assert d5.models_of([str(tmp_path), "Relu {n} for n=2,3"]) == [str(folder), "Relu 2", "Relu 3"]
    with pytest.raises(d5.NotFound, match="did you mean lenet"):
        d5.open_model("lenett")


def test_transforms_are_words():
    plain = d5.open_model("resnet-18")
    folded = d5.open_model("resnet-18", transforms=["fold-batch-norm", "dead-code"])
    assert len(folded.nodes) < len(plain.nodes)
    with pytest.raises(d5.NotFound, match="did you mean dead-code"):
        d5.open_model("lenet", transforms=["dead-cod"])


def test_a_network_is_checked_and_run_in_one_call():
    (row,) = d5.check_network("lenet", batch=2)
    assert row.status == "skipped" and "judges itself" in row.reason
    rows = d5.check_network("resnet-18", transforms=["fold-batch-norm"])
    assert {row.status for row in rows} == {"passed"}
    with pytest.raises(d5.ValueError, match="by_node"):
        d5.check_network("lenet", by_node=True, backward=True)
    outputs = d5.run_network("Relu 2x2", {"input0": np.array([[-1, 2], [3, -4]], np.float32)})
    (answer,) = outputs.values()
    np.testing.assert_array_equal(answer.numpy(), [[0, 2], [3, 0]])
    with pytest.raises(d5.NotFound, match="y"):
        d5.run_network("Relu 2x2", {"y": np.zeros((2, 2), np.float32)})
