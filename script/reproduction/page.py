"""One page of headings, sentences, tables and figures, written twice: as Markdown beside its images, and as one HTML file.

Sentences may hold `code`, **bold** and [links](target).
"""

import base64
import html
import pathlib
import re

STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #222; background: #fff; margin: 0 auto; max-width: 58rem; padding: 1rem; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc; padding-bottom: .2rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: right; vertical-align: top; }
th { border-bottom: 2px solid #888; } th.text, td.text { text-align: left; }
figure { margin: 1.5rem 0; } img { max-width: 100%; height: auto; } figcaption { color: #555; font-size: .92em; }
code { background: #f3f3f3; padding: 0 .2em; overflow-wrap: anywhere; }
@media print { body { max-width: none; font-size: 10pt; } h2 { break-after: avoid; } figure, table { break-inside: avoid; } }
"""


def _inline(text):
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r'<a href="\2">\1</a>', text)


def _slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


class Page:
    def __init__(self, title):
        self.title, self.markdown, self.html = title, [f"# {title}"], [f"<h1>{html.escape(title)}</h1>"]

    def heading(self, text):
        self.markdown.append(f"## {text}")
        self.html.append(f'<h2 id="{_slug(text)}">{_inline(text)}</h2>')

    def text(self, *paragraphs):
        for paragraph in paragraphs:
            self.markdown.append(paragraph)
            self.html.append(f"<p>{_inline(paragraph)}</p>")

    def items(self, *items):
        self.markdown.append("\n".join(f"- {item}" for item in items))
        self.html.append("<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in items) + "</ul>")

    def table(self, head, rows, text_columns=()):
        """Columns are numbers, set to the right, but for `text_columns` (their places)."""
        rows = [[str(cell) for cell in row] for row in rows]
        for row in rows:
            if len(row) != len(head):
                raise ValueError(f"a row of {len(row)} cells under a head of {len(head)}: {row}")
        align = ["---" if k in text_columns else "---:" for k in range(len(head))]
        escaped = [[cell.replace("|", "\\|") for cell in cells] for cells in (head, align, *rows)]
        lines = [f"| {' | '.join(cells)} |" for cells in escaped]
        self.markdown.append("\n".join(lines))

        def line(cells, tag):
            marked = (f'<{tag}{" class=text" if k in text_columns else ""}>{_inline(c)}</{tag}>' for k, c in enumerate(cells))
            return f"<tr>{''.join(marked)}</tr>"

        body = "".join(line(row, "td") for row in rows)
        self.html.append(f'<div class="wide"><table><thead>{line(head, "th")}</thead><tbody>{body}</tbody></table></div>')

    def figure(self, image, caption):
        """`image`: a PNG file in the folder `images` beside the page."""
        data = base64.b64encode(pathlib.Path(image).read_bytes()).decode()
        name = pathlib.Path(image).name
        alt = re.sub(r"[`*\[\]]", "", caption)
        self.markdown += [f"![{alt}](images/{name})", f"*{caption}*"]
        self.html.append(
            f'<figure><img alt="{html.escape(alt)}" src="data:image/png;base64,{data}">'
            f"<figcaption>{_inline(caption)}</figcaption></figure>"
        )

    def write(self, folder):
        folder = pathlib.Path(folder)
        (folder / "index.md").write_text("\n\n".join(self.markdown) + "\n", encoding="utf-8")
        page = (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(self.title)}</title>'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>\n<body>\n'
        )
        (folder / "reproduction.html").write_text(page + "\n".join(self.html) + "\n</body></html>\n", encoding="utf-8")
