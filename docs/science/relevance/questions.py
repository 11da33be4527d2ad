#!/usr/bin/env python3
"""Makes questions for `cargo xtask bench relevance` from directories of HTML documentation.

usage: questions.py [--each N] NAME=DIR ... > questions.tsv

Every answer is given by the authors of the pages, never by a search engine:
  index    an entry of the manual's own index          -> the page it leads to
  name     an identifier in an index, or an element id that the text shows -> the page that defines it
  purpose  the short description of a page, without the page's own name -> the page
  heading  a heading that only one page has            -> the page
  option   "program --option" from a definition list   -> the program's page

The draw is seeded by the site's name, so the same packages give the same file.
"""
import collections
import html.parser
import os
import random
import re
import sys
import urllib.parse

VOID = set("area base br col embed hr img input link meta source track wbr".split())
HEADINGS = set("h1 h2 h3 h4".split())
INDEX = re.compile(r"(^|[-_/])(gen)?index(-[a-z0-9-]*|[-_][a-z]+)?\.html$|[-_]index\.html$|^index-of-", re.I)


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.title, self.headings, self.ids, self.links, self.terms = "", [], [], [], []
        self.meta, self.words, self.stack, self.open = "", [], [], []
        self.first = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        name = attributes.get("id") or (attributes.get("name") if tag == "a" else None)
        if name:
            self.ids.append(name)
        if tag == "meta" and attributes.get("name") == "description":
            self.meta = attributes.get("content") or ""
        if tag in HEADINGS or tag in ("title", "a", "dt", "p"):
            self.open.append((tag, attributes.get("href"), []))
        if tag in ("script", "style"):
            self.stack.append(tag)

    def handle_endtag(self, tag):
        if self.stack and self.stack[-1] == tag:
            self.stack.pop()
        for at in range(len(self.open) - 1, max(-1, len(self.open) - 6), -1):
            if self.open[at][0] == tag:
                _, href, parts = self.open.pop(at)
                text = " ".join("".join(parts).replace("\u00b6", "").replace("\u00b6", "").split())
                if tag == "title":
                    self.title = self.title or text
                elif tag in HEADINGS:
                    self.headings.append(text)
                elif tag == "dt":
                    self.terms.append(text)
                elif tag == "p":
                    self.first = self.first or (text if len(text.split()) > 4 else "")
                elif tag == "a" and href:
                    self.links.append((href, text))
                return

    def handle_data(self, data):
        if self.stack:
            return
        for _, _, parts in self.open:
            parts.append(data)
        self.words.append(data)


def pages(root):
    found = {}
    for directory, _, files in os.walk(root):
        for file in sorted(files):
            path = os.path.join(directory, file)
            if file.endswith((".html", ".htm")) and os.path.getsize(path) < 2_000_000:
                with open(path, encoding="utf-8", errors="replace") as text:
                    found[os.path.relpath(path, root)] = Page(text.read())
    return found


def is_name(text):
    return bool(re.fullmatch(r"[A-Za-z_@$][\w.:@$]*(\(\))?", text)) and bool(
        re.search(r"[_.:]|[a-z][A-Z]|\(\)", text.strip(".:"))
    )


def questions(site, root, each):
    found = pages(root)
    out = collections.defaultdict(lambda: collections.defaultdict(set))
    listing = {path for path in found if INDEX.search(os.path.basename(path)) or "toc" in path.lower()}
    # Index entries and names.
    for path in listing:
        for href, text in found[path].links:
            target, _, fragment = href.partition("#")
            if not fragment or "://" in target:
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(target or path)))
            if target not in found or target in listing:
                continue
            text = re.sub(r"\s*(\((.* )?(in|of|class|method|built-in|attribute|C |directive|role|option|module)\b.*\)|, (function|macro|struct|enum|user_function).*)$", "", text)
            text = text.strip(" ,:;\u2019'\"")
            text = re.sub(r"\(\)$|\s*\(\d\)$", "", text)
            if not 2 <= len(text) <= 60 or re.fullmatch(r"[\W\d]+|\[\d+\]|(Chapter|Section) .*|[\d.]+ .*", text):
                continue
            if text.startswith("-"):
                continue
            out["name" if is_name(text) else "index"][text].add(target)
    # Names that are ids, as Sphinx and others write them.
    for path, page in found.items():
        if path in listing:
            continue
        visible = "".join(page.words)
        for name in page.ids:
            name = re.sub(r"^(c|cpp|py|std)\.(?=\w)|^\w+:(?=[^:])", "", name)
            # Only names that readers see: not the inner names of a documentation tool.
            if name in visible and is_name(name) and 4 <= len(name) <= 60 and not name.startswith(("index-", "index.", "id", "SECTION", "section", "toc", "cmdoption", "AEN", "sec_", "sec:")):
                out["name"][name].add(path)
    # Purposes.
    for path, page in found.items():
        if path in listing:
            continue
        stem = os.path.basename(path).rsplit(".", 1)[0]
        text = page.meta if len(page.meta.split()) > 3 else ""
        manual = re.search(r"\bNAME\s+([\w.-]+)[^\n]*?\s+[-\u2013\u2014]+\s+([^\n]{12,160})", "".join(page.words)[:6000])
        erlang = re.search(r"\b(?:Module Summary|MODULE SUMMARY)\s+([^\n]{12,160})", "".join(page.words)[:6000])
        class_ = re.match(r"(?:The )?\w+ class (?:provides|is|represents|holds|contains|implements|allows) (.{12,160}?)\.", page.first)
        if manual:
            text = manual.group(2)
        elif erlang:
            text = erlang.group(1)
        elif class_:
            text = class_.group(1)
        elif re.match(r"(command|module|prop_|variable|policy)", path) and len(page.first.split()) > 4:
            text = page.first.split(". ")[0]
        text = re.sub(r"\s+", " ", text).strip(" .:")
        own = re.split(r"\W+", (stem + " " + (page.headings[0] if page.headings else "")).lower())
        words = [word for word in text.split() if re.sub(r"\W", "", word.lower()) not in own]
        if 3 <= len(words) <= 18:
            out["purpose"][re.sub(r'["-]', " ", " ".join(words[:12]))].add(path)
    # Headings that one page has.
    where = collections.defaultdict(set)
    for path, page in found.items():
        if path in listing:
            continue
        for heading in page.headings:
            heading = re.sub(r"^[\d.]+\s+", "", heading).strip(" :#")
            if 2 <= len(heading.split()) <= 10 and len(heading) <= 80:
                where[heading.lower()].add((path, heading))
    for places in where.values():
        if len({path for path, _ in places}) == 1:
            path, heading = min(places)
            out["heading"][re.sub(r'["]', " ", heading)].add(path)
    # Options of programs.
    for path, page in found.items():
        if path in listing:
            continue
        stem = re.sub(r"(\.\d)?$", "", os.path.basename(path).rsplit(".", 1)[0]).lower()
        if not re.fullmatch(r"[a-z][a-z0-9_-]{1,15}", stem):
            continue
        for term in page.terms:
            option = re.match(r"(?:-\w,? )?(--[a-z][a-z0-9-]{2,})|(-[A-Za-z])\b", term)
            if option:
                out["option"][f"{stem} {option.group(1) or option.group(2)}"].add(path)
    draw = random.Random(site)
    for kind in ("index", "name", "purpose", "heading", "option"):
        usable = sorted((text, paths) for text, paths in out[kind].items() if len(paths) <= 3)
        draw.shuffle(usable)
        for text, paths in sorted(usable[:each]):
            urls = " ".join(f"http://{site}/{urllib.parse.quote(path)}" for path in sorted(paths))
            print(kind, site, " ".join(text.split()), urls, sep="\t")


def main(arguments):
    each = 25
    if arguments[:1] == ["--each"]:
        each, arguments = int(arguments[1]), arguments[2:]
    for argument in arguments:
        name, root = argument.split("=", 1)
        questions(name, root, each)


if __name__ == "__main__":
    main(sys.argv[1:])
