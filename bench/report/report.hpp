// SPDX-License-Identifier: BSD-3-Clause
// From rows to what people and programs read.
#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "row.hpp"

namespace scute::bench {

// Prints the tables and writes the files that the options ask for.
void publish(const options& o, const std::vector<row>& rows, int argc, char** argv);

// For --tiny: every expected row is there, the JSON says the same, the counters are those that the
// protocol prescribes. Prints what is wrong; returns the exit code.
int verify(const options& o, const std::vector<row>& rows);

// One JSON object per line.
std::string to_json(const std::vector<row>& rows);
std::vector<row> from_json(const std::string& text);

enum class style { text, markdown };
std::string to_tables(const std::vector<row>& rows, style s);

// Processor, kernel, memory, how bytes are flushed, seed and command line, as Markdown.
std::string describe(const options& o, int argc, char** argv);

// Writes one SVG per work and number of threads to a folder; returns the files' names.
std::vector<std::string> write_plots(const std::string& folder, const std::vector<row>& rows);

// "64 B", "4 KiB".
std::string human_size(uint64_t bytes);
// "812 ns", "1.24 ms".
std::string human_time(double ns);

// The row of the same work with this name, or null.
const row* find_peer(const std::vector<row>& rows, const row& like, const std::string& name);

}  // namespace scute::bench
