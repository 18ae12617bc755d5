# SPDX-License-Identifier: Apache-2.0
"""Models of old opsets, and what NumPy expects of each by ONNX's text; old_opsets.py runs them.

RoiAlign and GridSample have no short formula: ONNX Runtime answers for the old model.
"""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

RANDOM = numpy.random.default_rng(0)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(numpy.float32)


def element_type(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def node(operator, inputs, outputs, **attributes):
    return helper.make_node(operator, inputs.split(" "), outputs.split(" "), **attributes)


def held(name, *nodes):
    """A graph that a node holds; its output is called as it is."""
    info = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
    return helper.make_graph(list(nodes), name, [], [info])


class Cases:
    """ONNX test folders, by name."""

    def __init__(self, folder):
        self.folder = folder

    def add(self, name, opset, nodes, inputs, outputs, constants=None):
        """`outputs` by name; without values they are what ONNX Runtime makes of the old model."""
        nodes = nodes if isinstance(nodes, list) else [nodes]
        graph = helper.make_graph(
            nodes, name,
            [helper.make_tensor_value_info(n, element_type(a), a.shape) for n, a in inputs.items()],
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs],
            [numpy_helper.from_array(a, n) for n, a in (constants or {}).items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                                  ir_version=4 if opset < 15 else 8)
        if any(value is None for value in outputs.values()):
            try:
                import onnxruntime
            except ImportError:
                return
            session = onnxruntime.InferenceSession(model.SerializeToString())
            outputs = dict(zip(outputs, session.run(None, inputs)))
        for info, value in zip(model.graph.output, map(numpy.asarray, outputs.values())):
            info.type.CopyFrom(helper.make_tensor_type_proto(element_type(value), value.shape))
        data = self.folder / f"{name}.{opset}" / "test_data_set_0"
        data.mkdir(parents=True)
        onnx.save(model, data.parent / "model.onnx")
        for kind, values in (("input", inputs), ("output", outputs)):
            for i, (n, value) in enumerate(values.items()):
                message = numpy_helper.from_array(numpy.asarray(value), n)
                (data / f"{kind}_{i}.pb").write_bytes(message.SerializeToString())


def add_broadcasting(cases):
    a, b, square = normal(4, 4, 4, 4), normal(4), normal(4, 4)
    functions = {"Add": numpy.add, "Sub": numpy.subtract, "Mul": numpy.multiply,
                 "Div": numpy.divide, "Greater": numpy.greater, "Less": numpy.less}
    # Every size is 4: an operand that lies along another axis fits, too.
    shapes = {"1": (b, (4, 1, 1)), "0": (b, (4, 1, 1, 1)), "3": (b, (4,)), "-3": (b, (4, 1, 1))}
    squares = {"1": (square, (4, 4, 1)), "2": (square, (4, 4))}
    for operator, function in functions.items():
        for axis, (operand, shape) in [*shapes.items(), *squares.items()]:
            cases.add(f"{operator}_{operand.ndim}_{axis}", 6,
                      node(operator, "a b", "y", broadcast=1, axis=int(axis)), {"a": a},
                      {"y": function(a, operand.reshape(shape))}, {"b": operand})
        cases.add(f"{operator}_last", 6, node(operator, "a b", "y", broadcast=1), {"a": a},
                  {"y": function(a, b)}, {"b": b})
    cases.add("Pow", 6, node("Pow", "a b", "y", broadcast=1, axis=1), {"a": abs(a)},
              {"y": abs(a) ** b.reshape(4, 1, 1)}, {"b": b})
    for operator, function in (("And", numpy.logical_and), ("Or", numpy.logical_or),
                               ("Xor", numpy.logical_xor)):
        cases.add(operator, 6, node(operator, "a b", "y", broadcast=1, axis=1), {"a": a > 0},
                  {"y": function(a > 0, (b > 0).reshape(4, 1, 1))}, {"b": b > 0})
    whole = (2 * a).astype(numpy.int32)
    cases.add("Equal", 6, node("Equal", "a b", "y", broadcast=1, axis=0), {"a": whole},
              {"y": whole == whole[:, 0, 0, 0].reshape(4, 1, 1, 1)},
              {"b": whole[:, 0, 0, 0].copy()})
    cases.add("consumed", 5, node("Add", "a b", "y", broadcast=1, axis=1, consumed_inputs=[0, 0]),
              {"a": a}, {"y": a + b.reshape(4, 1, 1)}, {"b": b})
    slope = {"channels": b, "one": b[:1]}
    for name, s in slope.items():
        cases.add(f"PRelu_{name}", 6, node("PRelu", "a s", "y"), {"a": a},
                  {"y": numpy.where(a < 0, a * s.reshape(-1, 1, 1), a)}, {"s": s})
    cases.add("PRelu_last", 7, node("PRelu", "a s", "y"), {"a": a},
              {"y": numpy.where(a < 0, a * b, a)}, {"s": b})
    cases.add("Gemm", 6, node("Gemm", "a b c", "y", broadcast=1, alpha=0.5, beta=2.0),
              {"a": square}, {"y": 0.5 * (square @ square) + 2 * b}, {"b": square, "c": b})
    cases.add("If_Add", 6,
              node("If", "c", "y",
                   then_branch=held("t", node("Add", "a b", "t", broadcast=1, axis=1)),
                   else_branch=held("e", node("Sub", "a b", "e", broadcast=1, axis=1))),
              {"a": a, "c": numpy.array(True)}, {"y": a + b.reshape(4, 1, 1)}, {"b": b})


def linear(x, scale, axis):
    """Between elements i and i + 1 at o / scale: pixels begin where the image begins."""
    size = x.shape[axis]
    place = numpy.arange(int(size * scale)) / scale
    low = numpy.clip(numpy.floor(place).astype(int), 0, size - 1)
    part = numpy.clip(place - low, 0, 1).reshape([-1 if d == axis else 1 for d in range(x.ndim)])
    high = numpy.clip(low + 1, 0, size - 1)
    return x.take(low, axis) * (1 - part) + x.take(high, axis) * part


def nearest(x, scale, axis):
    """The element before where the tensor grows, the one behind where it shrinks."""
    place = numpy.arange(int(x.shape[axis] * scale)) / scale
    index = (numpy.ceil(place) if scale < 1 else numpy.floor(place)).astype(int)
    return x.take(numpy.clip(index, 0, x.shape[axis] - 1), axis)


def add_resampling(cases):
    x = normal(1, 2, 4, 6)
    for mode, along in (("linear", linear), ("nearest", nearest)):
        for name, h, w in (("grows", 2, 2.5), ("shrinks", 0.5, 0.7), ("both", 2, 0.5)):
            y = along(along(x, h, 2), w, 3).astype(numpy.float32)
            scales = numpy.array([1, 1, h, w], numpy.float32)
            cases.add(f"Resize_{mode}_{name}", 10, node("Resize", "x s", "y", mode=mode), {"x": x},
                      {"y": y}, {"s": scales})
            if name != "grows":
                continue
            for opset in (9, 7):
                upsample = node("Upsample", "x s", "y", mode=mode)
                if opset == 7:
                    upsample = node("Upsample", "x", "y", mode=mode, scales=scales.tolist())
                cases.add(f"Upsample_{mode}", opset, upsample, {"x": x}, {"y": y},
                          {"s": scales} if opset == 9 else None)
    cases.add("Upsample", 6, node("Upsample", "x", "y", height_scale=2.0, width_scale=3.0),
              {"x": x}, {"y": x.repeat(2, 2).repeat(3, 3)})
    cases.add("If_Upsample", 9,
              node("If", "c", "y",
                   then_branch=held("t", node("Upsample", "x s", "t", mode="linear")),
                   else_branch=held("e", node("Upsample", "x s", "e"))),
              {"x": x, "c": numpy.array(False)}, {"y": x.repeat(2, 2).repeat(2, 3)},
              {"s": numpy.array([1, 1, 2, 2], numpy.float32)})
    y = x[..., numpy.floor((numpy.arange(15) + 0.5) / 2.5).astype(int)]
    cases.add("Resize_tf", 11,
              node("Resize", "x r s", "y", coordinate_transformation_mode="tf_half_pixel_for_nn",
                   nearest_mode="floor"), {"x": x}, {"y": y},
              {"r": numpy.zeros(0, numpy.float32), "s": numpy.array([1, 1, 1, 2.5], numpy.float32)})
    boxes = numpy.array([[0.6, 0.3, 5.1, 3.8]], numpy.float32)
    cases.add("RoiAlign", 10, node("RoiAlign", "x r b", "y", output_height=3, output_width=3,
                                   sampling_ratio=2), {"x": x}, {"y": None},
              {"r": boxes, "b": numpy.zeros(1, numpy.int64)})
    grid = RANDOM.uniform(-1, 1, (1, 3, 3, 2)).astype(numpy.float32)
    for mode in ("bilinear", "bicubic", "nearest"):
        cases.add(f"GridSample_{mode}", 16, node("GridSample", "x g", "y", mode=mode), {"x": x},
                  {"y": None}, {"g": grid})


def rows(x, axis, function):
    """Until opset 12 all axes from `axis` on are one."""
    flat = x.reshape(int(numpy.prod(x.shape[:axis])), -1)
    return function(flat).reshape(x.shape).astype(numpy.float32)


def softmax(flat):
    e = numpy.exp(flat - flat.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def hardmax(flat):
    return numpy.eye(flat.shape[1])[flat.argmax(1)]


def add_normalizations(cases):
    x = normal(2, 3, 4)
    functions = {"Softmax": softmax, "LogSoftmax": lambda f: numpy.log(softmax(f)),
                 "Hardmax": hardmax}
    for operator, function in functions.items():
        for opset, axes in ((1, (0, 1, 2)), (11, (1, -1, -2))):
            for axis in axes:
                cases.add(f"{operator}_{axis}", opset, node(operator, "x", "y", axis=axis),
                          {"x": x}, {"y": rows(x, axis % 3, function)})
        cases.add(operator, 12, node(operator, "x", "y"), {"x": x}, {"y": rows(x, 1, function)})
        cases.add(f"If_{operator}", 11,
                  node("If", "c", "y", then_branch=held("t", node(operator, "x", "t")),
                       else_branch=held("e", node(operator, "x", "e", axis=2))),
                  {"x": x, "c": numpy.array(True)}, {"y": rows(x, 1, function)})
    image = normal(2, 4, 3, 3)
    by_channel = dict(zip("sbmv", (normal(4), normal(4), normal(4), abs(normal(4)) + 0.5)))

    def batch_norm(s, b, m, v):
        def wide(t):
            return t.reshape(1, -1, 1, 1) if t.ndim == 1 else t
        return ((image - wide(m)) / numpy.sqrt(wide(v) + 1e-5) * wide(s) + wide(b)).astype("f")

    operands = "x s b m v"
    for opset, attributes in ((1, {"is_test": 1, "consumed_inputs": [0] * 5}), (6, {"is_test": 1}),
                              (6, {}), (7, {"spatial": 1}), (9, {}), (13, {})):
        cases.add(f"BatchNormalization_{len(attributes)}", opset,
                  node("BatchNormalization", operands, "y", **attributes), {"x": image},
                  {"y": batch_norm(**by_channel)}, by_channel)
    by_element = {n: abs(normal(4, 3, 3)) + 0.5 for n in "sbmv"}
    cases.add("BatchNormalization_spatial", 7,
              node("BatchNormalization", operands, "y", spatial=0), {"x": image},
              {"y": batch_norm(**by_element)}, by_element)
    mean, variance = image.mean((0, 2, 3)), image.var((0, 2, 3))
    cases.add("BatchNormalization_trains", 9,
              node("BatchNormalization", operands, "y n w mean variance", momentum=0.75),
              {"x": image},
              {"y": batch_norm(by_channel["s"], by_channel["b"], mean, variance),
               "n": 0.75 * by_channel["m"] + 0.25 * mean,
               "w": 0.75 * by_channel["v"] + 0.25 * variance}, by_channel)
    for opset, attributes in ((1, {"is_test": 1, "consumed_inputs": [0]}), (7, {}), (10, {})):
        cases.add("Dropout", opset, node("Dropout", "x", "y", ratio=0.25, **attributes), {"x": x},
                  {"y": x})
    cases.add("Dropout_mask", 7, [node("Dropout", "x", "d mask"), node("Mul", "d mask", "y")],
              {"x": x}, {"y": x})
    groups = image.reshape(2, 2, -1)
    normal_groups = ((groups - groups.mean(2, keepdims=True)) /
                     numpy.sqrt(groups.var(2, keepdims=True) + 1e-5))
    scale, bias = normal(2), normal(2)
    y = normal_groups * scale.reshape(1, 2, 1) + bias.reshape(1, 2, 1)
    cases.add("GroupNormalization", 18, node("GroupNormalization", "x s b", "y", num_groups=2),
              {"x": image}, {"y": y.reshape(image.shape).astype("f")}, {"s": scale, "b": bias})


def add_inputs(cases):
    """Attributes that became inputs."""
    x = normal(2, 3, 4)
    for name in ("float32", "float16", "float64"):
        v = (3 * x).astype(name)
        for limits in ({"min": -1.0}, {"max": 0.5}, {"min": -1.0, "max": 1.0}):
            low, high = limits.get("min", -3e38), limits.get("max", 3e38)
            y = numpy.minimum(numpy.maximum(v.astype("f8"), low), high).astype(name)
            cases.add(f"Clip_{name}_{len(limits)}{'min' in limits}", 6,
                      node("Clip", "x", "y", **limits), {"x": v}, {"y": y})
        padded = numpy.pad(v, ((0, 0), (1, 0), (0, 2)), constant_values=v.dtype.type(1.5))
        cases.add(f"Pad_{name}", 2, node("Pad", "x", "y", pads=[0, 1, 0, 0, 0, 2], value=1.5),
                  {"x": v}, {"y": padded})
    end = numpy.finfo("f").max
    far = numpy.array([numpy.inf, -numpy.inf, numpy.nan, 1e10], "f")
    cases.add("Clip_far", 6, node("Clip", "x", "y", min=0.0), {"x": far},
              {"y": numpy.clip(far, 0, end)})
    cases.add("Pad_reflect", 2, node("Pad", "x", "y", pads=[0, 0, 1, 0, 0, 2], mode="reflect"),
              {"x": x}, {"y": numpy.pad(x, ((0, 0), (0, 0), (1, 2)), mode="reflect")})
    cases.add("Pad", 1, node("Pad", "x", "y", paddings=[0, 0, 1, 0, 0, 2], value=2.0), {"x": x},
              {"y": numpy.pad(x, ((0, 0), (0, 0), (1, 2)), constant_values=2)})
    cases.add("Slice", 1, node("Slice", "x", "y", starts=[1, 0], ends=[3, -1], axes=[1, 2]),
              {"x": x}, {"y": x[:, 1:3, :-1]})
    cases.add("Slice_first", 1, node("Slice", "x", "y", starts=[0, 1], ends=[1, 9]), {"x": x},
              {"y": x[:1, 1:]})
    order = numpy.argsort(-x, 1)[:, :2]
    cases.add("TopK", 1, node("TopK", "x", "y i", k=2, axis=1), {"x": x},
              {"y": numpy.take_along_axis(x, order, 1), "i": order})
    cases.add("Reshape", 4, node("Reshape", "x", "y", shape=[0, -1], consumed_inputs=[0]), {"x": x},
              {"y": x.reshape(2, 12)})
    cases.add("Tile", 1, node("Tile", "x t a", "y"), {"x": x}, {"y": numpy.tile(x, (1, 3, 1))},
              {"t": numpy.array(3, "f"), "a": numpy.array(1, "f")})
    cases.add("Concat", 1, node("Concat", "x x", "y"), {"x": x},
              {"y": numpy.concatenate([x, x], 1)})
    cases.add("Cast", 1, node("Cast", "x", "y", to="INT32"), {"x": 5 * x},
              {"y": (5 * x).astype(numpy.int32)})
    cases.add("Cast_double", 5, node("Cast", "x", "y", to="DOUBLE"), {"x": x},
              {"y": x.astype(numpy.float64)})
    ones = normal(1, 3, 1, 2)
    cases.add("Squeeze", 1, node("Squeeze", "x", "y", axes=[0, 2]), {"x": ones},
              {"y": ones.reshape(3, 2)})
    cases.add("Squeeze_all", 11, node("Squeeze", "x", "y"), {"x": ones}, {"y": ones.squeeze()})
    cases.add("Unsqueeze", 11, node("Unsqueeze", "x", "y", axes=[-1, 0]), {"x": x},
              {"y": x[None, ..., None]})
    reductions = {"ReduceSum": numpy.sum, "ReduceMean": numpy.mean, "ReduceMax": numpy.max,
                  "ReduceMin": numpy.min, "ReduceProd": numpy.prod,
                  "ReduceL1": lambda a, **how: abs(a).sum(**how),
                  "ReduceL2": lambda a, **how: numpy.sqrt((a * a).sum(**how)),
                  "ReduceSumSquare": lambda a, **how: (a * a).sum(**how),
                  "ReduceLogSum": lambda a, **how: numpy.log(a.sum(**how)),
                  "ReduceLogSumExp": lambda a, **how: numpy.log(numpy.exp(a).sum(**how))}
    for operator, function in reductions.items():
        for name, axes, keep in (("one", [1], 1), ("two", [0, 2], 0), ("all", None, 1)):
            attributes = {"keepdims": keep} if axes is None else {"axes": axes, "keepdims": keep}
            y = function(abs(x), axis=None if axes is None else tuple(axes), keepdims=bool(keep))
            cases.add(f"{operator}_{name}", 1, node(operator, "x", "y", **attributes),
                      {"x": abs(x)}, {"y": numpy.asarray(y, "f")})
    parts = {"y": x[..., :1], "z": x[..., 1:]}
    cases.add("Split", 2, node("Split", "x", "y z", axis=2, split=[1, 3]), {"x": x}, parts)
    cases.add("Split_equal", 2, node("Split", "x", "y z", axis=2), {"x": x},
              {"y": x[..., :2], "z": x[..., 2:]})
    waves = normal(2, 5, 6, 1)
    for name, axis, attributes in (("usual", 1, {}), ("two", 2, {"axis": 2})):
        f = numpy.fft.fft(waves[..., 0], axis=axis)
        cases.add(f"DFT_{name}", 17, node("DFT", "x", "y", **attributes), {"x": waves},
                  {"y": numpy.stack([f.real, f.imag], -1).astype("f")})


def add_forms(cases):
    x, image = normal(2, 3, 4), normal(2, 4, 3, 3)
    y = 1.0507 * numpy.where(x > 0, x, 1.6732 * (numpy.exp(x) - 1))
    cases.add("Selu", 1, node("Selu", "x", "y", alpha=1.6732, gamma=1.0507, consumed_inputs=[0]),
              {"x": x}, {"y": y.astype("f")})
    cases.add("Relu", 1, node("Relu", "x", "y", consumed_inputs=[0]), {"x": x},
              {"y": numpy.maximum(x, 0)})
    windows = numpy.lib.stride_tricks.sliding_window_view(image, (2, 2), (2, 3))
    cases.add("LpPool", 1, node("LpPool", "x", "y", kernel_shape=[2, 2], p=3.0), {"x": image},
              {"y": ((abs(windows) ** 3).sum((4, 5)) ** (1 / 3)).astype("f")})
    cases.add("GlobalLpPool", 1, node("GlobalLpPool", "x", "y", p=2.0), {"x": image},
              {"y": numpy.sqrt((image * image).sum((2, 3), keepdims=True))})
    index = numpy.array([[1, 0, 3], [2, 1, 0]])
    data, updates = normal(2, 4), normal(2, 3)
    scattered = data.copy()
    numpy.put_along_axis(scattered, index, updates, 1)
    cases.add("Scatter", 9, node("Scatter", "x i u", "y", axis=1), {"x": data}, {"y": scattered},
              {"i": index, "u": updates})
    sums = helper.make_graph(
        [node("Add", "s i", "t"), node("Identity", "t", "o")], "sums",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in "si"],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in "to"])
    for batch in (1, 3):
        start, steps = normal(batch, 2), normal(batch, 4, 2)
        for name, directed, attributes in (("", steps, {}),
                                           ("_back", steps[:, ::-1], {"directions": [1]})):
            y = start[:, None] + directed.cumsum(1)
            scan = helper.make_node("Scan", ["", "s", "x"], ["y", "z"], body=sums,
                                    num_scan_inputs=1, **attributes)
            cases.add(f"Scan_{batch}{name}", 8, scan, {"s": start, "x": steps},
                      {"y": y[:, -1].copy(), "z": y})


EVERY = (add_broadcasting, add_resampling, add_normalizations, add_inputs, add_forms)
