"""`opgen generate`: write the tree.

From the stamp of a folder it knows whether there is anything to do. What that takes, `generating.py` holds:
to import it costs half of a run that does nothing.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import click

from opgen import pipeline
from opgen.cli.options import FOLDER, python_option, schema_options, shards_option
from opgen.cli.streams import print_diagnostics, say
from opgen.pipeline import Inputs


@click.command()
@schema_options
@click.option(
    "-o",
    "--output",
    required=True,
    type=FOLDER,
    help="The folder that receives the tree.",
)
@shards_option
@python_option
@click.option(
    "--depfile", type=click.Path(path_type=Path), help="Write a Makefile of what was read."
)
@click.option(
    "--output-list",
    type=click.Path(path_type=Path),
    help="Write the paths of what was made, one a line; left alone if they are the same.",
)
@click.option(
    "--list-outputs", is_flag=True, help="Print the files that would be made; write nothing."
)
@click.option(
    "--list-inputs",
    is_flag=True,
    help="Print the files that would be read, opgen's own among them; write nothing.",
)
def generate(
    inputs: Inputs,
    output: Path,
    shards: int,
    python: bool,
    depfile: Path | None,
    output_list: Path | None,
    list_outputs: bool,
    list_inputs: bool,
    report_format: str,
    deny_warnings: bool,
) -> None:
    """Write the C++ tree for YAML... into a folder.

    Touches only files whose bytes change, removes those it wrote before and no longer makes, and
    never a file that it did not write.
    """
    if list_inputs:
        importlib.import_module("opgen.cli.generating").list_inputs(inputs)
        return
    colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    told = (shards, python, report_format, deny_warnings, colour)
    request = pipeline.read_request(inputs, told)
    stamp = None if list_outputs else pipeline.find_stamp(output, request)
    if stamp is not None and stamp.is_current and depfile is None and output_list is None:
        print_diagnostics(stamp.report, report_format)
        say(f"{output}: 0 written, {stamp.unchanged} unchanged", report_format)
        return
    generating = importlib.import_module("opgen.cli.generating")
    generating.generate(
        request,
        stamp,
        output,
        shards=shards,
        python=python,
        depfile=depfile,
        output_list=output_list,
        list_outputs=list_outputs,
        report_format=report_format,
        deny_warnings=deny_warnings,
    )
