// SPDX-License-Identifier: BSD-3-Clause
// An option that is not true of an existing pool refuses to open it, and changes nothing (ASKED-1).
#include <sys/stat.h>

#include <cstdlib>
#include <functional>

#include "support/pool_file.hpp"
#include "support/shielded.hpp"

namespace scute::test {
namespace {

struct choice {
  const char* name;
  const char *of_pool, *other;  // as text
};
// Every option of a new pool. None of these values is the default, or what the library chooses.
constexpr choice choices[] = {
    {"size", "12M", "13M"},
    {"protection", "mlpc", "mlp"},
    {"engine", "spec", "logfree"},
    {"checksum", "adler32", ""},
    {"rows", "7", "8"},
    {"parity", "2", "1"},
    {"lanes", "5", "6"},
    {"chunk_size", "32K", "64K"},
    {"log_cap", "2M", "1M"},
    {"layout", "ledger", "other"},
};

void set(scute_options& o, const char* name, const char* value) {
  SCUTE_OKAY(scute_options_set(&o, name, value));
}

void make_chosen(pool_file& f) {
  scute_options o = opening();
  for (const choice& c : choices) set(o, c.name, c.of_pool);
  f.create(o);
  f.close();
}

void expect_refused(pool_file& f, const scute_options& o, const char* name) {
  const bytes before = read_file(f.path);
  const int e = scute_open(f.path.c_str(), &o, &f.pool);
  EXPECT_EQ(e, std::string(name) == "layout" ? SCUTE_E_LAYOUT : SCUTE_E_INVALID);
  EXPECT_NE(std::string(scute_errormsg()).find(name), std::string::npos) << scute_errormsg();
  EXPECT_TRUE(read_file(f.path) == before);
}

TEST(as_asked, OfEachOptionTheTrueValueOpens) {
  pool_file f;
  make_chosen(f);
  scute_options all = opening();
  for (const choice& c : choices) {
    SCOPED_TRACE(c.name);
    set(all, c.name, c.of_pool);
    scute_options one = opening();
    set(one, c.name, c.of_pool);
    for (const scute_options* o : {&one, &all}) {
      SCUTE_OKAY(scute_open(f.path.c_str(), o, &f.pool));
      f.close();
    }
  }
}

TEST(as_asked, OfEachOptionAnotherValueIsRefused) {
  pool_file f;
  make_chosen(f);
  for (const choice& c : choices) {
    if (*c.other == 0) continue;  // another pool has it, below
    for (const uint32_t flags : {0U, uint32_t{SCUTE_READONLY}}) {
      SCOPED_TRACE(c.name);
      scute_options o = opening(flags);
      set(o, c.name, c.other);
      expect_refused(f, o, c.name);
    }
  }
  f.open();
}

// With the library's choices for all.
TEST(as_asked, APlainPoolRefusesWhatItLacks) {
  pool_file f;
  f.create(opening());
  f.close();
  for (const choice& c : choices) {
    SCOPED_TRACE(c.name);
    scute_options o = opening();
    if (std::string(c.name) == "protection") continue;  // it is the library's choice
    set(o, c.name, c.of_pool);
    expect_refused(f, o, c.name);
  }
  scute_options o = opening();
  set(o, "protection", "none");
  expect_refused(f, o, "protection");
  o = opening(SCUTE_OVERWRITE);
  expect_refused(f, o, "overwrite");
  // The defaults by name, and the pool's own protection.
  o = opening();
  for (const auto& [name, value] :
       {std::pair{"size", "64M"}, {"engine", "auto"}, {"checksum", "crc32c"}, {"rows", "0"}})
    set(o, name, value);
  for (const char* level : {"auto", "mlpc"}) {
    set(o, "protection", level);
    SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
    f.close();
  }
}

// The umask may have cleared bits of the mode, and a repair may have punched a hole.
TEST(as_asked, WhatMakesAFileIsNotAskedOfOne) {
  pool_file f;
  f.create(opening());
  f.close();
  scute_options o = opening();
  set(o, "mode", "0666");
  set(o, "preallocate", "1");
  SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
}

TEST(as_asked, AnUncleanPoolIsRefusedBeforeItsRecovery) {
  pool_file f;
  f.create(mib);
  const scute_oid oid = f.alloc(pattern(1, 300));
  f.in().abandon();
  f.close();
  scute_options o = opening();
  o.protection = SCUTE_PROTECT_ML;
  expect_refused(f, o, "protection");
  f.open();
  EXPECT_EQ(f.info().clean, 0);
  EXPECT_TRUE(f.read(oid) == pattern(1, 300));
}

// Options of the environment are for new pools; its layout is for all.
TEST(as_asked, TheEnvironmentIsForNewPools) {
  pool_file f;
  f.create(mib);
  f.close();
  for (const choice& c : choices) {
    if (std::string(c.name) == "layout") continue;
    std::string variable = std::string("SCUTE_") + c.name;
    for (char& x : variable) x = static_cast<char>(std::toupper(x));
    ASSERT_EQ(0, ::setenv(variable.c_str(), c.of_pool, 1));
    SCUTE_OKAY_E(scute_open(f.path.c_str(), nullptr, &f.pool)) << variable;
    f.close();
    ::unsetenv(variable.c_str());
  }
  ASSERT_EQ(0, ::setenv("SCUTE_LAYOUT", "other", 1));
  EXPECT_EQ(SCUTE_E_LAYOUT, scute_open(f.path.c_str(), nullptr, &f.pool));
  ::unsetenv("SCUTE_LAYOUT");
}

// The cap that is asked for is that of the coming engine.
TEST(as_asked, ASwitchMayAskForAnotherLog) {
  pool_file f;
  make_chosen(f);
  scute_options o = opening();
  o.log_cap = mib;
  SCUTE_OKAY(scute_set_engine(f.path.c_str(), &o, SCUTE_ENGINE_SPEC));
  SCUTE_OKAY(scute_open(f.path.c_str(), &o, &f.pool));
  f.close();
  o = opening();
  o.engine = SCUTE_ENGINE_REDO;
  SCUTE_FAILS(SCUTE_E_INVALID, scute_set_engine(f.path.c_str(), &o, SCUTE_ENGINE_LOGFREE));
}

TEST(as_asked, OfShieldedFilesToo) {
  shielded f;
  f.make(30001);
  scute_options o = shielded::options(SCUTE_ENGINE_LOGFREE);
  o.rows = 4;
  SCUTE_OKAY(scute_shield_add(f.path.c_str(), &o, 60000, 0));
  SCUTE_OKAY(scute_shield_open(f.path.c_str(), &o, &f.pool));
  f.close();
  for (const auto& [name, value] : {std::pair{"rows", "5"}, {"engine", "redo"}, {"parity", "2"}}) {
    SCOPED_TRACE(name);
    o = opening();
    set(o, name, value);
    SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_open(f.path.c_str(), &o, &f.pool));
    SCUTE_FAILS(SCUTE_E_INVALID, scute_shield_remove(f.path.c_str(), &o));
  }
  SCUTE_OKAY(scute_shield_remove(f.path.c_str(), nullptr));
}

}  // namespace
}  // namespace scute::test
