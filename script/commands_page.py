#!/usr/bin/env python3
"""Writes docs/commands.md: the --help of every command of the program. --check only tells whether it is up to date.

    script/commands_page.py build/release/bin/bandmill [--check]
"""
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).parents[1] / "docs" / "commands.md"


def help_of(program, *command):
    done = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True)
    return re.sub(r"\n{3,}", "\n\n", done.stdout).strip()


def subcommands(text):
    listed = text.partition("Subcommands:\n")[2].partition("\n\n")[0]
    return re.findall(r"^  (\S+)", listed, re.MULTILINE)


def sections(program, *command):
    text = help_of(program, *command)
    # Indented, not fenced: commands in it are examples, of which some take hours.
    yield f"## {' '.join(['bandmill', *command])}\n\n" + re.sub(r"^(?=.)", "    ", text, flags=re.MULTILINE)
    for name in subcommands(text):
        yield from sections(program, *command, name)


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if len(sys.argv) > 1 else 2
    head = "# Commands\n\nWhat each command says with `--help`. [Run a study](studies.md) explains them.\n\n"
    page = head + "\n\n".join(sections(sys.argv[1])) + "\n"
    if "--check" in sys.argv[2:]:
        if not PAGE.exists() or PAGE.read_text() != page:
            print(f"docs/commands.md is out of date: run script/commands_page.py {sys.argv[1]}", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
