// SPDX-License-Identifier: BSD-3-Clause
// Misuse of what protects other files: calls without files, and with pools that protect none.
#include "hostile/misuse_list.hpp"
#include "scute/shield_room.h"
#include "scute/shield_run.h"

namespace scute::test {
namespace {

using stage = misuse_stage;

// Tries the arguments that every call with a file refuses.
template <typename Call>
void for_bad_files(stage& s, Call&& call) {
  scratch dir;
  const scute_options o = options();
  REFUSED(SCUTE_E_INVALID, call(nullptr, &o));
  REFUSED(SCUTE_E_NOENT, call("", &o));
  REFUSED(SCUTE_E_NOENT, call(dir.file("nothing").c_str(), nullptr));
  EXPECT_EQ(dir.count(), 0U);
}

void shield_add(stage& s) {
  for_bad_files(s,
                [](const char* f, const scute_options* o) { return scute_shield_add(f, o, 0, 0); });
  scratch dir;
  write_file(dir.file("some"), bytes(5000, 7));
  REFUSED(SCUTE_E_INVALID, scute_shield_add(dir.file("some").c_str(), nullptr, 0, 1U << 31));
  REFUSED(SCUTE_E_RANGE, scute_shield_add(dir.file("some").c_str(), nullptr, 1, 0));
  scute_options o = options();
  o.struct_size = 0;
  REFUSED(SCUTE_E_INVALID, scute_shield_add(dir.file("some").c_str(), &o, 0, 0));
  write_file(dir.file("empty"), bytes());
  REFUSED(SCUTE_E_RANGE, scute_shield_add(dir.file("empty").c_str(), nullptr, 0, 0));
  EXPECT_EQ(dir.count(), 2U);
}

void shield_adopt(stage& s) {
  for_bad_files(
      s, [](const char* f, const scute_options* o) { return scute_shield_adopt(f, o, 0, 0); });
}

void shield_remove(stage& s) {
  for_bad_files(s, [](const char* f, const scute_options* o) { return scute_shield_remove(f, o); });
}

void shield_open(stage& s) {
  for_bad_files(
      s, [&](const char* f, const scute_options* o) { return scute_shield_open(f, o, &s.handle); });
  REFUSED(SCUTE_E_INVALID, scute_shield_open("nothing", nullptr, nullptr));
}

void shield_info(stage& s) {
  scute_shield_state state{};
  REFUSED(SCUTE_E_INVALID, scute_shield_info(s.pool, nullptr));
  REFUSED(SCUTE_E_INVALID, scute_shield_info(s.pool, &state));
  state.struct_size = sizeof state;
  REFUSED(SCUTE_E_INVALID, scute_shield_info(nullptr, &state));
  SCUTE_OKAY(scute_shield_info(s.pool, &state));
  EXPECT_EQ(state.size, 0U) << "it protects no file";
}

void shield_look(stage& s) {
  scute_shield_condition c{};
  scute_shield_state state{};
  for_bad_files(
      s, [&](const char* f, const scute_options*) { return scute_shield_look(f, &c, nullptr); });
  REFUSED(SCUTE_E_INVALID, scute_shield_look("nothing", nullptr, nullptr));
  REFUSED(SCUTE_E_INVALID, scute_shield_look("nothing", &c, &state));
}

void shield_locate(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_shield_locate(nullptr, 0, nullptr, nullptr, nullptr));
  REFUSED(SCUTE_E_INVALID, scute_shield_locate(s.pool, 0, nullptr, nullptr, nullptr));
}

void shield_read(stage& s) {
  char byte = 7;
  REFUSED(SCUTE_E_INVALID, scute_shield_read(nullptr, 0, &byte, 1));
  REFUSED(SCUTE_E_INVALID, scute_shield_read(s.pool, 0, &byte, 1));
  REFUSED(SCUTE_E_INVALID, scute_shield_read(s.pool, 0, nullptr, 1));
  EXPECT_EQ(byte, 7);
}

void shield_write(stage& s) {
  const scute_shield_change change{0, "x", 1};
  REFUSED(SCUTE_E_INVALID, scute_shield_write(nullptr, &change, 1));
  REFUSED(SCUTE_E_INVALID, scute_shield_write(s.pool, &change, 1));
  REFUSED(SCUTE_E_INVALID, scute_shield_write(s.pool, nullptr, 1));
}

void shield_replace(stage& s) {
  const scute_shield_replacement change{0, "x", "y", 1};
  REFUSED(SCUTE_E_INVALID, scute_shield_replace(nullptr, &change, 1));
  REFUSED(SCUTE_E_INVALID, scute_shield_replace(s.pool, &change, 1));
  REFUSED(SCUTE_E_INVALID, scute_shield_replace(s.pool, nullptr, 1));
}

void shield_grow(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_shield_grow(nullptr, mib));
  REFUSED(SCUTE_E_INVALID, scute_shield_grow(s.pool, mib));
}

void shield_reserve(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_shield_reserve(nullptr, mib));
  REFUSED(SCUTE_E_INVALID, scute_shield_reserve(s.pool, mib));
}

void shield_run_options_init(stage&) {
  scute_shield_run_options_init(nullptr);
}

void shield_run(stage& s) {
  const char* const nothing[] = {nullptr};
  const char* const missing[] = {"/nowhere/program", nullptr};
  scute_shield_run_options o;
  scute_shield_run_options_init(&o);
  REFUSED(SCUTE_E_INVALID, scute_shield_run(nullptr, &o, nullptr));
  REFUSED(SCUTE_E_INVALID, scute_shield_run(nothing, &o, nullptr));
  scute_shield_outcome unset{};
  REFUSED(SCUTE_E_INVALID, scute_shield_run(missing, &o, &unset));
  o.flags = SCUTE_SHIELD_STOP_STRAYS | SCUTE_SHIELD_IGNORE_STRAYS;
  REFUSED(SCUTE_E_INVALID, scute_shield_run(missing, &o, nullptr));
  o.flags = SCUTE_SHIELD_HUGE_PAGES | SCUTE_SHIELD_PAGE_IN;
  REFUSED(SCUTE_E_INVALID, scute_shield_run(missing, &o, nullptr));
  o.flags = SCUTE_SHIELD_HUGE_PAGES;
  o.view_folder = "/tmp";
  REFUSED(SCUTE_E_INVALID, scute_shield_run(missing, &o, nullptr));
  o.view_folder = nullptr;
  o.flags = 1U << 31;
  REFUSED(SCUTE_E_INVALID, scute_shield_run(missing, &o, nullptr));
  o.struct_size = 0;
  REFUSED(SCUTE_E_INVALID, scute_shield_run(missing, &o, nullptr));
}

}  // namespace

#define MISUSE(name) {"scute_" #name, name}
void list_misuse_of_shield(misuse_list& to) {
  to.insert({MISUSE(shield_add), MISUSE(shield_adopt), MISUSE(shield_remove), MISUSE(shield_open),
             MISUSE(shield_info), MISUSE(shield_look), MISUSE(shield_locate), MISUSE(shield_read),
             MISUSE(shield_write), MISUSE(shield_replace), MISUSE(shield_grow),
             MISUSE(shield_reserve), MISUSE(shield_run_options_init), MISUSE(shield_run)});
}

}  // namespace scute::test
