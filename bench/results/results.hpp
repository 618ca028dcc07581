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

// A table from its lines, the first of which is the head; columns but the first are flush right.
std::string render(const std::vector<std::vector<std::string>>& lines, style s);
// The rows of table3 as a table of their own: Pangolin's Table 3.
std::string footprint_table(const std::vector<row>& rows, style s);
// The rows of stamp_load as a table of their own, with the SpecPMT paper's values next to them.
std::string load_table(const std::vector<row>& rows, style s);

// Processor, memory, kernel, medium, how bytes are made durable, seed and command line: a JSON
// object.
std::string describe_machine(const options& o, int argc, char** argv);

// "64 B", "4 KiB".
std::string human_size(uint64_t bytes);
// "812 ns", "1.24 ms".
std::string human_time(double ns);

// The row of the same work with this name, or null.
const row* find_peer(const std::vector<row>& rows, const row& like, const std::string& name);

}  // namespace scute::bench
