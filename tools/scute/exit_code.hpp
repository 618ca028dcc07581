// SPDX-License-Identifier: BSD-3-Clause
// exit_code.hpp: what the exit status of `scute` says. The man page and --help repeat this table.
#pragma once

#include <array>

namespace scute_tool {

enum exit_code : int {
  exit_ok = 0,
  exit_error = 1,
  exit_damaged = 2,
  exit_lost = 3,
  exit_not_found = 4,
  exit_busy = 5,
  exit_full = 6,
  exit_not_a_pool = 7,
  exit_sigint = 130,
  exit_sigterm = 143,
};

struct exit_code_text {
  exit_code code;
  const char* meaning;
};

inline constexpr std::array<exit_code_text, 10> exit_code_table{{
    {exit_ok, "success"},
    {exit_error, "wrong usage, or an error that has no number of its own"},
    {exit_damaged, "check, scrub: damage was found; the redundancy covers it"},
    {exit_lost, "data is lost: damage beyond the redundancy"},
    {exit_not_found, "kv get, kv del: there is no such key"},
    {exit_busy, "the pool is open in another process"},
    {exit_full, "the pool, or the file system under it, is full"},
    {exit_not_a_pool, "the file is no pool, is cut short, or is of another version or layout"},
    {exit_sigint, "kv load, scrub: interrupted by SIGINT; the same command continues from there"},
    {exit_sigterm, "kv load, scrub: the same by SIGTERM"},
}};

// The exit code for a SCUTE_E_* code.
exit_code exit_code_of(int scute_error) noexcept;

}  // namespace scute_tool
