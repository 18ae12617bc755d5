# SPDX-License-Identifier: Apache-2.0
"""Common base of the typed views in d5.nodes, which are generated from ONNX's schemas."""

from __future__ import annotations

from typing import Any

from d5._d5 import Graph, Node
from d5.errors import FormatError

REQUIRED: Any = object()
"""Stands for a missing default: the node must give the value."""

_Version = tuple[int, tuple[str, ...], tuple[str, ...], dict[str, Any]]


class NodeView:
    """A node with its operator's names: inputs and outputs by their names in ONNX's documentation,
    whose values are names of tensors (`""` for one that is left out, a list for a variadic one), and
    attributes, with the defaults of the node's opset.

    If an input, an output and an attribute share a name, the input wins, then the output.
    """

    _versions: tuple[_Version, ...] = ()

    def __init__(self, node: Node) -> None:
        self.node = node
        self.name, self.op_type, self.domain, self.opset = node.name, node.op_type, node.domain, node.opset
        self.inputs, self.outputs, self.attributes = node.inputs, node.outputs, node.attributes

    @property
    def graphs(self) -> dict[str, Graph]:
        """Graphs within the node, by attribute."""
        return self.node.graphs

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "node":
            raise AttributeError(name)
        _, inputs, outputs, attributes = [one for one in self._versions if one[0] <= max(self.opset, 1)][-1]
        for names, tensors in ((inputs, self.inputs), (outputs, self.outputs)):
            if name in names:
                place = names.index(name)
                return tensors[place] if place < len(tensors) else ""
            if f"*{name}" in names:
                return tensors[names.index(f"*{name}") :]
        if name not in attributes:
            raise AttributeError(f"{self.op_type} of opset {self.opset} has no '{name}': {self!r}")
        value = self.attributes.get(name, attributes[name])
        if value is REQUIRED:
            raise FormatError(f"{self!r}: it lacks the attribute '{name}'")
        return value

    def __repr__(self) -> str:
        return repr(self.node)
