// The manual as a static site: an index and one page per module.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/file.h"
#include "tools/driver_report.h"
#include "tools/manual.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <cstdio>
#include <filesystem>

namespace pdg {

static constexpr const char *style =
    "body { max-width: 50rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff;\n"
    "  font: 1rem/1.5 system-ui, sans-serif }\n"
    "nav { border-bottom: 1px solid #ccc; padding-bottom: .5rem } nav a { margin-right: 1rem }\n"
    "a { color: #06c; text-decoration: none } a:hover { text-decoration: underline }\n"
    "pre { background: #f4f4f4; padding: .6rem .8rem; overflow-x: auto }\n"
    "code, pre { font: .9rem/1.4 ui-monospace, monospace }\n"
    "h3 { margin-bottom: .3rem } p { white-space: pre-line } td { padding: .1rem 1rem .1rem 0;\n"
    "  vertical-align: top }\n"
    "@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 }\n"
    "  pre { background: #252525 } a { color: #6af } nav { border-color: #444 } }\n";

static std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text)
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
    }
  return out;
}

/// Where an entry stands: "nn.html#nn.dense"; empty if there is none.
static std::string linkTo(const Manual &manual, const std::string &name) {
  for (const ManualPage &page : manual.pages)
    for (const ManualSection &section : page.sections)
      for (const ManualEntry &entry : section.entries)
        if (entry.name == name)
          return absl::StrCat(page.name, ".html#", name);
  return "";
}

/// What stands between backticks is code, and a link if it is the name of an entry.
static std::string inlined(const Manual &manual, std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    size_t end = text[at] == '`' ? text.find('`', at + 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      out += escaped(text.substr(at, 1));
      continue;
    }
    std::string code(text.substr(at + 1, end - at - 1));
    std::string link = linkTo(manual, code);
    std::string shown = "<code>" + escaped(code) + "</code>";
    out += link.empty() ? shown : "<a href=\"" + link + "\">" + shown + "</a>";
    at = end;
  }
  return out;
}

static std::string paragraphs(const Manual &manual, const std::string &text) {
  std::string out;
  std::vector<std::string> parts = absl::StrSplit(text, "\n\n", absl::SkipWhitespace());
  for (const std::string &part : parts) {
    std::string shown = inlined(manual, part.substr(0, part.find_last_not_of('\n') + 1));
    out += "<p>" + shown + "</p>\n";
  }
  return out;
}

static std::string framed(const Manual &manual, const std::string &title, const std::string &body) {
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>" +
                    escaped(title) +
                    " - pdg</title>\n<link rel=\"stylesheet\" href=\"style.css\">\n<nav>"
                    "<a href=\"index.html\">pdg library</a>";
  for (const ManualPage &page : manual.pages)
    out += "<a href=\"" + page.name + ".html\">" + escaped(page.name) + "</a>";
  return out + "</nav>\n<h1>" + escaped(title) + "</h1>\n" + body + "</html>\n";
}

std::string pageHtml(const Manual &manual, const ManualPage &page) {
  std::string body = paragraphs(manual, page.text);
  for (const ManualSection &section : page.sections) {
    if (!section.title.empty())
      body += "<h2>" + inlined(manual, section.title) + "</h2>\n";
    for (const ManualEntry &entry : section.entries) {
      body += "<h3 id=\"" + entry.name + "\">" + escaped(entry.name) + "</h3>\n<pre>" +
              escaped(entry.signature) + "</pre>\n" + paragraphs(manual, entry.text);
      if (!entry.example.empty())
        body += "<pre>" + escaped(entry.example) + "</pre>\n";
    }
  }
  return framed(manual, page.title, body);
}

std::string indexHtml(const Manual &manual) {
  std::string body;
  for (const ManualPage &page : manual.pages) {
    body +=
        "<h2><a href=\"" + page.name + ".html\">" + escaped(page.title) + "</a></h2>\n<table>\n";
    for (const ManualSection &section : page.sections)
      for (const ManualEntry &entry : section.entries)
        body += "<tr><td><a href=\"" + page.name + ".html#" + entry.name + "\"><code>" +
                escaped(entry.name) + "</code></a><td>" +
                inlined(manual, firstSentence(entry.text)) + "\n";
    body += "</table>\n";
  }
  return framed(manual, "The library", body);
}

static absl::Status writeText(const std::string &path, const std::string &text) {
  absl::StatusOr<AtomicFile> file = AtomicFile::create(path);
  if (!file.ok())
    return file.status();
  if (absl::Status status = file->append(text); !status.ok())
    return status;
  return file->commit();
}

int docHtmlCommand(const std::string &folder) {
  absl::StatusOr<Manual> manual = loadManual();
  if (!manual.ok())
    return reportStatus(manual.status(), ReportFormat::Text);
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    return reportStatus(
        absl::ErrnoToStatus(failed.value(), absl::StrCat(folder, ": cannot be made")),
        ReportFormat::Text);
  std::vector<std::pair<std::string, std::string>> files = {{"style.css", style},
                                                            {"index.html", indexHtml(*manual)}};
  for (const ManualPage &page : manual->pages)
    files.emplace_back(page.name + ".html", pageHtml(*manual, page));
  for (const auto &[name, text] : files)
    if (absl::Status status = writeText(absl::StrCat(folder, "/", name), text); !status.ok())
      return reportStatus(status, ReportFormat::Text);
  std::printf("%s/index.html\n", folder.c_str());
  return ExitDone;
}

} // namespace pdg
