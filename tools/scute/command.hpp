// SPDX-License-Identifier: BSD-3-Clause
// command.hpp: the subcommands. Each add_* puts one under its parent; when the command line chose
// it, parsing runs it. A command that succeeds in another way than exit_ok says so in `status`.
#pragma once

#include "exit_code.hpp"

#include <CLI/CLI.hpp>

namespace scute_tool {

void add_create(CLI::App& root, exit_code& status);
void add_info(CLI::App& root, exit_code& status);
void add_check(CLI::App& root, exit_code& status);
void add_engine(CLI::App& root, exit_code& status);
void add_scrub(CLI::App& root, exit_code& status);
void add_dump(CLI::App& root, exit_code& status);
void add_stats(CLI::App& root, exit_code& status);
void add_events(CLI::App& root, exit_code& status);
void add_inject(CLI::App& root, exit_code& status);

// Below the command of that name paths are those of files that a pool protects.
inline constexpr const char* shield_name = "shield";
void add_shield(CLI::App& root, exit_code& status);

void add_kv(CLI::App& root, exit_code& status);
void add_kv_put(CLI::App& kv, exit_code& status);
void add_kv_get(CLI::App& kv, exit_code& status);
void add_kv_del(CLI::App& kv, exit_code& status);
void add_kv_scan(CLI::App& kv, exit_code& status);
void add_kv_load(CLI::App& kv, exit_code& status);
void add_kv_count(CLI::App& kv, exit_code& status);

void add_pow(CLI::App& root, exit_code& status);
void add_pow_info(CLI::App& pow, exit_code& status);
void add_pow_check(CLI::App& pow, exit_code& status);
void add_pow_dump(CLI::App& pow, exit_code& status);
void add_pow_compact(CLI::App& pow, exit_code& status);
void add_pow_verify(CLI::App& pow, exit_code& status);
void add_pow_kv_put(CLI::App& kv, exit_code& status);
void add_pow_kv_get(CLI::App& kv, exit_code& status);
void add_pow_kv_del(CLI::App& kv, exit_code& status);
void add_pow_kv_scan(CLI::App& kv, exit_code& status);
void add_pow_kv_load(CLI::App& kv, exit_code& status);
void add_pow_kv_count(CLI::App& kv, exit_code& status);

void add_shield_list(CLI::App& shield, exit_code& status);
void add_shield_run(CLI::App& shield, exit_code& status);
void add_shield_audit(CLI::App& shield, exit_code& status);

void add_completion(CLI::App& root, exit_code& status);
void add_version(CLI::App& root, exit_code& status);

}  // namespace scute_tool
