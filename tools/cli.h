// The command line of `pdc`: one function per command adds its options to the parser.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/driver.h"

#include <CLI/CLI.hpp>

namespace pdg {

/// Reads the command line and carries it out. Returns an exit code; prints to standard error what
/// is wrong with the usage.
int runCommandLine(int argc, const char *const *argv);

/// Adds a command to `app`; when it is the one that was typed, its exit code lands in `exitCode`.
void addRunCommand(CLI::App &app, int &exitCode);
void addBuildCommand(CLI::App &app, int &exitCode);
void addCheckCommand(CLI::App &app, int &exitCode);
void addEmitCommand(CLI::App &app, int &exitCode);
void addFormatCommand(CLI::App &app, int &exitCode);
void addDocCommand(CLI::App &app, int &exitCode);
void addExplainCommand(CLI::App &app, int &exitCode);
void addReplCommand(CLI::App &app, int &exitCode);
void addPlanCommand(CLI::App &app, int &exitCode);
void addGraphCommand(CLI::App &app, int &exitCode);

/// Adds what every command that compiles takes: the script, `--set`, `--data-dir`, `--format`.
void addProgramOptions(CLI::App &command, ProgramArguments &options);

/// Adds how a program is executed: seed, threads, in which way.
void addExecutionOptions(CLI::App &command, RunArguments &options);

/// Adds `--isa`.
void addIsaOption(CLI::App &command, std::string &isa);

/// Adds `--replicas`.
void addReplicasOption(CLI::App &command, int64_t &replicas);

/// Adds `--trainers`, `--servers`, `--mode`, `--cluster`.
void addClusterOptions(CLI::App &command, ClusterOptions &options);

/// Says that a command is nothing without a cluster, but for a module, which may have one.
void needCluster(const ProgramArguments &program, const ClusterOptions &options);

/// Splits "NAME=VALUE". Returns what is wrong, or an empty text.
std::string parseSet(const std::string &text, std::pair<std::string, std::string> &set);

/// Splits "NAME=FILE.npy", "NAME=FILE.npz:ARRAY" or "FILE.npz". Returns what is wrong, or an empty
/// text.
std::string parseFeed(const std::string &text, FeedArgument &feed);

} // namespace pdg
