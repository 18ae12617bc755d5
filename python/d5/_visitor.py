# SPDX-License-Identifier: Apache-2.0
"""What walks a network's nodes: the base of a translation to another framework."""

from __future__ import annotations

from typing import Callable, Iterator

from d5._d5 import Graph, Network, Node, expect_none_untranslated


class OperatorVisitor:
    """Calls a method for each node of a network, in the nodes' order: `visit_Conv(node)` for a Conv,
    `visit_com_example_Gelu(node)` for a Gelu of the domain com.example, or else `visit(node)`. The
    nodes of graphs within a node follow it.

        class Counter(d5.OperatorVisitor):
            convolutions = 0

            def visit_Conv(self, node):
                self.convolutions += 1

            def visit(self, node):
                pass

        Counter().walk(network)

    Without a `visit` of its own a visitor is strict: `walk` raises Unsupported with all nodes that
    it has no method for, before it calls any.
    """

    framework = ""  # what is translated to, for messages; the class's name if left empty

    def visit(self, node: Node) -> None:
        expect_none_untranslated([node], self.framework or type(self).__name__)

    def walk(self, network: Network | Graph) -> None:
        nodes = list(nodes_within(network))
        if type(self).visit is OperatorVisitor.visit:
            lacking = [node for node in nodes if not hasattr(self, method_name(node))]
            expect_none_untranslated(lacking, self.framework or type(self).__name__)
        for node in nodes:
            method: Callable[[Node], None] = getattr(self, method_name(node), self.visit)
            method(node)


def method_name(node: Node) -> str:
    domain = node.domain.replace(".", "_").replace("-", "_")
    return f"visit_{domain}_{node.op_type}" if domain else f"visit_{node.op_type}"


def nodes_within(network: Network | Graph) -> Iterator[Node]:
    for node in network.nodes:
        yield node
        for graph in node.graphs.values():
            yield from nodes_within(graph)
