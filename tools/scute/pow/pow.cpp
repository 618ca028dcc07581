// SPDX-License-Identifier: BSD-3-Clause
// pow.cpp: scute pow: the group.
#include "command.hpp"

namespace scute_tool {

void add_pow(CLI::App& root, exit_code& status) {
  CLI::App* pow = root.add_subcommand("pow", "Look after persist-on-write files (scute::pow)");
  pow->require_subcommand(1);
  pow->footer(
      "A persist-on-write file has the objects of a program that keeps them in memory: each "
      "change\nis appended. info, check, dump and verify leave the file as it is.\n\nExamples:\n  "
      "scute pow kv load notes.pow --create notes.tsv\n  scute pow info notes.pow\n  scute pow "
      "check notes.pow --repair\n  scute pow compact notes.pow");
  add_pow_info(*pow, status);
  add_pow_check(*pow, status);
  add_pow_dump(*pow, status);
  add_pow_compact(*pow, status);
  add_pow_verify(*pow, status);
  CLI::App* kv = pow->add_subcommand("kv", "Keep keys and values in a persist-on-write file");
  kv->require_subcommand(1);
  kv->footer(
      "Keys and values are strings of any bytes, in a scute::pow::map<std::string, "
      "std::string>\nnamed \"kv\", which is in memory while a command runs.\n\nExamples:\n  scute "
      "pow kv put notes.pow --create milk \"2 litres\"\n  scute pow kv scan notes.pow --prefix "
      "user/");
  add_pow_kv_put(*kv, status);
  add_pow_kv_get(*kv, status);
  add_pow_kv_del(*kv, status);
  add_pow_kv_scan(*kv, status);
  add_pow_kv_load(*kv, status);
  add_pow_kv_count(*kv, status);
}

}  // namespace scute_tool
