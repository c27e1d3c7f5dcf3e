"""A hook of mkdocs: the C++ and C references, made of the public headers themselves, which say what there is to say.

Every header that bandmill.hpp includes is a section: its opening comment as text, then its declarations. What is in
`namespace detail`, private members and the bodies of functions are left out.
"""

import pathlib
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).parents[1]
SOURCES = ROOT / "src"


# What public headers stand on, and users do not call.
INNER = re.compile(r"bandmill/(base/(arithmetic|macros|philox|text|where)|band/(order|partition|tables|sweeps|elimination|"
                   r"extended|pivoted|probe)|ensemble/(stepper|sums|data|scheme|schedule|check|watch|recording)|cpu/lanes|"
                   r"pde/(equation|more_equations|weno))\.hpp")


def public_headers():
    """Those that bandmill.hpp includes, in its order, each after those that it includes itself."""
    found = []

    def visit(header):
        if header in seen or not (SOURCES / header).exists():  # version.hpp is made by CMake
            return
        seen.add(header)
        for other in re.findall(r'#include "(bandmill/[\w/]+\.hpp)"', (SOURCES / header).read_text()):
            visit(other)
        if not INNER.fullmatch(header):
            found.append(header)

    seen = set()
    visit("bandmill/bandmill.hpp")
    return found[:-1]


def without_blocks(code, opening):
    """The code without the braces that begin where `opening` matches, and what is in them."""
    while match := re.search(opening, code):
        depth, end = 0, match.end() - 1
        while True:
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
            if depth == 0:
                break
        code = code[: match.start()] + code[end:].lstrip(";").lstrip("\n")
    return code


def without_bodies(code):
    """Function bodies become a semicolon; those of classes, enums and namespaces stay."""
    out, position = [], 0
    for match in re.finditer(r"\)((?: const)?(?: noexcept)?(?: requires [^{;]+?)?)(\s*:\s[^{;]*?(?:\{[^{}]*\}[^{;]*?)*)?\s*\{", code):
        if match.start() < position:
            continue
        depth, end = 0, match.end() - 1
        while True:
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
            if depth == 0:
                break
        out.append(code[position : match.start()] + ")" + match.group(1) + ";")
        position = end
    return "".join(out) + code[position:]


def section(header):
    lines = (SOURCES / header).read_text().splitlines()
    comment = []
    while lines and lines[0].startswith("//"):
        comment.append(lines.pop(0)[2:])
    code = "\n".join(line for line in lines if not line.startswith(("#", "BANDMILL_INSTANTIATE")))
    code = re.sub(r"\n} // namespace detail\n", "\n}\n", code)
    code = without_blocks(code, r"\n(?://[^\n]*\n)*namespace detail \{")
    code = without_blocks(code, r"\n    template <class T> struct Rate \{")  # arithmetic of an equation, for the kernels
    code = re.sub(r"\n+ +private:\n.*?(?=\n\};)", "", code, flags=re.DOTALL)
    code = without_bodies(code)
    code = re.sub(r"\n*namespace bandmill(::\w+)* \{\n|\n\} // namespace bandmill[^\n]*", "\n", code)
    code = re.sub(r"\n *,\n *BANDMILL_MORE_EQUATIONS\n *", "", code)  # those that a build adds
    code = re.sub(r"\n{3,}", "\n\n", code).strip()
    if not code:
        return ""
    # Lines of the comment that are set in by more than a space are formulas or code.
    text = "\n".join("    " + line[1:] if line.startswith("  ") else line.strip() for line in comment)
    text = re.sub(r"(^|\n)(?!    )([^\n]+)\n(    )", r"\1\2\n\n\3", text)
    text = re.sub(r"(\n    [^\n]*)\n(?!    |\n)", r"\1\n\n", text)
    return f"## {header}\n\n{text}\n\n```cpp\n{code}\n```\n"


def reference():
    return (
        "# C++ reference\n\nWhat `#include <bandmill/bandmill.hpp>` declares, in `namespace bandmill`, header by header. "
        "[Solve a batch](solver.md), [Step an ensemble](ensembles.md) and [Write your own equation](equations.md) show "
        "how it is used.\n\n" + "\n".join(filter(None, map(section, public_headers())))
    )


def c_reference():
    """The header as it stands, from its first declaration to its last."""
    text = (SOURCES / "bandmill/c/bandmill.h").read_text()
    comment, code = re.fullmatch(r"/\*(.*?)\*/\n(.*)", text, re.DOTALL).groups()
    code = re.search(r'extern "C" \{\n#endif\n\n(.*?)\n#ifdef __cplusplus', code, re.DOTALL)[1]
    sections = re.split(r"/\* --- (.*?) ---", code)[1:]
    parts = []
    for title, body in zip(sections[::2], sections[1::2]):
        words, rest = body.split("*/", 1)
        words = re.sub(r"\n \* ?", "\n", words).strip()
        parts.append(f"## {title}\n\n{words}\n\n```c\n{rest.strip()}\n```\n")
    head = re.sub(r"\n \* ?", "\n", comment).strip()
    return f"# C reference\n\n`#include <bandmill/c/bandmill.h>`. [From C](c.md) shows how it is used.\n\n{head}\n\n" + "\n".join(parts)


def on_files(files, config):
    files.append(File.generated(config, "reference-cpp.md", content=reference()))
    files.append(File.generated(config, "reference-c.md", content=c_reference()))
    return files


if __name__ == "__main__":
    print(reference())
