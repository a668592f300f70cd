// The manual of the library, as data: what `##` comments say about blocks, and what the table of
// built-in functions says about those. `pdc doc` shows it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

namespace pdg {

/// A block, a constant or a built-in function.
struct ManualEntry {
  std::string name;      // as a script writes it: "nn.dense", "reshape"
  std::string signature; // "block dense(x: T[N, I], units: int) -> T[N, units]"
  std::string text;
  std::string example; // a script; may be empty
};

/// Entries under a heading.
struct ManualSection {
  std::string title;
  std::vector<ManualEntry> entries;
};

/// A module, or the built-in functions.
struct ManualPage {
  std::string name;  // "nn", "functions"
  std::string title; // "Module nn"
  std::string text;
  std::vector<ManualSection> sections;
};

struct Manual {
  std::vector<ManualPage> pages;
};

/// Reads the library and the tables. Fails if a file of the library cannot be read.
absl::StatusOr<Manual> loadManual();

/// The page of a file of the library with this text. Sections are headed by comments between two
/// comments of dashes. What has no `##` comment is left out.
ManualPage readModule(const std::string &name, const std::string &text);

/// The entries that `name` means: those of this name, else those whose name ends with ".name".
std::vector<const ManualEntry *> findEntries(const Manual &manual, const std::string &name);

/// The first sentence of a text, on one line.
std::string firstSentence(const std::string &text);

/// Prints what `name` is, or an overview if it is empty. Returns an exit code.
int docCommand(const std::string &name);

/// Writes the manual as HTML pages into a folder. Returns an exit code.
int docHtmlCommand(const std::string &folder);

/// One page of the site, and the page that lists all.
std::string pageHtml(const Manual &manual, const ManualPage &page);
std::string indexHtml(const Manual &manual);

/// The text of `pdc doc NAME` for a page or an entry.
std::string pageText(const ManualPage &page, bool useColor);
std::string entryText(const ManualEntry &entry, bool useColor);

} // namespace pdg
