"""Run the stages in order, from files to a registry or a tree of generated files. Each stage has a module.

`loading` parses and resolves; `generating` continues with `emit` and `templating`. A stage that finds errors is the last one:
nothing is generated if there are errors. From `emit` on, a failure is a bug in opgen.
"""
