"""infra/template.yaml as values."""

from pathlib import Path
from typing import Any

import yaml

from scripts.imports import ROOT

Node = dict[str, Any]


def read_template(file: Path = ROOT / "infra/template.yaml") -> Node:
    """The template in CloudFormation's long form: ``!GetAtt Table.Arn`` is ``{"Fn::GetAtt": ["Table", "Arn"]}``."""
    template: Node = yaml.load(file.read_text(), _Loader)
    return template


class _Loader(yaml.CSafeLoader):
    pass


def _function(loader: _Loader, tag: str, node: yaml.Node) -> Node:
    if isinstance(node, yaml.ScalarNode):
        text = loader.construct_scalar(node)
        return {"Fn::GetAtt": text.split(".")} if tag == "GetAtt" else {"Ref" if tag == "Ref" else f"Fn::{tag}": text}
    assert isinstance(node, yaml.SequenceNode)
    return {f"Fn::{tag}": loader.construct_sequence(node, deep=True)}


_Loader.add_multi_constructor("!", _function)
