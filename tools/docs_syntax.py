"""The syntax page: the rules of grammar/Pdg.g4 in a notation for readers, with their comments."""
# SPDX-License-Identifier: Apache-2.0
import re
import textwrap

WIDTH = 96

INTRO = """# Syntax

Made from `grammar/Pdg.g4`, which the parser is generated from. What programs mean is in
[docs/language.md](../../docs/language.md).

A rule is a name, `::=` and what it stands for. Text in quotes stands for itself, `|` separates
choices, `( )` groups; `?` is at most once, `*` any number of times, `+` at least once. Names in
capitals are [tokens](#tokens). Between tokens there may be spaces and comments.
"""

PART = re.compile(r"^// -+\n// (?P<section>[^\n]*)\n// -+\n"
                  r"|^/\*\*(?P<comment>.*?)\*/\n(?P<rules>.*?)(?=^/\*\*|^// |\Z)"
                  r"|^(?P<bare>[A-Z]\w* : '.*?)(?=^/\*\*|^// |\Z)", re.S | re.M)


def rules_of(text):
    """Each rule of a piece of grammar: its name and its body, on one line or as alternatives."""
    for rule in re.finditer(r"(?:^|(?<=;)\s*|fragment )(\w+)\s*:((?:'(?:\\.|[^'])*'|\[(?:\\.|[^\]])*\]"
                            r"|[^;'\[])*);", text, re.M):
        yield rule[1], rule[2]


def readable(body):
    """A rule's body without what only ANTLR needs: labels, associativity, channels."""
    body = re.sub(r"\s+# \w+", "", body)
    body = re.sub(r"\b\w+=(?=[('])", "", body)
    body = re.sub(r"<assoc=right> ", "", body)
    body = re.sub(r"-> \w+(\(\w+\))?\s*$", "", body.rstrip())
    return body.strip()


def alternatives(body):
    """The choices between the `|` that stand outside of brackets and quotes."""
    parts, depth, start = [], 0, 0
    for token in re.finditer(r"'(?:\\.|[^'])*'|\[(?:\\.|[^\]])*\]|[()|]", body):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if token[0] == "|" and depth == 0:
            parts.append(body[start:token.start()].strip())
            start = token.end()
    return [*parts, body[start:].strip()]


def as_ebnf(name, body):
    """One rule, on lines of at most WIDTH columns; choices that need several lines get one each."""
    head = f"{name} ::="
    flat = " ".join(readable(body).split())
    if len(head) + 1 + len(flat) <= WIDTH:
        return f"{head} {flat}"
    lines = []
    for choice in alternatives(flat):
        line = f"{head} " if not lines else " " * (len(head) - 2) + " | "
        for word in re.findall(r"'(?:\\.|[^'])*'[)?*+]*|\S+", choice):
            if len(line) + len(word) > WIDTH:
                lines.append(line.rstrip())
                line = " " * (len(head) + 3)
            line += word + " "
        lines.append(line.rstrip())
    return "\n".join(lines)


def used_in(names, rules):
    """Which other rules speak of these."""
    found = [f"[{rule}](#{section.lower()})" for rule, (section, body) in rules.items()
             if rule not in names and any(re.search(rf"\b{n}\b", without_literals(body))
                                          for n in names)]
    return f"In: {', '.join(found)}.\n" if found else ""


def without_literals(body):
    return re.sub(r"'(?:\\.|[^'])*'|\[(?:\\.|[^\]])*\]", "", readable(body))


def literal_list(rules):
    """What simple tokens are: `import`, `block`, ..."""
    return ", ".join(f"`{body.strip()[1:-1]}`" for _, body in rules)


def prose(comment):
    return re.sub(r"\n +", "\n", comment).strip()


def parts_of(grammar):
    """Headings, and rules that share a comment: ("## title", None) or (comment, rules). Tokens
    without a comment come last, with None as their comment."""
    grammar = grammar.split("// Mistakes that get a message of their own")[0]
    plain = []
    for match in PART.finditer(grammar):
        if match["section"]:
            yield f"## {match['section']}", None
        elif match["bare"]:
            plain += rules_of(match["bare"])
        else:
            found = list(rules_of(re.sub(r"^//[^\n]*\n", "", match["rules"], flags=re.M)))
            is_plain = lambda r: r[0].isupper() and (r[0] == "NEWLINE" or
                                                     re.fullmatch(r"\s*'[^']+'\s*", r[1]))
            plain += [r for r in found if is_plain(r)]
            yield prose(match["comment"]), [r for r in found if not is_plain(r)]
    yield None, plain


def words_and_signs(tokens, soft):
    words = [r for r in tokens if r[1].strip("' ").isalpha()]
    keywords = [r for r in words if r[1].strip() not in soft]
    signs = [r for r in tokens if r not in words and r[0] != "NEWLINE"]
    lines = ["Keywords, which are no names: " + literal_list(keywords) + ".",
             "Keywords only where a statement expects them, else names: "
             + literal_list([r for r in words if r not in keywords]) + ".",
             "Signs: " + literal_list(signs) + "."]
    newline = [as_ebnf(*r) for r in tokens if r[0] == "NEWLINE"]
    return ("### Words, signs and line ends\n\n" + "\n\n".join(textwrap.fill(l, 100) for l in lines)
            + "\n\n```ebnf\n" + "\n".join(newline) + "\n```\n")


def syntax_page(grammar):
    """The page, from the text of the grammar."""
    parts = list(parts_of(grammar))
    rules = {name: (group[0][0], body) for _, group in parts if group for name, body in group}
    out = [INTRO]
    for comment, group in parts:
        if group is None:
            out.append(comment + "\n")
        elif comment is None:
            out.append(words_and_signs(group, rules["name"][1]))
        else:
            out.append(f"### {group[0][0]}\n\n{comment}\n")
            out.append("```ebnf\n" + "\n".join(as_ebnf(*r) for r in group) + "\n```\n")
            if mention := used_in([name for name, _ in group], rules):
                out.append(mention)
    return "\n".join(out)


def check_page(grammar):
    """What is wrong with the page: a rule that it lacks, or that nothing defines."""
    rules = {name: body for _, group in parts_of(grammar) for name, body in group or []}
    written = re.findall(r"^(\w+) *:(?!:)", re.sub(r"/\*\*.*?\*/", "", grammar, flags=re.S), re.M)
    for name in written:
        if name.islower() and name not in rules:
            yield f"grammar/Pdg.g4: the syntax page lacks the rule {name}: it needs a /** */ comment"
    for name, body in rules.items():
        for used in re.findall(r"\b[A-Za-z]\w+\b", without_literals(body)):
            if used not in rules and used != "EOF":
                yield f"grammar/Pdg.g4: {name} uses {used}, which the syntax page does not have"
