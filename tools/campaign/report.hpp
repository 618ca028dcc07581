// SPDX-License-Identifier: BSD-3-Clause
// report.hpp: what a campaign at rest found: the table of
// success rates (Pavise, Figure 12) as text, JSON and a plot.
#pragma once

#include "rest_campaign.hpp"

#include <string>
#include <vector>

namespace scute_campaign {

// Prints the tables and the sums. Returns the number of trials in which a promise was broken, after
// printing the commands that repeat the first ones.
uint64_t print_report(const settings& how, const std::vector<cell_report>& reports);

void write_json(const std::string& path, const settings& how,
                const std::vector<cell_report>& reports);
void write_plot(const std::string& path, const std::vector<cell_report>& reports);

}  // namespace scute_campaign
