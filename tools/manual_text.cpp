// The manual in the terminal.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/diagnostics.h"
#include "frontend/names.h"
#include "tools/driver_report.h"
#include "tools/manual.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace pdg {

/// The comments of the library fill 100 columns at most; here they are indented.
static constexpr size_t TextWidth = 104;

static std::string bold(const std::string &text, bool useColor) {
  return useColor ? "\033[1m" + text + "\033[0m" : text;
}

/// Every line indented; lines that are too long are broken between words.
static std::string indented(const std::string &text, size_t indent, bool wraps) {
  std::string out;
  std::string margin(indent, ' ');
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  while (!lines.empty() && lines.back().empty())
    lines.pop_back();
  for (std::string line : lines) {
    while (wraps && line.size() + indent > TextWidth) {
      size_t space = line.rfind(' ', TextWidth - indent);
      if (space == std::string::npos || space == 0)
        break;
      out += margin + line.substr(0, space) + "\n";
      line.erase(0, space + 1);
    }
    out += (line.empty() ? "" : margin + line) + "\n";
  }
  return out;
}

std::string entryText(const ManualEntry &entry, bool useColor) {
  std::string text = bold(entry.name, useColor) + "\n" + indented(entry.signature, 4, false) +
                     "\n" + indented(entry.text, 4, true);
  if (!entry.example.empty())
    text += "\n    Example:\n\n" + indented(entry.example, 8, false);
  return text;
}

std::string pageText(const ManualPage &page, bool useColor) {
  std::string text = bold(page.title, useColor) + "\n\n" + indented(page.text, 0, true);
  for (const ManualSection &section : page.sections) {
    if (!section.title.empty())
      text += "\n" + bold("== " + section.title + " ==", useColor) + "\n";
    for (const ManualEntry &entry : section.entries)
      text += "\n" + entryText(entry, useColor);
  }
  return text;
}

/// All names with the start of what is said about them.
static std::string overview(const Manual &manual, bool useColor) {
  std::string text = "`pdc doc NAME` shows a module or one of these.\n";
  for (const ManualPage &page : manual.pages) {
    text += "\n" + bold(page.title, useColor) + " (`pdc doc " + page.name + "`)\n";
    size_t width = 0;
    for (const ManualSection &section : page.sections)
      for (const ManualEntry &entry : section.entries)
        width = std::max(width, entry.name.size());
    for (const ManualSection &section : page.sections)
      for (const ManualEntry &entry : section.entries) {
        std::string sentence = firstSentence(entry.text);
        size_t room = TextWidth - std::min(TextWidth / 2, width + 4);
        if (countCodePoints(sentence) > room)
          sentence = sentence.substr(0, sentence.rfind(' ', room - 4)) + " ...";
        text +=
            "  " + entry.name + std::string(width + 2 - entry.name.size(), ' ') + sentence + "\n";
      }
  }
  return text;
}

static int unknownName(const Manual &manual, const std::string &name) {
  std::vector<std::string> names;
  for (const ManualPage &page : manual.pages) {
    names.push_back(page.name);
    for (const ManualSection &section : page.sections)
      for (const ManualEntry &entry : section.entries) {
        names.push_back(entry.name);
        names.push_back(entry.name.substr(entry.name.rfind('.') + 1));
      }
  }
  std::string near = findNearest(name, names);
  std::fprintf(stderr, "pdc doc: nothing is known about '%s'%s\n", name.c_str(),
               near.empty() ? "" : ("; did you mean '" + near + "'?").c_str());
  std::fprintf(stderr, "`pdc doc` lists all names\n");
  return ExitWrongUsage;
}

int docCommand(const std::string &name) {
  absl::StatusOr<Manual> manual = loadManual();
  if (!manual.ok())
    return reportStatus(manual.status(), ReportFormat::Text);
  bool useColor = RenderOptions::forTerminal(STDOUT_FILENO).useColor;
  std::string text = name.empty() ? overview(*manual, useColor) : "";
  for (const ManualPage &page : manual->pages)
    if (page.name == name)
      text = pageText(page, useColor);
  if (text.empty())
    for (const ManualEntry *entry : findEntries(*manual, name))
      text += (text.empty() ? "" : "\n") + entryText(*entry, useColor);
  // Readers of data have no entries; their module speaks of them.
  for (const ManualPage &page : manual->pages)
    if (text.empty() && page.text.find("`" + name + "(") != std::string::npos)
      text = pageText(page, useColor);
  if (text.empty())
    return unknownName(*manual, name);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return ExitDone;
}

} // namespace pdg
