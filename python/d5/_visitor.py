# SPDX-License-Identifier: Apache-2.0
"""Walks a network's nodes: the base class of translations to other frameworks."""

from __future__ import annotations

from typing import Any, Callable, Iterator

from d5._d5 import Graph, Network, Node, expect_none_untranslated
from d5._node_view import NodeView


class OperatorVisitor:
    """Calls a method for each node of a network, in the nodes' order: `visit_Conv(node)` for a Conv,
    `visit_com_example_Gelu(node)` for a Gelu of the domain com.example, or else `visit(node)`. The
    nodes of graphs within a node follow it.

    A method receives the typed view of its operator (`d5.nodes.Conv`): `node.X` and `node.Y` are names
    of tensors, `node.strides` is the attribute or its default. For a domain without schemas in d5, and
    in `visit`, it receives the `d5.Node`.

        class Dropouts(d5.OperatorVisitor):
            def visit_Dropout(self, node):
                self.network.feed(node.output, self.network.fetch(node.data))

            def visit(self, node):
                pass

        Dropouts().walk(network)

    `network` is the network that is walked.

    Without a `visit` of its own a visitor is strict: before it calls any method, `walk` raises
    Unsupported with all nodes that have none.
    """

    network: Any = None  # a Network, or a Graph
    framework = ""  # name of the target for messages; by default the class's name

    def visit(self, node: Node) -> None:
        """Called for each node without a method of its own. Raises Unsupported if not overridden."""
        expect_none_untranslated([node], self.framework or type(self).__name__)

    def walk(self, network: Network | Graph) -> None:
        """Calls the methods for all nodes, in an executable order."""
        self.network = network
        nodes = list(nodes_within(network))
        if type(self).visit is OperatorVisitor.visit:
            lacking = [node for node in nodes if not hasattr(self, method_name(node))]
            expect_none_untranslated(lacking, self.framework or type(self).__name__)
        for node in nodes:
            method: Callable[[Any], None] | None = getattr(self, method_name(node), None)
            if method is None:
                self.visit(node)
            else:
                method(view_of(node))


def view_of(node: Node) -> NodeView | Node:
    """The typed view, `d5.nodes.Conv` for a Conv; the node itself if ONNX has no schema."""
    from d5.nodes import VIEWS  # long, and only visitors need it

    made = VIEWS.get((node.domain, node.op_type))
    return node if made is None else made(node)


def method_name(node: Node) -> str:
    domain = node.domain.replace(".", "_").replace("-", "_")
    return f"visit_{domain}_{node.op_type}" if domain else f"visit_{node.op_type}"


def nodes_within(network: Network | Graph) -> Iterator[Node]:
    for node in network.nodes:
        yield node
        for graph in node.graphs.values():
            yield from nodes_within(graph)
